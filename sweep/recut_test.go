package sweep_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/fairlead-io/fairlead/sweep"
)

// want says into how many shards a sweep is to be cut from its next start on.
func (s *scrubbing) want(sweep sweep.Sweep, shards int) {
	s.Helper()
	found, err := s.client.ByID(s.Context(), sweep.ID)
	s.ok(err)
	found.Shards = shards
	_, err = s.client.Put(s.Context(), found)
	s.ok(err)
}

// halt stops a sweep, and ends its runs.
func (s *scrubbing) halt(sw sweep.Sweep, runs ...shardRun) {
	s.Helper()
	s.stop(sw)
	s.end(runs...)
	s.wantState(s.look(sw), sweep.Stopped)
}

// parts tells of each shard where it begins, the mark, and where it ends.
func (s *scrubbing) parts(sweep sweep.Sweep) []string {
	s.Helper()
	var parts []string
	for _, sh := range s.shards(sweep.ID) {
		parts = append(parts, fmt.Sprint(sh.From, " ", sh.Mark, " ", sh.To))
	}
	return parts
}

func (s *scrubbing) wantParts(sweep sweep.Sweep, want ...string) {
	s.Helper()
	if got := s.parts(sweep); !slices.Equal(got, want) {
		s.Fatalf("the shards are %q, want %q", got, want)
	}
}

func TestASweepIsCutAnewAsLongAsNothingHasBeenBegun(t *testing.T) {
	s := newScrubbing(t)
	sweep := s.put(inShards(4))
	s.start(sweep)
	for _, n := range []int{2, 5, 3} {
		s.halt(sweep)
		s.want(sweep, n)
		s.start(sweep)
		if runs := s.shards(sweep.ID); len(runs) != n {
			t.Fatalf("there are %d shards, want %d", len(runs), n)
		}
	}
	s.wantParts(sweep, "0 0 333", "333 333 666", "666 666 1000")
}

func TestWhatWasNotBegunIsSharedOutAmongMoreShards(t *testing.T) {
	s := newScrubbing(t)
	sw := s.start(s.put(inShards(2)))
	runs := s.claim(2)
	slices.SortFunc(runs, func(a, b shardRun) int { return a.Shard - b.Shard })
	s.checkpoint(runs[0], 450, 0, false)
	_, err := s.store.Checkpoint(t.Context(), sweep.Checkpoint{
		Sweep: sw.ID, Number: 1, Job: runs[1].ID, Fence: runs[1].Fence, Mark: 520, Window: []byte{0, 0x40}, Pending: json.RawMessage(`{"aside":"gggB"}`),
		Done: 19, Abandoned: 1, Errors: 7, Failed: []sweep.FailedItem{{Index: 501, Error: "no"}},
	})
	s.ok(err)
	s.want(sw, 6)
	s.look(sw)
	s.wantParts(sw, "0 450 500", "500 520 1000") // it still runs
	s.halt(sw, runs...)
	if started := s.start(sw); started.Done != 469 || started.Abandoned != 1 || started.Errors != 7 || started.Total != 1000 {
		t.Fatalf("it stands as %+v", started.Status)
	}
	if ledger := s.ledger(sw); ledger.Forgiven != 1 || ledger.Earlier != 469 {
		t.Fatalf("its ledger is %+v", ledger)
	}
	s.wantParts(sw, "0 450 500", "500 520 628", "628 628 721", "721 721 814", "814 814 907", "907 907 1000")
	second := s.shards(sw.ID)[1]
	if string(second.Window) != "\x00\x40" || string(second.Pending) != `{"aside":"gggB"}` || second.Done != 19 || second.Abandoned != 1 || second.Errors != 7 {
		t.Fatalf("the second shard is %+v", second)
	}
	failed, err := s.client.FailedItems(t.Context(), sweep.ItemFilter{Sweep: sw.ID})
	if s.ok(err); len(failed) != 1 || failed[0].Index != 501 {
		t.Fatalf("what failed is %+v", failed)
	}
	if runs := s.claim(10); len(runs) != 6 {
		t.Fatalf("%d shards can be begun", len(runs))
	}
}

func TestShardsAreJoinedWhereOneCanTellWhatBothHaveDone(t *testing.T) {
	const whole = 100
	for name, c := range map[string]struct {
		done []int64 // of each of ten shards
		n    int
		want []string
	}{
		"those that are over":       {[]int64{whole, whole, 30, 0, 0, 0, 0, 0, 0, 0}, 1, []string{"0 230 1000"}},
		"not those that have begun": {[]int64{10, 20, 0, 0, whole, whole, 5, 0, 0, 0}, 1, []string{"0 10 100", "100 120 400", "400 605 1000"}},
		"nor one that is over with one before it": {
			[]int64{10, whole, whole, whole, whole, whole, whole, whole, whole, whole}, 1, []string{"0 10 100", "100 1000 1000"},
		},
		"what is over makes room for others": {
			[]int64{whole, whole, whole, whole, whole, whole, whole, whole, whole, 20}, 4, []string{"0 920 940", "940 940 960", "960 960 980", "980 980 1000"},
		},
		"nothing is left to split": {[]int64{whole, whole, whole, whole, whole, whole, whole, whole, whole, whole - 3}, 12, []string{"0 997 998", "998 998 999", "999 999 1000"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScrubbing(t)
			sweep := s.start(s.put(inShards(10)))
			runs, total := s.claim(10), int64(0)
			for _, run := range runs {
				done := c.done[run.Shard]
				s.checkpoint(run, done, 0, done == whole)
				total += done
			}
			s.halt(sweep, runs...)
			s.want(sweep, c.n)
			if started := s.start(sweep); started.Done != total || started.Total != 1000 {
				t.Fatalf("it stands as %+v", started.Progress)
			}
			s.wantParts(sweep, c.want...)
		})
	}
}

// Where shards have nothing to do but to try items again, several are faster.
func TestShardsOfWhichItemsAreTriedAgainAreJoinedOnlyIfTheyMustBe(t *testing.T) {
	for n, want := range map[int]int{8: 4, 3: 3, 1: 1} {
		s := newScrubbing(t)
		sw, old := s.finishWith(4, map[int][]int64{0: {1, 2}, 1: {300, 301, 302}, 2: {501}, 3: {900}})
		s.end(old...)
		s.want(sw, n)
		retried := s.retry(sw)
		if retried.Again != 7 || retried.Abandoned != 7 || retried.Done != 993 {
			t.Fatalf("it stands as %+v", retried.Progress)
		}
		runs := s.claim(10)
		if len(runs) != want {
			t.Fatalf("%d shards run, want %d: %q", len(runs), want, s.parts(sw))
		}
		for _, run := range runs {
			again, err := sweep.ShardRetries(t.Context(), s.store, s.shards(sw.ID)[run.Shard], 0, 100)
			s.ok(err)
			s.redo(run, again, nil, true)
		}
		if ended := s.look(sw); ended.State != sweep.Finished || ended.Done != 1000 || ended.Abandoned != 0 {
			t.Fatalf("it is %+v", ended.Status)
		}
	}
}

// A sweep whose items the source had to count is cut once they are known.
func TestASweepIsCutOnceItsItemsAreCounted(t *testing.T) {
	s := newScrubbing(t)
	sw := s.start(s.put(inShards(3), func(w *sweep.Sweep) { w.To, w.Source.File = 0, "users.txt" }))
	run := s.claim(1)[0]
	c := sweep.Checkpoint{Sweep: sw.ID, Job: run.ID, Fence: run.Fence, Source: json.RawMessage(`{"lines":300}`)}
	_, err := s.store.Checkpoint(t.Context(), c)
	s.ok(err)
	s.halt(sw, run)
	s.start(sw)
	s.wantParts(sw, "0 0 0")
	run = s.claim(1)[0]
	c.Job, c.Fence, c.To, c.Mark, c.Done = run.ID, run.Fence, 300, 30, 30
	_, err = s.store.Checkpoint(t.Context(), c)
	s.ok(err)
	s.halt(sw, run)
	s.start(sw)
	s.wantParts(sw, "0 30 120", "120 120 210", "210 210 300")
	for _, sh := range s.shards(sw.ID) {
		if string(sh.Source) != `{"lines":300}` {
			t.Errorf("shard %d knows %s of the source", sh.Number, sh.Source)
		}
	}
}
