// Package outage makes two lines of a log of a database that is away: one when it goes
// and one when it is back. What others log meanwhile because of it is withheld, and
// counted.
package outage

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead"
)

// patience bounds how long a line is held back to find out whether the database is away.
const patience = 5 * time.Second

// Watch knows whether the database is away. A node says so with each beat: that is the
// call which every node makes all the time, on connections of its own.
type Watch struct {
	log *slog.Logger // says everything

	mu       sync.Mutex
	what     string        // is away
	since    time.Time     // zero: it is not
	withheld int           // lines since then
	news     chan struct{} // closed when the next beat has succeeded or failed
	probe    func()        // makes the node beat now; nil: it does not beat
}

// Logger returns a log whose lines about an outage are withheld while it lasts, and the
// Watch that decides it. A log that has a Watch keeps it: all parts of a process that
// log through it share one.
func Logger(log *slog.Logger) (*slog.Logger, *Watch) {
	if h, has := log.Handler().(handler); has {
		return log, h.watch
	}
	w := &Watch{log: log, what: "database", news: make(chan struct{})}
	return slog.New(handler{log.Handler(), w}), w
}

// Of names what goes away, where it is not the database.
func (w *Watch) Of(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.what = what
}

// Ask sets what makes the node beat at once; nil: it does not beat any more.
func (w *Watch) Ask(probe func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.probe = probe
}

// Failed is called when a beat could not be made. The first one is logged.
func (w *Watch) Failed(err error, args ...any) {
	w.mu.Lock()
	w.tell()
	first, what := w.since.IsZero(), w.what
	if first {
		w.since, w.withheld = time.Now(), 0
	}
	w.mu.Unlock()
	if first {
		w.log.Warn(what+" unavailable: logged once now, and once when it is back", append(args, "error", err)...)
	}
}

// Worked is called when a beat was made. The first one after an outage is logged.
func (w *Watch) Worked(args ...any) {
	w.mu.Lock()
	w.tell()
	since, withheld, what := w.since, w.withheld, w.what
	w.since = time.Time{}
	w.mu.Unlock()
	if !since.IsZero() {
		w.log.Warn(what+" available again", append(args, "after", time.Since(since).Round(time.Millisecond), "lines_withheld", withheld)...)
	}
}

// Since returns since when the database has been away; zero if it is not.
func (w *Watch) Since() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.since
}

// tell wakes those that wait to know. w.mu is held.
func (w *Watch) tell() {
	close(w.news)
	w.news = make(chan struct{})
}

// Passes reports whether an error may be that of a database that is away.
func Passes(err error) bool {
	return errors.Is(err, fairlead.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded)
}

// covers reports whether an error needs no line, because the database is away. One call
// may fail while others succeed, as after a deadlock: the next beat tells the two apart.
func (w *Watch) covers(err error) bool {
	if !Passes(err) {
		return false
	}
	w.mu.Lock()
	away, probe, news := !w.since.IsZero(), w.probe, w.news
	w.mu.Unlock()
	if !away && probe != nil {
		probe()
		timer := time.NewTimer(patience)
		defer timer.Stop()
		select {
		case <-news:
		case <-timer.C:
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.since.IsZero() {
		return false
	}
	w.withheld++
	return true
}
