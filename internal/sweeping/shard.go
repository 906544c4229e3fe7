// Package sweeping runs one shard of a sweep: it takes items from a source,
// keeps to the rate, has handlers try them in parallel, and hands out
// checkpoints from which another process can go on. It knows no database: the
// caller keeps what has to be kept.
//
// Goroutines take turns at fetching the next items, a few at a time when
// handlers are fast, and then handle them on their own. What is done is set in
// the window under one lock per piece, so that a million items per second need
// no more than that many calls of the handler.
package sweeping

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead/internal/pace"
	"github.com/fairlead-io/fairlead/internal/source"
	"github.com/fairlead-io/fairlead/internal/window"
)

// Shard is what to run and how.
type Shard struct {
	Source   source.Source // used by this run alone
	From, To int64         // the indexes [From, To) of it

	// Handle tries one item. HandleBatch instead tries up to Batch items with one
	// call, and sets the outcome of each, which is Done otherwise. A panic is a
	// failed try. The context ends when the lease is lost or Run's own ends.
	Handle      func(ctx context.Context, item Item) Outcome
	HandleBatch func(ctx context.Context, items []Item, outcomes []Outcome)
	Batch       int

	// Loop, if there is one, may do the work of Handle or HandleBatch: for items that
	// are tried one by one, and as long as there is no rate.
	Loop NewLoop

	// Save keeps a checkpoint and returns orders. An error that is
	// fairlead.ErrLeaseLost ends the run at once; others are tried again with the
	// next checkpoint, as long as the lease lasts.
	Save func(ctx context.Context, checkpoint Checkpoint) (Orders, error)
	// Every is the time between checkpoints; default 1s.
	Every time.Duration

	// Again reads the indexes of items that failed before and are to be
	// tried again, before any others: those from one on, at most so many, in order.
	// It is asked only if there are some by Resume, and again after an error.
	Again func(ctx context.Context, from int64, most int) ([]int64, error)

	// Record keeps records, many at a time, before their items count as done. It
	// is called again after an error.
	Record func(ctx context.Context, records []Record) error

	// Lease is until when the node may run the shard, by its own clock. It is
	// asked before each item; while it is over nothing is started. Nil means
	// forever.
	Lease func() time.Time

	// Fresh is until when the last orders count, by the node's clock. It is asked
	// before each item as Lease is: a run that cannot hear of a stop starts nothing.
	// Nil means forever.
	Fresh func() time.Time

	InFlight int     // calls of the handler at the same time; default 1
	Rate     float64 // tries per second; pace.Unlimited by default
	Owed     float64 // tries of that rate that are owed from before, as pace.Resume takes it
	Window   int     // default twice InFlight, at least 1024
	Serial   bool    // one item at a time, each settled before the next begins

	Attempts int                              // tries of an item; default 5
	Backoff  func(failures int) time.Duration // between tries; default always 3s

	// Budget is how many items may use up their attempts: one more stops the
	// run and stays to do. Negative means any number. StopOnExhausted stops with
	// the first whatever the budget.
	Budget          int64
	StopOnExhausted bool

	// Adaptive lowers the rate when many tries fail or take long. Nil means
	// never.
	Adaptive *pace.GovernorOptions

	Resume *Checkpoint // what was kept last; nil to begin
}

// Defaults.
const (
	DefaultAttempts = 5
	DefaultBackoff  = 3 * time.Second
	DefaultEvery    = time.Second
	leastWindow     = 1024
)

func (s Shard) withDefaults() (Shard, error) {
	if s.Serial {
		s.InFlight, s.Batch = 1, 1
	}
	if s.Handle != nil {
		s.Batch = 1
	}
	s.InFlight = orElse(s.InFlight, 1)
	s.Attempts = orElse(s.Attempts, DefaultAttempts)
	s.Batch = orElse(s.Batch, 1)
	s.Every = orElse(s.Every, DefaultEvery)
	if s.Window == 0 {
		s.Window = min(max(2*s.InFlight, leastWindow), window.MaxSize)
	}
	if s.Backoff == nil {
		s.Backoff = func(int) time.Duration { return DefaultBackoff }
	}
	switch {
	case s.Source == nil || s.Save == nil || s.Record == nil:
		return s, errors.New("sweeping: a shard needs Source, Save and Record")
	case s.Resume != nil && s.Resume.Again > 0 && s.Again == nil:
		return s, errors.New("sweeping: a shard with items to retry needs Again")
	case (s.Handle == nil) == (s.HandleBatch == nil):
		return s, errors.New("sweeping: a shard needs either Handle or HandleBatch")
	case s.From > s.To || s.From < -window.MaxIndex || s.To > window.MaxIndex:
		return s, fmt.Errorf("sweeping: from (%d) must not be greater than to (%d), and to must not exceed %d", s.From, s.To, int64(window.MaxIndex))
	case s.InFlight < 0 || s.Attempts < 0 || s.Batch < 0:
		return s, errors.New("sweeping: in_flight, attempts and batch must be positive")
	case s.Window < 1 || s.Window > window.MaxSize:
		return s, fmt.Errorf("sweeping: window is %d; it must be between 1 and %d", s.Window, window.MaxSize)
	case s.Rate < 0 && s.Rate != pace.Held || s.Rate != s.Rate:
		return s, fmt.Errorf("sweeping: rate is %v; it must be a number per second, or 0 for no limit", s.Rate)
	}
	return s, nil
}

func orElse[T int | time.Duration](value, otherwise T) T {
	if value == 0 {
		return otherwise
	}
	return value
}
