package sweep_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/sweep"
)

// fail stores that items of a run failed, after which it has come to mark.
func (s *scrubbing) fail(run shardRun, mark int64, ended bool, indexes ...int64) {
	s.Helper()
	shard := s.shards(run.Sweep)[run.Shard]
	failed := make([]sweep.FailedItem, len(indexes))
	for i, index := range indexes {
		failed[i] = sweep.FailedItem{Index: index, Attempts: 5, Error: "no"}
	}
	n := int64(len(indexes))
	_, err := s.store.Checkpoint(s.Context(), sweep.Checkpoint{
		Sweep: run.Sweep, Number: run.Shard, Job: run.ID, Fence: run.Fence, Mark: mark, Done: mark - shard.From - n, Abandoned: n, Failed: failed, Ended: ended,
	})
	s.ok(err)
}

// finishWith brings a sweep of shards to its end, in which items failed.
func (s *scrubbing) finishWith(shards int, byShard map[int][]int64, changes ...func(*sweep.Sweep)) (sweep.Sweep, []shardRun) {
	s.Helper()
	sw := s.put(append(changes, inShards(shards))...)
	if s.start(sw).State == sweep.Waiting {
		_, err := s.client.Open(s.Context(), sw.ID, "business")
		s.ok(err)
	}
	runs := s.claim(shards)
	for _, run := range runs {
		s.fail(run, s.shards(sw.ID)[run.Shard].To, true, byShard[run.Shard]...)
	}
	sw = s.look(sw)
	s.wantState(sw, sweep.Finished)
	return sw, runs
}

// retry lets items be tried again.
func (s *scrubbing) retry(sweep sweep.Sweep, indexes ...int64) sweep.Sweep {
	s.Helper()
	after, err := s.client.Retry(s.Context(), sweep.ID, "ann", indexes...)
	s.ok(err)
	return after
}

// redo stores what a run made of items that were tried again.
func (s *scrubbing) redo(run shardRun, done []int64, failed []int64, ended bool) sweep.Orders {
	s.Helper()
	shard := s.shards(run.Sweep)[run.Shard]
	c := sweep.Checkpoint{
		Sweep: run.Sweep, Number: run.Shard, Job: run.ID, Fence: run.Fence, Mark: shard.Mark,
		Done: shard.Done + int64(len(done)), Abandoned: shard.Abandoned - int64(len(done)), Again: shard.Again - int64(len(done)+len(failed)), Redone: done, Ended: ended,
	}
	for _, index := range failed {
		c.Failed = append(c.Failed, sweep.FailedItem{Index: index, Error: "still no"})
	}
	orders, err := s.store.Checkpoint(s.Context(), c)
	s.ok(err)
	return orders
}

func TestAFinishedSweepTriesOnlyWhatFailedAgain(t *testing.T) {
	s := newScrubbing(t)
	sw, old := s.finishWith(4, map[int][]int64{1: {300, 301}, 3: {900}})
	retried := s.retry(sw)
	s.wantState(retried, sweep.Running)
	if retried.Again != 3 || retried.Abandoned != 3 || retried.Run != 2 || !retried.EndedAt.IsZero() {
		t.Fatalf("it is %+v", retried.Status)
	}
	s.end(old...) // those that had gone over it were still about to return
	s.wantState(s.look(sw), sweep.Running)
	runs := s.claim(10)
	if len(runs) != 2 || runs[0].Shard+runs[1].Shard != 4 {
		t.Fatalf("what runs is %+v", runs)
	}
	for _, run := range runs {
		if run.Shard == 1 {
			s.redo(run, []int64{300}, []int64{301}, true)
		} else {
			s.redo(run, []int64{900}, nil, true)
		}
	}
	s.end(runs...)
	ended := s.look(sw)
	s.wantState(ended, sweep.Finished)
	if ended.Done != 999 || ended.Abandoned != 1 || ended.Again != 0 {
		t.Fatalf("it ended with %+v", ended.Progress)
	}
	events, err := s.client.History(t.Context(), sweep.EventFilter{Sweep: sw.ID, Limit: 2})
	s.ok(err)
	if retry := events[1]; retry.Action != "retry" || retry.By != "ann" || retry.Note != "3 items" || retry.From != sweep.Finished || retry.To != sweep.Running {
		t.Errorf("the history tells %+v", retry)
	}
}

func TestOnlyTheItemsThatAreNamedAreTriedAgain(t *testing.T) {
	s := newScrubbing(t)
	sw, _ := s.finishWith(1, map[int][]int64{0: {1, 2, 3}})
	if retried := s.retry(sw, 2); retried.Again != 1 {
		t.Fatalf("it is %+v", retried.Progress)
	}
	waiting, err := s.client.FailedItems(t.Context(), sweep.ItemFilter{Sweep: sw.ID, Again: true})
	s.ok(err)
	if len(waiting) != 1 || waiting[0].Index != 2 {
		t.Errorf("what waits is %+v", waiting)
	}
}

func TestAStoppedSweepTriesAgainAndGoesOn(t *testing.T) {
	s := newScrubbing(t)
	sw := s.put()
	s.start(sw)
	run := s.claim(1)[0]
	s.fail(run, 400, false, 7)
	s.stop(sw)
	s.end(run)
	s.wantState(s.look(sw), sweep.Stopped)
	s.retry(sw)
	run = s.claim(1)[0]
	if shard := s.shards(sw.ID)[0]; shard.To != 1000 || shard.Mark != 400 || shard.Again != 1 {
		t.Fatalf("its shard is %+v", shard)
	}
	s.redo(run, []int64{7}, nil, false)
	s.checkpoint(run, 1000, 0, true)
	s.end(run)
	s.wantState(s.look(sw), sweep.Finished)
}

func TestARetryThatIsStoppedGoesOnWithTheNextStart(t *testing.T) {
	s := newScrubbing(t)
	sw, old := s.finishWith(2, map[int][]int64{0: {1, 2}, 1: {600}})
	s.end(old...)
	s.retry(sw)
	runs := s.claim(10)
	for _, run := range runs {
		if run.Shard == 0 {
			s.redo(run, []int64{1}, nil, false)
		}
	}
	s.stop(sw)
	s.end(runs...)
	s.wantState(s.look(sw), sweep.Stopped)
	s.start(sw)
	runs = s.claim(10)
	if len(runs) != 2 {
		t.Fatalf("what runs is %+v", runs)
	}
	for _, run := range runs {
		s.redo(run, map[int][]int64{0: {2}, 1: {600}}[run.Shard], nil, true)
	}
	s.end(runs...)
	if ended := s.look(sw); ended.State != sweep.Finished || ended.Done != 1000 || ended.Abandoned != 0 {
		t.Fatalf("it is %+v", ended.Status)
	}
}

func TestARetryAsksTheBusiness(t *testing.T) {
	s := newScrubbing(t)
	sw, old := s.finishWith(1, map[int][]int64{0: {1}}, gated)
	s.wantCalls(1)
	s.wantState(s.retry(sw), sweep.Waiting)
	s.wantCalls(2)
	if len(s.claim(10)) != 0 {
		t.Fatal("it does not wait")
	}
	opened, err := s.client.Open(t.Context(), sw.ID, "business")
	s.ok(err)
	s.wantState(opened, sweep.Running)
	s.end(old...)
	s.wantState(s.look(sw), sweep.Running)
	if runs := s.claim(10); len(runs) != 1 || s.gateCalls()[1].Run != 2 {
		t.Fatalf("what runs is %+v", runs)
	}
}

func TestWhatFailsAgainTakesFromTheBudget(t *testing.T) {
	s := newScrubbing(t)
	sw, old := s.finishWith(1, map[int][]int64{0: {1, 2, 3, 4}}, budget(sweep.Budget{Items: 5}))
	s.end(old...)
	changed := sw
	changed.Budget.Items = 2
	_, err := s.client.Put(t.Context(), changed)
	s.ok(err)
	s.retry(sw, 1, 2, 3)
	run := s.claim(1)[0]
	for _, step := range []struct {
		done, failed []int64
		left         int64
	}{{nil, nil, 2}, {[]int64{1}, nil, 2}, {nil, []int64{2}, 1}, {nil, []int64{3}, 0}} {
		if orders := s.redo(run, step.done, step.failed, false); orders.Left != step.left {
			t.Fatalf("%d are left of the budget, want %d", orders.Left, step.left)
		}
	}
	stopping := s.look(sw)
	if stopping.State != sweep.Stopping || stopping.Reason != "2 items failed" {
		t.Fatalf("it is %s: %s", stopping.State, stopping.Reason)
	}
}

func TestARetryThatCannotBeIsRefused(t *testing.T) {
	s := newScrubbing(t)
	sw, _ := s.finishWith(1, map[int][]int64{0: {1, 2}})
	_, err := s.client.Retry(t.Context(), sw.ID, "ann", 2, 9, 5)
	var invalid *fairlead.InvalidError
	if !errors.As(err, &invalid) || !strings.Contains(err.Error(), "indexes") || !strings.Contains(err.Error(), "[5 9]") {
		t.Fatalf("the error is %v", err)
	}
	var many []int64
	for i := range int64(100) {
		many = append(many, 10+i)
	}
	if _, err = s.client.Retry(t.Context(), sw.ID, "ann", many...); !strings.Contains(err.Error(), "and others") {
		t.Fatalf("the error is %v", err)
	}
	s.wantState(s.look(sw), sweep.Finished)
	if shard := s.shards(sw.ID)[0]; !shard.Ended || shard.Again != 0 {
		t.Fatalf("its shard is %+v", shard)
	}
	_, err = s.client.Retry(t.Context(), 12345, "ann")
	if !errors.Is(err, fairlead.ErrNotFound) {
		t.Fatalf("the error is %v", err)
	}
}
