package engine

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead"
)

const (
	// failureLines is how many failures of a kind are logged one by one within
	// failureWindow. The others are counted: a target that is away must not fill the
	// disk with lines that say the same.
	failureLines  = 10
	failureWindow = 10 * time.Second
)

// failures decides which failed attempts are logged, and logs how many others there were.
type failures struct {
	log *slog.Logger

	mu    sync.Mutex
	kinds map[failureKind]*failureCount
}

// failureKind is what is counted together. Jobs that have failed for good are, so that
// many attempts that are repeated do not hide them.
type failureKind struct {
	kind  string
	final bool
}

type failureCount struct {
	since time.Time // beginning of the window
	lines int
	more  int    // failures without a line
	last  string // error of the last of these
}

func newFailures(log *slog.Logger) *failures {
	return &failures{log: log, kinds: map[failureKind]*failureCount{}}
}

// admit reports whether a failure is logged by a line of its own.
func (f *failures) admit(of failureKind, text string, now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	count := f.kinds[of]
	if count == nil {
		count = &failureCount{since: now}
		f.kinds[of] = count
	}
	if count.lines < failureLines {
		count.lines++
		return true
	}
	count.more++
	count.last = text
	return false
}

// run logs what was only counted, when its window is over and when ctx ends.
func (f *failures) run(ctx context.Context) {
	ticker := time.NewTicker(failureWindow / 4)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			f.sum(time.Now().Add(failureWindow))
			return
		case <-ticker.C:
			f.sum(time.Now())
		}
	}
}

// sum ends the windows that are over.
func (f *failures) sum(now time.Time) {
	for of, count := range f.over(now) {
		attrs := []any{"kind", of.kind, "more", count.more, "within", failureWindow, "last_error", count.last}
		if of.final {
			f.log.Error("more jobs failed", attrs...)
		} else {
			f.log.Warn("more attempts failed", attrs...)
		}
	}
}

// over removes the windows that are over, and returns those in which failures were only
// counted.
func (f *failures) over(now time.Time) map[failureKind]*failureCount {
	f.mu.Lock()
	defer f.mu.Unlock()
	counted := map[failureKind]*failureCount{}
	for of, count := range f.kinds {
		if now.Sub(count.since) < failureWindow {
			continue
		}
		delete(f.kinds, of)
		if count.more > 0 {
			counted[of] = count
		}
	}
	return counted
}

// logFailure logs an attempt that failed: the job runs again or has failed for good.
func (l *life) logFailure(e ending) {
	s, now := &e.settlement, time.Now()
	final := s.Move == fairlead.Fail
	if !l.failures.admit(failureKind{e.run.job.Kind, final}, s.Error, now) {
		return
	}
	said := s.Error
	if s.Reason == fairlead.ReasonPanic {
		said, _, _ = strings.Cut(said, "\n") // the stack is kept with the attempt
	}
	log := l.logOf(e.run.job).With("reason", string(s.Reason), "error", said, "took", e.took.Round(time.Millisecond))
	if final {
		log.Error("job failed")
		return
	}
	next := s.At
	if next.IsZero() {
		next = now.Add(s.After)
	}
	log.Warn("attempt failed", "next_try", next.UTC())
}
