package fairlead_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fairlead-io/fairlead"
)

// sharing is a sweep whose shards are run at random.
type sharing struct {
	*scrubbing
	t     *rapid.T
	sweep fairlead.Sweep
	cut   []fairlead.Shard // its shards as they were cut
	runs  []*sharer
	held  fairlead.Share // what could be used before the last step
}

// sharer is a run of a shard as it knows itself.
type sharer struct {
	shardRun
	node   fairlead.NodeID
	told   fairlead.Share
	flying int // items in flight
}

// uses is the most that a run may use.
func (r *sharer) uses() fairlead.Share {
	return fairlead.Share{Rate: r.told.Rate, InFlight: max(r.told.InFlight, r.flying)}
}

// rateOf counts a rate without a bound as one.
func rateOf(s fairlead.Share) float64 {
	if s.InFlight > 0 && s.Rate == 0 {
		return math.Inf(1)
	}
	return s.Rate
}

// Whoever joins, dies and acknowledges in whatever order: the shares of those that run
// are never more than the sweep may do at once.
func TestTheSharesOfASweepAreNeverMoreThanItMayDo(t *testing.T) {
	s := newScrubbing(t)
	count := 0
	rapid.Check(t, func(rt *rapid.T) {
		count++
		shards := rapid.IntRange(1, 5).Draw(rt, "shards")
		h := &sharing{scrubbing: s, t: rt}
		h.sweep = s.put(inShards(shards), func(w *fairlead.Sweep) {
			w.Name, w.InFlight, w.Rate = fmt.Sprint(count), h.inFlight(shards), h.rate()
		})
		s.start(h.sweep)
		defer h.clear()
		h.cut = s.shards(h.sweep.ID)
		for range rapid.IntRange(1, 80).Draw(rt, "steps") {
			rapid.SampledFrom(h.steps()).Draw(rt, "step")()
			h.check()
		}
		h.settleDown()
	})
}

// steps are what may happen, the frequent several times.
func (h *sharing) steps() []func() {
	say, look := func() { h.say(false) }, func() { h.look(h.sweep) }
	steps := []func(){h.join, h.join, h.join, look, look, look, look, h.change}
	if len(h.runs) > 0 {
		steps = append(steps, say, say, say, say, say, say, say, say, func() { h.say(true) }, h.die)
	}
	if len(h.runs) > 2 {
		steps = append(steps, h.finish)
	}
	return steps
}

func (h *sharing) inFlight(shards int) int { return rapid.IntRange(shards, 20).Draw(h.t, "in flight") }

func (h *sharing) rate() float64 {
	return rapid.SampledFrom([]float64{0, 0.5, 10, 100.1}).Draw(h.t, "rate")
}

// join begins the run of a shard.
func (h *sharing) join() {
	h.node = h.scrubbing.join()
	for _, run := range h.claim(1) {
		h.runs = append(h.runs, &sharer{shardRun: run, node: h.node})
	}
}

func (h *sharing) any() *sharer { return rapid.SampledFrom(h.runs).Draw(h.t, "run") }

// leave takes a run out. It begins nothing more: it knows when its lease ends.
func (h *sharing) leave(run *sharer) {
	h.runs = slices.DeleteFunc(h.runs, func(other *sharer) bool { return other == run })
}

// die ends the node of a run.
func (h *sharing) die() {
	run := h.any()
	h.leave(run)
	h.ok(h.store.Leave(h.Context(), run.node))
	_, err := h.store.Reap(h.Context(), fairlead.Reap{MaxCrashes: 1 << 20, Limit: 10})
	h.ok(err)
}

// finish ends a shard.
func (h *sharing) finish() {
	run := h.any()
	h.leave(run)
	h.tell(run, true)
	h.end(run.shardRun)
}

// tell stores what a run uses.
func (h *sharing) tell(run *sharer, ended bool) fairlead.Orders {
	orders, err := h.store.Checkpoint(h.Context(), fairlead.Checkpoint{
		Sweep: h.sweep.ID, Number: run.Shard, Job: run.ID, Fence: run.Fence, Mark: h.cut[run.Shard].Mark, Used: run.uses(), Ended: ended,
	})
	h.ok(err)
	return orders
}

// say is a checkpoint, the answer to which may be lost.
func (h *sharing) say(lost bool) {
	run := h.any()
	if run.told.InFlight > run.flying {
		run.flying = rapid.IntRange(run.flying, run.told.InFlight).Draw(h.t, "begun")
	}
	orders := h.tell(run, false)
	if lost {
		return
	}
	run.told = orders.Share
	run.flying = rapid.IntRange(0, run.flying).Draw(h.t, "still in flight")
}

// change is what people do to a sweep that runs.
func (h *sharing) change() {
	found, err := h.client.SweepByID(h.Context(), h.sweep.ID)
	h.ok(err)
	if found.State != fairlead.SweepRunning {
		return
	}
	found.InFlight, found.Rate = h.inFlight(found.Shards), h.rate()
	h.sweep, err = h.client.PutSweep(h.Context(), found)
	h.ok(err)
}

// check expects that no run may use more than is held for it, and that no more is held
// than the sweep may do: if that was lowered, than was held before.
func (h *sharing) check() {
	held, rate, shards := fairlead.Share{}, h.sweep.Rate, h.shards(h.sweep.ID)
	const dust = 1e-9
	for _, run := range h.runs {
		var its fairlead.Share // nothing is held for a run that has stored nothing
		if sh := shards[run.Shard]; sh.Fence == run.Fence {
			its = sh.Share.Or(sh.Told).Or(sh.Used)
		}
		if run.uses().InFlight > its.InFlight || rateOf(run.uses()) > rateOf(its) {
			h.t.Fatalf("the run of shard %d may use %+v, of which %+v is held for it", run.Shard, run.uses(), its)
		}
		held.InFlight += its.InFlight
		held.Rate += rateOf(its)
	}
	if rate == 0 {
		rate = math.Inf(1)
	}
	if held.Rate > max(rate, h.held.Rate)+dust || held.InFlight > max(h.sweep.InFlight, h.held.InFlight) {
		h.t.Fatalf("%+v may be used of %v in flight and a rate of %v", held, h.sweep.InFlight, h.sweep.Rate)
	}
	h.held = held
}

// settleDown expects that all have their share soon.
func (h *sharing) settleDown() {
	h.passed.Add(int64(time.Second)) // nothing is kept for those who have not come
	if h.look(h.sweep).State != fairlead.SweepRunning {
		return
	}
	for range 5 {
		for _, run := range h.runs {
			run.told, run.flying = h.tell(run, false).Share, 0
			h.check()
		}
		h.look(h.sweep)
	}
	slots := 0
	for _, run := range h.runs {
		slots += run.told.InFlight
		if fair := h.sweep.Rate / float64(len(h.runs)); math.Abs(run.told.Rate-fair) > 1e-6 {
			h.t.Fatalf("shard %d has a rate of %v, want %v", run.Shard, run.told.Rate, fair)
		}
	}
	if len(h.runs) > 0 && slots != h.sweep.InFlight {
		h.t.Fatalf("%d may be in flight, want %d", slots, h.sweep.InFlight)
	}
}

// clear leaves nothing for the next that could be claimed.
func (h *sharing) clear() {
	jobs, err := h.store.Find(h.Context(), fairlead.Filter{States: []fairlead.State{fairlead.Ready}})
	h.ok(err)
	for _, job := range jobs {
		h.ok(h.store.Cancel(h.Context(), job.ID, ""))
	}
}
