// Package outage reduces the log of a database outage to two lines: one when the database
// becomes unavailable and one when it is available again. Other lines caused by the outage
// are withheld and counted.
package outage

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead"
)

// patience limits how long a line is held back to find out whether the database is
// unavailable.
const patience = 5 * time.Second

// Watch tracks whether the database is available. A node reports to it after each beat, a call
// that every node regularly makes over its own connections.
type Watch struct {
	log *slog.Logger // unfiltered log

	mu       sync.Mutex
	what     string        // name of the watched service
	since    time.Time     // zero if it is available
	withheld int           // lines since then
	news     chan struct{} // closed when the next beat has succeeded or failed
	probe    func()        // makes the node beat immediately; nil if it does not beat
}

// Logger returns a logger that withholds lines caused by an ongoing outage, and the Watch that
// detects the outage. If log already has a Watch, Logger returns log and that Watch. All parts
// of a process that share a logger therefore share one Watch.
func Logger(log *slog.Logger) (*slog.Logger, *Watch) {
	if h, has := log.Handler().(handler); has {
		return log, h.watch
	}
	w := &Watch{log: log, what: "database", news: make(chan struct{})}
	return slog.New(handler{log.Handler(), w}), w
}

// Of sets the name of the watched service. The default is "database".
func (w *Watch) Of(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.what = what
}

// Ask sets the function that makes the node beat immediately. A nil probe means that the node
// has stopped beating.
func (w *Watch) Ask(probe func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.probe = probe
}

// Failed reports a failed beat. It logs the first failure of an outage.
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

// Worked reports a successful beat. It logs the first success after an outage.
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

// Since returns the start of the outage, or the zero time if the database is available.
func (w *Watch) Since() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.since
}

// tell wakes waiting callers. The caller must hold w.mu.
func (w *Watch) tell() {
	close(w.news)
	w.news = make(chan struct{})
}

// Passes reports whether err may be caused by a database outage and is therefore transient.
func Passes(err error) bool {
	return errors.Is(err, fairlead.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded)
}

// covers reports whether an error needs no log line because the database is unavailable.
// One call may fail while others succeed, for example after a deadlock: the next beat
// distinguishes the two cases.
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
