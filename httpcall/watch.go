package httpcall

import (
	"context"
	"sync"
	"time"
)

// watch ends calls that take too long, and all of them when their context ends. A call
// that ends in time has cost it no timer: those under way have the same time each, so
// the first to have begun is the first whose time is over.
type watch struct {
	ctx    context.Context
	long   time.Duration
	traced bool // calls belong to a trace

	mu          sync.Mutex
	first, last *connection // under way, the oldest first
	clock       *time.Timer
	over        bool // the context has ended
}

// newWatch makes a watch, which goes with its context.
func newWatch(ctx context.Context, long time.Duration) *watch {
	w := &watch{ctx: ctx, long: long}
	context.AfterFunc(ctx, w.end)
	return w
}

// enter watches a call that begins. It returns false if none may.
func (w *watch) enter(l *connection, now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return false
	}
	l.until, l.overdue, l.before, l.after, l.watched = now.Add(w.long), false, w.last, nil, true
	if w.last == nil {
		w.first = l
	} else {
		w.last.after = l
	}
	w.last = l
	if w.clock == nil {
		w.clock = time.AfterFunc(w.long, w.look)
	}
	return true
}

// leave is the end of a call. It returns false if the watch has ended it.
func (w *watch) leave(l *connection) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.remove(l)
}

func (w *watch) remove(l *connection) bool {
	if !l.watched {
		return false
	}
	if l.before == nil {
		w.first = l.after
	} else {
		l.before.after = l.after
	}
	if l.after == nil {
		w.last = l.before
	} else {
		l.after.before = l.before
	}
	l.before, l.after, l.watched = nil, nil, false
	return true
}

// look ends the calls whose time is over.
func (w *watch) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	for w.first != nil && !now.Before(w.first.until) {
		l := w.first
		w.remove(l)
		l.overdue = true
		_ = l.conn.SetDeadline(past)
	}
	w.clock = nil
	if w.first != nil {
		w.clock = time.AfterFunc(w.first.until.Sub(now), w.look)
	}
}

// end ends all calls.
func (w *watch) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	for w.first != nil {
		l := w.first
		w.remove(l)
		_ = l.conn.SetDeadline(past)
	}
	if w.clock != nil {
		w.clock.Stop()
	}
}

// late reports whether a call was ended because its time was over.
func (w *watch) late(l *connection) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return l.overdue
}
