package sim

import (
	"fmt"
	"slices"

	"github.com/fairlead-io/fairlead/sweep"
)

// CheckSweep checks a sweep: it processed every item and counted the outcomes correctly;
// its marks only moved forward, were never ahead of the items, and were never moved by a
// worker whose shard another one had taken over.
func CheckSweep(r SweepRecord) []Violation {
	c := &sweepCheck{SweepRecord: r, begun: make([]bool, r.Items)}
	c.ends()
	c.seenForward()
	for _, n := range r.Notes {
		if n.What == ItemBegun {
			c.begun[n.Value] = true
		}
	}
	if missing := c.first(0, r.Items); missing < r.Items {
		c.violated(ItemSkipped, "item %d was never handled", missing)
	}
	c.checkpoints()
	return c.violations
}

// sweepCheck is the state of CheckSweep.
type sweepCheck struct {
	SweepRecord
	begun      []bool // by item
	violations []Violation
}

func (c *sweepCheck) violated(fault Fault, format string, args ...any) {
	c.violations = append(c.violations, Violation{Fault: fault, Text: fmt.Sprintf(format, args...)})
}

// first returns the first item in [from, to) that was not begun.
func (c *sweepCheck) first(from, to int64) int64 {
	for from < to && c.begun[from] {
		from++
	}
	return from
}

// ends checks that the sweep has finished, that the counts of items match their plans, and
// that the failed items are listed.
func (c *sweepCheck) ends() {
	var failing []int64
	for i := range c.Items {
		if comesToNothing(i) {
			failing = append(failing, i)
		}
	}
	abandoned := int64(len(failing))
	want := sweep.Progress{Done: c.Items - abandoned, Abandoned: abandoned, Marked: c.Items}
	got := c.Sweep.Progress
	if c.Sweep.State != sweep.Finished {
		c.violated(SweepNotFinished, "it is %s", c.Sweep.State)
	}
	if got.Done != want.Done || got.Abandoned != want.Abandoned || got.Again != 0 || got.Marked != want.Marked {
		c.violated(SweepCountsOff, "it ended with %+v, want %d done, %d abandoned", got, want.Done, want.Abandoned)
	}
	if !slices.Equal(c.Failed, failing) {
		c.violated(FailedItemsOff, "%d items are listed as failed, want %d: %v", len(c.Failed), len(failing), c.Failed)
	}
}

// seenForward checks that no query showed a smaller mark than before.
func (c *sweepCheck) seenForward() {
	last := map[int]int64{}
	for _, s := range c.Seen {
		if s.Mark < last[s.Shard] {
			c.violated(MarkWentBack, "shard %d from %d to %d", s.Shard, last[s.Shard], s.Mark)
		}
		last[s.Shard] = s.Mark
	}
}

// lease is the run of a shard under a fence.
type lease struct{ shard, fence int64 }

// checkpoints checks that every item before a mark was begun when the mark was sent, that
// no checkpoint is stored that was sent after a later run of the shard had sent one, and
// that a later run begins at the stored mark.
func (c *sweepCheck) checkpoints() {
	clear(c.begun)
	reached := map[int64]int64{}                         // first item that was not begun, by shard
	latest := map[int64]int64{}                          // largest fence that sent a checkpoint, by shard
	late := map[lease]bool{}                             // whether the last one was sent too late
	sent, stored := map[lease]int64{}, map[lease]int64{} // smallest mark sent, largest mark stored
	for shard := range int64(c.Shards) {
		reached[shard] = c.from(shard)
	}
	for _, n := range c.Notes {
		run := lease{n.Shard, n.Fence}
		switch n.What {
		case ItemBegun:
			c.begun[n.Value] = true
		case CheckpointSent:
			reached[n.Shard] = c.first(reached[n.Shard], c.from(n.Shard+1))
			if n.Value > reached[n.Shard] {
				c.violated(MarkTooFar, "shard %d under fence %d is said to have come to %d, and item %d was not begun", n.Shard, n.Fence, n.Value, reached[n.Shard])
			}
			late[run] = n.Fence < latest[n.Shard]
			latest[n.Shard] = max(latest[n.Shard], n.Fence)
			if least, ok := sent[run]; !ok || n.Value < least {
				sent[run] = n.Value
			}
		case CheckpointStored:
			if late[run] {
				c.violated(LateCheckpoint, "shard %d under fence %d was stored though sent after one under fence %d", n.Shard, n.Fence, latest[n.Shard])
			}
			stored[run] = max(stored[run], n.Value)
		}
	}
	for later, begun := range sent {
		for run, mark := range stored {
			if run.shard == later.shard && run.fence < later.fence && begun < mark {
				c.violated(CheckpointReverted, "shard %d had come to %d under fence %d, and went on from %d under fence %d", run.shard, mark, run.fence, begun, later.fence)
			}
		}
	}
}

// from returns the first item of a shard. All shards have the same length.
func (r *SweepRecord) from(shard int64) int64 { return r.Items * shard / int64(r.Shards) }

// Repeats returns how often items were handled again.
func (r *SweepRecord) Repeats() (repeats int64) {
	begun := map[int64]bool{}
	for _, n := range r.Notes {
		if n.What != ItemBegun {
			continue
		}
		if begun[n.Value] {
			repeats++
		}
		begun[n.Value] = true
	}
	return repeats
}

// Unsaved returns the number of items handled after the last checkpoint of a run that
// stored no more. These items may be handled again by another run.
func (r *SweepRecord) Unsaved() (all int64) {
	type part struct {
		process string
		shard   int64
	}
	unsaved, since := map[part]int64{}, map[part]int64{} // since the last stored checkpoint, and since the last sent one
	for _, n := range r.Notes {
		at := part{n.Process, n.Shard}
		switch n.What {
		case ItemBegun:
			at.shard = r.shardOf(n.Value)
			unsaved[at]++
			since[at]++
		case CheckpointSent:
			since[at] = 0
		case CheckpointStored:
			unsaved[at] = since[at]
		}
	}
	for _, n := range unsaved {
		all += n
	}
	return all
}

// shardOf returns the shard of an item.
func (r *SweepRecord) shardOf(index int64) int64 {
	for s := int64(r.Shards) - 1; s > 0; s-- {
		if index >= r.from(s) {
			return s
		}
	}
	return 0
}
