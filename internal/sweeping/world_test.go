package sweeping_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/source"
	"github.com/fairlead-io/fairlead/internal/sweeping"
	"github.com/fairlead-io/fairlead/internal/window"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world simulates the environment of a run: what was stored and what really happened. It
// records violations.
type world struct {
	mu     sync.Mutex
	source source.Source
	to     int64

	kept     *sweeping.Checkpoint // the last checkpoint
	keptAt   time.Time
	saves    int
	recorded map[int64]sweeping.Failure
	again    map[int64]bool // recorded items to be retried
	logged   map[int64][]sweeping.Log

	tries     map[int64]int       // handler calls since the start or the last crash
	ended     map[int64]time.Time // last done or recorded
	forgotten map[int64]bool      // ended after the last checkpoint before a crash
	settled   map[int64]int       // number of times the item was done or abandoned
	running   int
	peak      int

	crashed bool
	orders  sweeping.Orders
	outcome func(item sweeping.Item) sweeping.Outcome
	takes   func(item sweeping.Item) time.Duration
	wrong   []string
}

func newWorld(to int64) *world {
	return &world{
		source: source.Indexes{To: to}, to: to,
		recorded: map[int64]sweeping.Failure{}, again: map[int64]bool{}, logged: map[int64][]sweeping.Log{}, tries: map[int64]int{}, ended: map[int64]time.Time{}, settled: map[int64]int{}, forgotten: map[int64]bool{},
		outcome: func(sweeping.Item) sweeping.Outcome { return sweeping.Outcome{} },
		takes:   func(sweeping.Item) time.Duration { return 0 },
	}
}

func (w *world) complain(format string, args ...any) {
	w.wrong = append(w.wrong, fmt.Sprintf(format, args...))
}

func (w *world) report(t interface {
	Helper()
	Fatalf(string, ...any)
},
) {
	t.Helper()
	if len(w.wrong) > 0 {
		t.Fatalf("%d things are wrong; the first: %s", len(w.wrong), w.wrong[0])
	}
}

// shard returns a shard of this world that resumes from the last checkpoint.
func (w *world) shard() sweeping.Shard {
	shard := sweeping.Shard{
		Source: w.source, To: w.to, Handle: w.handle, Save: w.save, Record: w.record, Again: w.readAgain,
		InFlight: 4, Budget: -1, Resume: w.kept,
	}
	return shard
}

func (w *world) handle(ctx context.Context, item sweeping.Item) sweeping.Outcome {
	outcome := w.try(ctx, item)
	w.end(item, outcome)
	return outcome
}

// end records the result of a handler call when it returns.
func (w *world) end(item sweeping.Item, outcome sweeping.Outcome) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if outcome.Verdict == sweeping.Done || outcome.Verdict == sweeping.Finish {
		w.ended[item.Index] = time.Now()
		w.settled[item.Index]++
	}
}

func (w *world) try(ctx context.Context, item sweeping.Item) sweeping.Outcome {
	w.mu.Lock()
	w.running++
	w.peak = max(w.peak, w.running)
	w.tries[item.Index]++
	if !w.ended[item.Index].IsZero() && !w.forgotten[item.Index] {
		w.complain("item %d is run again though it ended before the last checkpoint", item.Index)
	}
	d := w.takes(item)
	w.mu.Unlock()
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			w.mu.Lock()
			defer w.mu.Unlock()
			w.running--
			return sweeping.Failed(ctx.Err())
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running--
	return w.outcome(item)
}

func (w *world) handleBatch(ctx context.Context, items []sweeping.Item, outcomes []sweeping.Outcome) {
	for i, item := range items {
		outcomes[i] = w.try(ctx, item)
	}
	for i, item := range items {
		w.end(item, outcomes[i])
	}
}

var errFlaky = errors.New("the database is away for a moment")

func (w *world) save(_ context.Context, c sweeping.Checkpoint) (sweeping.Orders, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.crashed {
		return sweeping.Orders{}, fairlead.ErrLeaseLost
	}
	if w.kept != nil && c.Mark < w.kept.Mark {
		w.complain("the mark moved back from %d to %d", w.kept.Mark, c.Mark)
	}
	if size := len(c.Window) + len(sweeping.AppendAside(nil, c.Aside)) + 100; size > 4096 || len(c.Aside) > sweeping.MaxAside {
		w.complain("a checkpoint has %d bytes and %d items aside", size, len(c.Aside))
	}
	w.note(c)
	w.check(c)
	w.saves++
	text, err := json.Marshal(c) // checkpoints are restored from their stored form
	if err != nil {
		return sweeping.Orders{}, err
	}
	w.kept, w.keptAt = &sweeping.Checkpoint{}, time.Now()
	return w.orders, json.Unmarshal(text, w.kept)
}

// note stores the item results of a checkpoint, which must match its counts.
func (w *world) note(c sweeping.Checkpoint) {
	for _, f := range c.Failed {
		w.recorded[f.Index] = f
		w.ended[f.Index] = time.Now()
		w.settled[f.Index]++
		delete(w.again, f.Index)
	}
	for _, index := range c.Redone {
		delete(w.recorded, index)
		delete(w.again, index)
	}
	if int(c.Counts.Abandoned) != len(w.recorded) || int(c.Again) != len(w.again) {
		w.complain("%d items are abandoned and %d recorded; %d are to be tried again and %d flagged", c.Counts.Abandoned, len(w.recorded), c.Again, len(w.again))
	}
}

// readAgain returns the items to be retried.
func (w *world) readAgain(_ context.Context, from int64, most int) ([]int64, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var page []int64
	for index := range w.again {
		if index >= from {
			page = append(page, index)
		}
	}
	slices.Sort(page)
	return page[:min(most, len(page))], nil
}

// retry makes the next run retry failed items.
func (w *world) retry(indexes ...int64) {
	for _, index := range indexes {
		w.again[index] = true
		delete(w.ended, index)
		delete(w.forgotten, index)
		w.settled[index], w.tries[index] = 0, 0
	}
	w.kept.Again = int64(len(w.again))
}

// check compares a checkpoint with what happened: every item that it counts as settled must
// have ended.
func (w *world) check(c sweeping.Checkpoint) {
	done := window.New(window.MaxSize, 0)
	if err := done.Restore(c.Mark, c.Window); err != nil {
		w.complain("the window cannot be restored: %v", err)
		return
	}
	aside := map[int64]bool{}
	for _, a := range c.Aside {
		aside[a.Index] = true
	}
	if _, sparse := w.source.(source.Sparse); sparse || done.High() > 20_000 {
		return // comparing would take too long
	}
	settled := int64(0)
	for i := range done.High() {
		if !done.IsDone(i) || aside[i] {
			continue
		}
		settled++
		if w.ended[i].IsZero() && !w.again[i] {
			w.complain("item %d is settled by the checkpoint, and has not ended", i)
		}
	}
	if sum := c.Counts.Done + c.Counts.Abandoned; sum != settled {
		w.complain("the checkpoint counts %d items, its window %d", sum, settled)
	}
}

func (w *world) record(_ context.Context, records []sweeping.Record) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.crashed {
		return fairlead.ErrLeaseLost
	}
	for _, r := range records {
		w.logged[r.Index] = r.Logs
	}
	return nil
}

// crash forgets what ended after the last checkpoint or at the same time.
func (w *world) crash() {
	for i, at := range w.ended {
		if !at.Before(w.keptAt) {
			w.forgotten[i] = true
		}
	}
	w.crashed = false
}

// run runs a shard to its end.
func (w *world) run(ctx context.Context, shard sweeping.Shard) sweeping.Ending {
	runner, err := sweeping.New(shard)
	if err != nil {
		w.complain("new: %v", err)
		return sweeping.Ending{}
	}
	ending, err := runner.Run(ctx)
	if err != nil {
		w.complain("run: %v", err)
	}
	if w.running != 0 {
		w.complain("%d handlers are running after the end", w.running)
	}
	return ending
}

// mustBeComplete checks the end of a finished sweep.
func (w *world) mustBeComplete(ending sweeping.Ending) {
	if ending.End != sweeping.Finished {
		w.complain("it ended as %v", ending)
	}
	c := w.kept
	if c == nil || c.Mark != w.to || len(c.Window) > 0 || len(c.Aside) > 0 || c.Ending != ending {
		w.complain("the last checkpoint is %+v", c)
		return
	}
	if sum := c.Counts.Done + c.Counts.Abandoned + c.Counts.Absent; sum != w.to {
		w.complain("%+v are %d of %d", c.Counts, sum, w.to)
	}
}

// dice returns a random source for a try that depends only on the seed.
func dice(seed uint64, item sweeping.Item) *rand.Rand {
	return rand.New(rand.NewPCG(seed, uint64(item.Index)<<8|uint64(item.Attempt)))
}
