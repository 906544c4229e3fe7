package sweep_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fairlead-io/fairlead/internal/sweeping"
	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/internal/window"
	"github.com/fairlead-io/fairlead/sweep"
)

// fate is what has become of an item.
type fate int

const (
	toDo     fate = iota // or it waits for its next attempt
	done                 // once
	failed               // and does not wait to be tried again
	awaiting             // failed, and waits to be tried again
)

// recutting is a sweep that is cut anew again and again, and what was done with each of
// its items.
type recutting struct {
	*scrubbing
	rt    *rapid.T
	sweep sweep.Sweep
	fates []fate
}

func TestHoweverASweepIsCutEachItemIsDoneOnce(t *testing.T) {
	t.Attr(tier.LongAttr, "rapid draws five times as many cases")
	rapid.Check(t, func(rt *rapid.T) {
		r := &recutting{scrubbing: newScrubbing(t), rt: rt}
		r.fates = make([]fate, r.int(1, 300, "items"))
		from := int64(r.int(0, 50, "from"))
		r.sweep = r.put(func(w *sweep.Sweep) {
			w.From, w.To, w.Shards = from, from+int64(len(r.fates)), r.int(1, 12, "shards")
			w.Budget.Items = 1 << 40
		})
		for range r.int(1, 8, "rounds") {
			if !r.round(false) {
				break
			}
		}
		for r.round(true) {
			r.check()
		}
		if slices.ContainsFunc(r.fates, func(f fate) bool { return f != done && f != failed }) {
			rt.Fatalf("it has ended, and what became of the items is %v", r.fates)
		}
	})
}

func (r *recutting) int(low, high int, what string) int {
	return rapid.IntRange(low, high).Draw(r.rt, what)
}

// round starts the sweep, with another number of shards, and lets its shards come some
// way. It returns false if it has finished.
func (r *recutting) round(toTheEnd bool) bool {
	r.want(r.sweep, r.int(1, 16, "shards"))
	if r.int(0, 2, "whether it tries again") > 0 || !r.tryAgain() {
		if s, err := r.client.ByID(r.Context(), r.sweep.ID); err != nil || s.State == sweep.Finished {
			r.ok(err)
			return false
		}
		r.start(r.sweep)
	}
	r.check()
	runs := r.claim(100)
	for _, run := range runs {
		for goesOn := true; goesOn; {
			goesOn = r.advance(run) && toTheEnd
		}
	}
	if r.look(r.sweep).State == sweep.Running {
		r.stop(r.sweep)
	}
	r.end(runs...)
	r.look(r.sweep)
	r.check()
	return true
}

// tryAgain lets some of the failed items be tried again, if there are some and it may.
func (r *recutting) tryAgain() bool {
	var indexes []int64
	for i, fate := range r.fates {
		if fate == failed && r.int(0, 1, "whether the item is tried again") > 0 {
			indexes = append(indexes, r.sweep.From+int64(i))
		}
	}
	s, err := r.client.ByID(r.Context(), r.sweep.ID)
	r.ok(err)
	if len(indexes) == 0 || s.State == sweep.Created {
		return false
	}
	r.retry(r.sweep, indexes...)
	for _, index := range indexes {
		r.fates[index-r.sweep.From] = awaiting
	}
	return true
}

// advance lets a run do something with items of its shard, and store it. It returns
// false if the shard has ended.
func (r *recutting) advance(run shardRun) bool {
	shard := r.shards(r.sweep.ID)[run.Shard]
	w, aside := r.progressOf(&shard)
	c := sweep.Checkpoint{
		Sweep: r.sweep.ID, Number: run.Shard, Job: run.ID, Fence: run.Fence,
		Done: shard.Done, Abandoned: shard.Abandoned, Again: shard.Again, Errors: shard.Errors,
	}
	for range r.int(0, 40, "items that are tried") {
		switch item := int64(r.int(int(shard.From), int(shard.To-1), "item")); {
		case r.fates[item-r.sweep.From] == awaiting:
			c.Done, c.Abandoned, c.Again, c.Redone = c.Done+1, c.Abandoned-1, c.Again-1, append(c.Redone, item)
			r.fates[item-r.sweep.From] = done
		case aside[item]:
			delete(aside, item)
			c.Done++
			r.fates[item-r.sweep.From] = done
		case !w.IsDone(item) && w.Fits(item):
			r.try(&c, item, aside)
			w.Done(item)
		}
	}
	c.Mark, c.Window = w.Encode()
	var list []sweeping.Aside
	for item := range aside {
		list = append(list, sweeping.Aside{Index: item, Tries: 1})
	}
	slices.SortFunc(list, func(a, b sweeping.Aside) int { return int(a.Index - b.Index) })
	pending, err := sweeping.EncodePending(list)
	r.ok(err)
	c.Pending, c.Ended = pending, c.Mark == shard.To && len(list) == 0 && c.Again == 0
	r.ok(sweeping.Verify(shard.From, shard.To, c.Mark, c.Window, list))
	_, err = r.store.Checkpoint(r.Context(), c)
	r.ok(err)
	return !c.Ended
}

// try tries an item for the first time.
func (r *recutting) try(c *sweep.Checkpoint, item int64, aside map[int64]bool) {
	if r.fates[item-r.sweep.From] != toDo {
		r.rt.Fatalf("item %d is tried anew", item)
	}
	switch r.int(0, 5, "what becomes of it") {
	case 0:
		c.Errors++
		aside[item] = true
	case 1:
		c.Abandoned++
		c.Failed = append(c.Failed, sweep.FailedItem{Index: item, Error: "no"})
		r.fates[item-r.sweep.From] = failed
	default:
		c.Done++
		r.fates[item-r.sweep.From] = done
	}
}

// progressOf is what is stored of a shard.
func (r *recutting) progressOf(shard *sweep.Shard) (*window.Window, map[int64]bool) {
	w := window.New(64, shard.From)
	r.ok(w.Restore(shard.Mark, shard.Window))
	list, err := sweeping.DecodePending(shard.Pending)
	r.ok(err)
	aside := map[int64]bool{}
	for _, a := range list {
		aside[a.Index] = true
	}
	return w, aside
}

// check compares what is stored with what was done.
func (r *recutting) check() {
	s, err := r.client.ByID(r.Context(), r.sweep.ID)
	r.ok(err)
	counts := map[fate]int64{}
	var noted, waiting []int64
	for i, fate := range r.fates {
		counts[fate]++
		switch index := r.sweep.From + int64(i); fate {
		case awaiting:
			waiting = append(waiting, index)
			noted = append(noted, index)
		case failed:
			noted = append(noted, index)
		}
	}
	if s.Total != int64(len(r.fates)) || s.Done != counts[done] || s.Abandoned != counts[failed]+counts[awaiting] || s.Again != counts[awaiting] {
		r.rt.Fatalf("it stands as %+v, and what became of the items is %v", s.Progress, counts)
	}
	items, err := r.client.FailedItems(r.Context(), sweep.ItemFilter{Sweep: r.sweep.ID, Limit: 1000})
	r.ok(err)
	var listed []int64
	for _, item := range items {
		listed = append(listed, item.Index)
	}
	if !slices.Equal(listed, noted) {
		r.rt.Fatalf("%v are listed as failed, want %v", listed, noted)
	}
	at, again := r.sweep.From, []int64(nil)
	for i, shard := range r.shards(r.sweep.ID) {
		if shard.Number != i || shard.From != at || shard.To <= shard.From {
			r.rt.Fatalf("the shard behind %d is %+v", at, shard)
		}
		at = shard.To
		w, aside := r.progressOf(&shard)
		for item := shard.From; item < shard.To; item++ {
			if stored := w.IsDone(item) && !aside[item]; stored != (r.fates[item-r.sweep.From] != toDo) {
				r.rt.Fatalf("item %d is stored as ended: %v; its fate is %d", item, stored, r.fates[item-r.sweep.From])
			}
		}
		own, err := sweep.ShardRetries(r.Context(), r.store, shard, shard.From, 1000)
		if r.ok(err); int64(len(own)) != shard.Again {
			r.rt.Fatalf("%v wait to be tried again in %+v", own, shard)
		}
		again = append(again, own...)
	}
	if at != r.sweep.To || !slices.Equal(again, waiting) {
		r.rt.Fatalf("the shards end at %d, and %v wait to be tried again, want %v", at, again, waiting)
	}
}
