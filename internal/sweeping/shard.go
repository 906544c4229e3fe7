// Package sweeping runs one shard of a sweep. It takes items from a source, observes the
// rate, runs handlers in parallel, and produces checkpoints from which another process can
// resume. It is independent of the database: the caller stores the checkpoints and records.
//
// Goroutines take turns fetching the next items, a few at a time if handlers are fast, and
// then handle them independently. Finished items are marked in the window under one lock
// per group, so that a million items per second need only the corresponding calls of the
// handler.
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

// Shard specifies the shard to run and its settings.
type Shard struct {
	Source   source.Source // used only by this run
	From, To int64         // range [From, To) of the source's indexes

	// Handle tries one item. HandleBatch instead tries up to Batch items with one call and
	// sets the outcome of each; the default is Done. A panic counts as a failed try. The
	// context ends when the lease is lost or Run's context ends.
	Handle      func(ctx context.Context, item Item) Outcome
	HandleBatch func(ctx context.Context, items []Item, outcomes []Outcome)
	Batch       int

	// Loop, if set, may replace Handle or HandleBatch for items tried one by one, as long
	// as there is no rate.
	Loop NewLoop

	// Save stores a checkpoint and returns orders. A fairlead.ErrLeaseLost ends the run
	// immediately; after other errors, the next checkpoint is saved instead, as long as the
	// lease lasts.
	Save func(ctx context.Context, checkpoint Checkpoint) (Orders, error)
	// Every is the interval between checkpoints; default 1s.
	Every time.Duration

	// Again returns the indexes of items that failed in an earlier run and are to be
	// retried before all others: at most most of them, starting at from, in order. It is
	// called only if Resume contains such items, and again after an error.
	Again func(ctx context.Context, from int64, most int) ([]int64, error)

	// Record stores records, many at a time, before their items count as done. It is called
	// again after an error.
	Record func(ctx context.Context, records []Record) error

	// Lease returns the time until which the node may run the shard, by its own clock. It
	// is called before each item; after the lease has expired, no item starts. Nil means
	// forever.
	Lease func() time.Time

	// Fresh returns the time until which the last orders are valid, by the node's clock. It
	// is called before each item, like Lease: a run that cannot receive a stop order starts
	// no items. Nil means forever.
	Fresh func() time.Time

	InFlight int     // maximum number of concurrent handler calls; default 1
	Rate     float64 // tries per second; default pace.Unlimited
	Owed     float64 // tries owed from before under that rate, see pace.Resume
	Window   int     // default twice InFlight, at least 1024
	Serial   bool    // one item at a time, each settled before the next starts

	Attempts int                              // tries of an item; default 5
	Backoff  func(failures int) time.Duration // pause between tries; default 3s

	// Budget is the number of items that may exhaust their attempts. One more stops the
	// run, and that item remains unfinished. Negative means unlimited. With
	// StopOnExhausted, the first such item stops the run, whatever the budget.
	Budget          int64
	StopOnExhausted bool

	// Adaptive lowers the rate when many tries fail or take long. Nil disables it.
	Adaptive *pace.GovernorOptions

	Resume *Checkpoint // the last stored checkpoint, or nil to start
}

// Default values.
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
