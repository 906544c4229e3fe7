package sweep_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/sqlite"
	"github.com/fairlead-io/fairlead/sweep"
)

// sharing is a sweep whose shards are run at random.
type sharing struct {
	*scrubbing
	t     *rapid.T
	sweep sweep.Sweep
	cut   []sweep.Shard // its shards as they were cut
	runs  []*sharer
	held  sweep.Share // what could be used before the last step
}

// sharer is a run of a shard as it knows itself.
type sharer struct {
	shardRun
	node   fairlead.NodeID
	told   sweep.Share
	asked  time.Duration // when it asked for that
	asks   *question     // that is on its way
	flying int           // items in flight
}

// question is a checkpoint whose answer has not come back.
type question struct {
	at     time.Duration
	uses   sweep.Share
	orders *sweep.Orders // once it was stored
	before *sweep.Shard  // as others see the shard meanwhile; nil: as it is
}

// fresh is how long a run goes by what it asked for.
const fresh = time.Second

// says is what a run says that it uses.
func (r *sharer) says() sweep.Share {
	uses := sweep.Share{Rate: r.told.Rate, InFlight: max(r.told.InFlight, r.flying)}
	if r.told.InFlight == 0 {
		uses.Rate = sweep.LeastRate
	}
	return uses
}

// uses is the most that a run may use.
func (h *sharing) uses(r *sharer) sweep.Share {
	if r.told.InFlight == 0 || h.now()-r.asked >= fresh {
		return sweep.Share{Rate: sweep.LeastRate, InFlight: r.flying}
	}
	return r.says()
}

func (h *sharing) now() time.Duration { return time.Duration(h.passed.Load()) }

// rateOf counts a rate without a bound as one.
func rateOf(s sweep.Share) float64 {
	if s.InFlight > 0 && s.Rate == 0 {
		return math.Inf(1)
	}
	return s.Rate
}

// Whichever node joins, dies and acknowledges, in whatever order: the shares of those that run
// are never more than the sweep may do at once.
func TestTheSharesOfASweepAreNeverMoreThanItMayDo(t *testing.T) {
	s := newScrubbing(t)
	count := 0
	t.Attr(tier.LongAttr, "rapid draws five times as many cases")
	rapid.Check(t, func(rt *rapid.T) {
		count++
		shards := rapid.IntRange(1, 5).Draw(rt, "shards")
		h := &sharing{scrubbing: s, t: rt}
		h.sweep = s.put(inShards(shards), func(w *sweep.Sweep) {
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
	steps := []func(){h.join, h.join, h.join, h.watch, h.watch, h.watch, h.watch, h.watch, h.watch, h.pass, h.pass, h.pass, h.change}
	if len(h.runs) > 0 {
		steps = append(steps, h.say, h.say, h.say, h.say, h.say, h.sayAll, h.sayAll, h.ask, h.ask, h.reach, h.reach, h.hear, h.hear, h.reachUnseen, h.reachUnseen, h.lose, h.die)
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
	_, err := h.store.Reap(h.Context(), driver.Reap{MaxCrashes: 1 << 20, Limit: 10})
	h.ok(err)
}

// finish ends a shard.
func (h *sharing) finish() {
	run := h.any()
	h.leave(run)
	h.tell(run, run.says(), true)
	h.end(run.shardRun)
}

// pass lets time pass.
func (h *sharing) pass() {
	took := rapid.SampledFrom([]time.Duration{100, 600, 1300, 2000}).Draw(h.t, "milliseconds")
	h.passed.Add(int64(took * time.Millisecond))
}

// tell stores what a run uses.
func (h *sharing) tell(run *sharer, uses sweep.Share, ended bool) sweep.Orders {
	orders, err := h.store.Checkpoint(h.Context(), sweep.Checkpoint{
		Sweep: h.sweep.ID, Number: run.Shard, Job: run.ID, Fence: run.Fence, Mark: h.cut[run.Shard].Mark, Used: uses, Ended: ended,
	})
	h.ok(err)
	return orders
}

// say is a checkpoint of which nothing gets lost.
func (h *sharing) say() { h.sayOf(h.any()) }

func (h *sharing) sayAll() {
	for _, run := range h.runs {
		h.sayOf(run)
	}
}

func (h *sharing) sayOf(run *sharer) {
	h.askOf(run)
	h.reachOf(run)
	h.hearOf(run)
}

// ask sends a checkpoint, reach stores it, and hear brings back the answer: all sorts of
// things may happen meanwhile.
func (h *sharing) ask()   { h.askOf(h.any()) }
func (h *sharing) reach() { h.reachOf(h.any()) }
func (h *sharing) hear()  { h.hearOf(h.any()) }

// reachUnseen stores a checkpoint that is not seen before its answer has come back: its
// transaction is still under way.
func (h *sharing) reachUnseen() {
	run := h.any()
	before := h.shards(h.sweep.ID)[run.Shard]
	h.askOf(run)
	if before.Fence == run.Fence && run.asks.orders == nil {
		h.reachOf(run)
		run.asks.before = &before
	}
}

// watch looks at the sweep as it is seen.
func (h *sharing) watch() {
	view := behind{Store: h.store}
	for _, run := range h.runs {
		if run.asks != nil && run.asks.before != nil {
			view.before = append(view.before, *run.asks.before)
		}
	}
	h.ok(sweep.Steer(h.Context(), view, h.sweep.ID))
}

// behind is a store in which what was stored of some shards of late is not seen.
type behind struct {
	*sqlite.Store
	before []sweep.Shard
}

func (b behind) Steer(ctx context.Context, id int64, wait bool, act func(context.Context, *sweep.Record, sweep.Tx) error) (bool, error) {
	return b.Store.Steer(ctx, id, wait, func(ctx context.Context, sweep *sweep.Record, tx sweep.Tx) error {
		return act(ctx, sweep, behindTx{tx, b.before})
	})
}

type behindTx struct {
	sweep.Tx
	before []sweep.Shard
}

func (b behindTx) Shards(ctx context.Context) ([]sweep.Shard, []fairlead.State, error) {
	shards, states, err := b.Tx.Shards(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, before := range b.before {
		now := shards[before.Number] // what is granted is not the run's to store
		shards[before.Number].SavedAt, shards[before.Number].Used = before.SavedAt, before.Used
		shards[before.Number].Told = before.Told.Or(now.Told)
	}
	return shards, states, nil
}

// lose loses a checkpoint, or the answer to it.
func (h *sharing) lose() { h.any().asks = nil }

func (h *sharing) askOf(run *sharer) {
	h.begin(run)
	if run.asks == nil {
		run.asks = &question{at: h.now(), uses: run.says()}
	}
}

func (h *sharing) reachOf(run *sharer) {
	if run.asks != nil && run.asks.orders == nil {
		orders := h.tell(run, run.asks.uses, false)
		run.asks.orders = &orders
	}
}

func (h *sharing) hearOf(run *sharer) {
	h.begin(run)
	if run.asks != nil && run.asks.orders != nil {
		run.told, run.asked, run.asks = run.asks.orders.Share, run.asks.at, nil
		run.flying = rapid.IntRange(0, run.flying).Draw(h.t, "still in flight")
	}
}

// begin begins items.
func (h *sharing) begin(run *sharer) {
	if most := h.uses(run).InFlight; most > run.flying {
		run.flying = rapid.IntRange(run.flying, most).Draw(h.t, "begun")
	}
}

// change is what people do to a sweep that runs.
func (h *sharing) change() {
	found, err := h.client.ByID(h.Context(), h.sweep.ID)
	h.ok(err)
	if found.State != sweep.Running {
		return
	}
	found.InFlight, found.Rate = h.inFlight(found.Shards), h.rate()
	h.sweep, err = h.client.Put(h.Context(), found)
	h.ok(err)
}

// check expects that no run may use more than is held for it, and that no more is held
// than the sweep may do: if that was lowered, than was held before.
func (h *sharing) check() {
	held, rate, shards := sweep.Share{}, h.sweep.Rate, h.shards(h.sweep.ID)
	found, err := h.client.ByID(h.Context(), h.sweep.ID)
	h.ok(err)
	const dust = 1e-7
	for _, run := range h.runs {
		var its sweep.Share // nothing is held for a run that has stored nothing
		if sh := shards[run.Shard]; sh.Fence == run.Fence {
			its = sh.Share.Or(sh.Told).Or(sh.Used)
		}
		if slices.ContainsFunc(found.Silent, func(q sweep.Silence) bool { return q.Shard == run.Shard && q.Free }) {
			its.Rate = sweep.LeastRate // others have it
		}
		if uses := h.uses(run); uses.InFlight > its.InFlight || rateOf(uses) > max(rateOf(its), sweep.LeastRate) {
			h.t.Fatalf("the run of shard %d may use %+v, of which %+v is held for it", run.Shard, uses, its)
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
	if h.anyUnseen() { // a look knows of what was held before
		held.Rate, held.InFlight = max(held.Rate, h.held.Rate), max(held.InFlight, h.held.InFlight)
	}
	h.held = held
}

func (h *sharing) anyUnseen() bool {
	return slices.ContainsFunc(h.runs, func(run *sharer) bool { return run.asks != nil && run.asks.before != nil })
}

// settleDown expects that all have their share soon.
func (h *sharing) settleDown() {
	h.passed.Add(int64(time.Second)) // nothing is kept for those who have not come
	if h.look(h.sweep).State != sweep.Running {
		return
	}
	for range 8 {
		for _, run := range h.runs {
			run.told, run.asked, run.asks, run.flying = h.tell(run, run.says(), false).Share, h.now(), nil, 0
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

// A run that is not heard of keeps its lease for a while, and what it has in flight. Its
// rate is of use to others before that.
func TestOthersHaveTheRateOfARunThatIsNotHeardOf(t *testing.T) {
	s := newScrubbing(t)
	sw := s.start(s.put(inShards(2), func(w *sweep.Sweep) { w.Rate, w.InFlight = 10, 16 }))
	runs := s.claim(2)
	told := make([]sweep.Share, len(runs))
	goOn := func(speaking ...int) {
		t.Helper()
		for range 20 {
			s.passed.Add(int64(300 * time.Millisecond))
			for _, i := range speaking {
				uses := told[i]
				if uses.InFlight == 0 {
					uses.Rate = sweep.LeastRate
				}
				orders, err := s.store.Checkpoint(t.Context(), sweep.Checkpoint{
					Sweep: sw.ID, Number: runs[i].Shard, Job: runs[i].ID, Fence: runs[i].Fence, Mark: s.shards(sw.ID)[runs[i].Shard].From, Used: uses,
				})
				s.ok(err)
				told[i] = orders.Share
			}
			s.look(sw)
		}
	}
	want := func(when string, shares ...sweep.Share) {
		t.Helper()
		if !slices.Equal(told, shares) {
			t.Fatalf("%s they have %+v, want %+v", when, told, shares)
		}
	}
	half := sweep.Share{Rate: 5, InFlight: 8}
	goOn(0, 1)
	want("while both are heard of", half, half)
	goOn(1)
	want("while one is silent", half, sweep.Share{Rate: 10, InFlight: 8})
	goOn(0, 1)
	want("once it is heard of again", half, half)
}

func TestAShardThatHasEndedSharesNothingThoughItsJobStillRuns(t *testing.T) {
	s := newScrubbing(t)
	sw := s.start(s.put(inShards(2), func(w *sweep.Sweep) { w.InFlight = 16 }))
	runs := s.claim(2)
	s.checkpoint(runs[0], 500, 0, true)
	var orders sweep.Orders
	for range 3 {
		orders = s.checkpoint(runs[1], 0, 0, false)
		s.look(sw)
	}
	if orders.Share.InFlight != 16 {
		t.Errorf("the other may have %d in flight, want all 16", orders.Share.InFlight)
	}
}
