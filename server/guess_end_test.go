package server

import (
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/batch"
)

var guessedAt = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

func TestTheEndOfABatchIsGuessedWhileThatSaysSomething(t *testing.T) {
	running := batch.Batch{Status: batch.Status{
		Total: 100, Tally: batch.Tally{Pending: 40, Running: 10, Success: 50}, StartedAt: guessedAt.Add(-10 * time.Second), Passes: []batch.Pass{{}},
	}}
	for name, c := range map[string]struct {
		change     func(*batch.Batch)
		throughput float64
		want       time.Duration // zero: nothing is said
	}{
		"half done":      {func(*batch.Batch) {}, 5, 10 * time.Second},
		"paused":         {func(b *batch.Batch) { b.Paused = true }, 5, 0},
		"not begun":      {func(b *batch.Batch) { b.StartedAt = time.Time{} }, 0, 0},
		"begun just now": {func(b *batch.Batch) { b.StartedAt = guessedAt }, 0, 0},
		"none has ended": {func(b *batch.Batch) { b.Tally = batch.Tally{Running: 100} }, 0, 0},
		"opened again":   {func(b *batch.Batch) { b.Completions = 2 }, 0, 0},
		"retried":        {func(b *batch.Batch) { b.Passes = append(b.Passes, batch.Pass{}) }, 0, 0},
		"ended earlier": {func(b *batch.Batch) {
			b.Tally, b.EndedAt, b.Completions = batch.Tally{Success: 100}, guessedAt.Add(-5*time.Second), 1
		}, 20, 0},
	} {
		b := running
		c.change(&b)
		out := batchTo(&b, guessedAt)
		if out.GetThroughput() != c.throughput {
			t.Errorf("%s: its throughput is %v, want %v", name, out.GetThroughput(), c.throughput)
		}
		if eta := out.GetEta(); c.want == 0 && eta != nil || c.want != 0 && !eta.AsTime().Equal(guessedAt.Add(c.want)) {
			t.Errorf("%s: its end is guessed for %v, want %v", name, eta.AsTime(), c.want)
		}
	}
}

func TestABatchWhoseTasksAreStillComingHasNoProgress(t *testing.T) {
	if progress := batchTo(&batch.Batch{}, guessedAt).GetProgress(); progress != 0 {
		t.Errorf("its progress is %v", progress)
	}
}
