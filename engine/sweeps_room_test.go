package engine

import (
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/sweep"
)

// shardRoom is what a node knows of the sweeps it may run shards of, at an instant.
type shardRoom struct {
	*sweeps
	t    *testing.T
	jobs map[int64][]*fairlead.Job // by sweep
	now  time.Time
}

// roomFor is a node that may have shards of two sweeps of three, and four shards.
func roomFor(t *testing.T) *shardRoom {
	r := &shardRoom{sweeps: newSweeps(Options{MaxSweeps: 2, Poll: time.Second}), t: t, jobs: map[int64][]*fairlead.Job{}, now: time.Now()}
	for _, job := range newAllotment(t, 1, 8, 8, 8).jobs {
		r.jobs[sweep.Of(job)] = append(r.jobs[sweep.Of(job)], job)
	}
	r.share, r.several = 4, true
	return r
}

// pass lets polls go by.
func (r *shardRoom) pass(polls time.Duration) { r.now = r.now.Add(polls * time.Second) }

func (r *shardRoom) wantRoom(what string, want int) {
	r.t.Helper()
	if got := r.room(r.now); got != want {
		r.t.Errorf("%s: it may claim %d shards, want %d", what, got, want)
	}
}

// take has the next shard of a sweep claimed, and wants it admitted or refused.
func (r *shardRoom) take(s int64, admitted bool) *run {
	r.t.Helper()
	job := r.jobs[s][0]
	r.jobs[s] = r.jobs[s][1:]
	r.retake(job, admitted)
	return &run{job: job, own: &farewell{told: make(chan struct{})}, started: r.now}
}

func (r *shardRoom) retake(job *fairlead.Job, admitted bool) {
	r.t.Helper()
	if got := r.admit(job, r.now); got != admitted {
		r.t.Errorf("a shard of sweep %d: admitted is %t", sweep.Of(job), got)
	}
}

func TestANodeClaimsShardsUpToItsShare(t *testing.T) {
	r := roomFor(t)
	r.wantRoom("with nothing", 4)
	first := r.take(1, true)
	r.wantRoom("with one", 3)
	for range 3 {
		r.take(1, true)
	}
	r.wantRoom("with its share", 0)
	r.take(1, false)
	r.leave(first)
	r.wantRoom("when one has ended", 1)
	second := r.take(1, true)
	r.leave(second)
	r.take(2, true)
	r.wantRoom("with its share, of as many sweeps as it may have", 0)
	r.share = 2
	r.wantRoom("with more than its share, as others have joined", 0)
	r.share = 0
	r.wantRoom("when no other node is there", -1)
	r.take(1, true)
}

func TestJobsThatAreNoShardsAreNoMatterOfShares(t *testing.T) {
	r := roomFor(t)
	r.share = 1
	r.take(1, true)
	plain := &fairlead.Job{Kind: "k"}
	if !r.admit(plain, r.now) {
		t.Error("it was refused")
	}
	r.leave(&run{job: plain})
	r.wantRoom("after it", 0)
	p := newPlacement([]fairlead.Node{{ID: 1, Kinds: []string{modelKind}}}, []*fairlead.Job{plain}, 0)
	if len(p.places) != 0 || p.total() != 0 {
		t.Errorf("it is taken for a shard: %+v", p)
	}
}

func TestANodeThatGaveBackAShardOfOneSweepTooManyRests(t *testing.T) {
	r := roomFor(t)
	first := r.take(1, true)
	r.take(2, true)
	r.wantRoom("with as many sweeps as it may have, of more", -1) // only some of what comes fits
	r.take(3, false)
	r.wantRoom("after it gave one back", 0)
	r.pass(sweepRest - 1)
	r.wantRoom("while it rests", 0)
	r.leave(first)
	r.wantRoom("when there is room for another sweep", 3)
	r.take(3, true)
	r.wantRoom("when there is none again", 0)
	r.pass(1)
	r.wantRoom("when it has rested", -1)
	r.several = false
	r.wantRoom("if there is only one sweep", 2)
}

func TestTheOnlyNodeTakesUpASweepThatItHasNotHeardOfYet(t *testing.T) {
	r, a := roomFor(t), newAllotment(t, 1, 1)
	a.join()
	r.take(1, true)
	a.jobs[0].State, a.jobs[0].Node = fairlead.Running, 1
	r.see(a.see(), 1, r.now)
	second := r.take(2, true)
	r.wantRoom("with a second sweep", -1)
	r.take(3, false)
	r.wantRoom("with as many sweeps as its options say", 0)
	r.leave(second)
	r.wantRoom("when there is room for another sweep", -1)
	r.take(3, true)
}

func TestANodeTakesUpASweepThatNoOtherNodeServes(t *testing.T) {
	for name, c := range map[string]struct {
		change func(other *fairlead.Node)
		taken  bool
	}{
		"another that serves it":        {func(*fairlead.Node) {}, false},
		"another of another queue":      {func(other *fairlead.Node) { other.Queues = []string{"elsewhere"} }, true},
		"another of other sweeps":       {func(other *fairlead.Node) { other.Kinds = []string{"sweep.other"} }, true},
		"another that has died":         {func(other *fairlead.Node) { other.Dead = true }, true},
		"another that starts no more":   {func(other *fairlead.Node) { other.Draining = true }, true},
		"another that runs no shards":   {func(other *fairlead.Node) { other.Kinds = []string{"plain"} }, true},
		"another that is not a node":    {func(other *fairlead.Node) { other.Remote = true }, true},
		"another that serves its queue": {func(other *fairlead.Node) { other.Queues = []string{fairlead.DefaultQueue} }, false},
	} {
		t.Run(name, func(t *testing.T) {
			r, a := roomFor(t), newAllotment(t, 1, 2, 2)
			a.join()
			a.join()
			c.change(&a.nodes[1])
			r.take(1, true)
			a.jobs[0].State, a.jobs[0].Node = fairlead.Running, 1
			r.see(a.see(), 1, r.now)
			r.take(2, c.taken)
		})
	}
}

func TestASweepThatRunsElsewhereStaysTogetherWhileRoomIsTight(t *testing.T) {
	a := newAllotment(t, 1, 3, 1)
	a.join()
	a.join()
	for _, job := range a.jobs[:3] { // all of the first sweep
		job.State, job.Node = fairlead.Running, 1
	}
	if given := a.see().surplus(1, false); given != 0 {
		t.Errorf("a shard of sweep %d is given to the only node that has room for the other", given)
	}
	r := roomFor(t)
	if r.see(a.see(), 1, r.now); len(r.others) != 0 {
		t.Errorf("the sweeps of others are %v to the only node that has any", r.others)
	}
	r.see(a.see(), 2, r.now)
	r.share = 4
	r.take(2, true)
	r.take(1, false)
	r.wantRoom("after it gave one back", 0)
	r.pass(sweepRest)
	r.take(2, true)
	r.most, r.tight = 2, false
	r.take(1, true)
}

func TestANodeThatRestsClaimsShardsOfASweepThatBeginsWhenAllOthersAreOver(t *testing.T) {
	r := roomFor(t)
	shards := []*run{r.take(1, true), r.take(2, true)}
	r.take(3, false)
	for _, shard := range shards {
		r.leave(shard)
	}
	none := newAllotment(t, 1)
	none.join()
	none.join()
	r.see(none.see(), 1, r.now)
	r.wantRoom("while it rests", 1)
}

func TestAShardIsGivenToOthersNowAndThen(t *testing.T) {
	r := roomFor(t)
	given := r.take(1, true)
	other := r.take(2, true)
	if !r.mayGive(r.now, 2) {
		t.Fatal("it may not give one")
	}
	if r.mayGive(r.now, 3) {
		t.Error("it may give one, though what it has claimed is not all admitted")
	}
	r.give(3, []*run{given, other}, r.now)
	if !r.mayGive(r.now, 2) {
		t.Error("it gave a shard of a sweep of which it has none")
	}
	r.give(1, []*run{other, given}, r.now)
	select {
	case <-given.own.told:
	default:
		t.Error("the handler is not told")
	}
	select {
	case <-other.own.told:
		t.Error("a handler of another sweep is told")
	default:
	}
	r.pass(giveEvery)
	if r.mayGive(r.now, 2) {
		t.Error("it may give another while the first is being given")
	}
	r.leave(given)
	if !r.mayGive(r.now, 1) {
		t.Error("it may not give another when the first is given")
	}
	r.wantRoom("while it leaves the shard to others", 0)
	r.pass(sweepRest - giveEvery)
	r.wantRoom("after that", 3)
}

func TestAShardThatOthersDoNotWantIsGivenMoreAndMoreRarely(t *testing.T) {
	r := roomFor(t)
	given := r.take(1, true)
	wait := func(want time.Duration, what string) {
		t.Helper()
		if r.pass(want - 1); r.mayGive(r.now, 1) {
			t.Errorf("%s: it gives one after less than %d polls", what, want)
		}
		if r.pass(1); !r.mayGive(r.now, 1) {
			t.Errorf("%s: it gives none after %d polls", what, want)
		}
	}
	for back := range giveDoublings + 2 {
		r.give(1, []*run{given}, r.now)
		r.leave(given)
		r.retake(given.job, true) // it came back
		wait(giveEvery<<min(back+1, giveDoublings), "a shard that came back")
	}
	r.give(1, []*run{given}, r.now)
	r.leave(given)
	stays := r.take(2, true)
	wait(giveEvery<<giveDoublings, "before it is known that it did not come back")
	r.give(2, []*run{stays}, r.now)
	r.leave(stays)
	r.take(1, true)
	wait(giveEvery, "after one that stayed with others")
}
