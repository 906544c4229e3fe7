package sim

import (
	"testing"
	"time"
)

// overlapping returns a record with two jobs of one tenant: job 1 runs from 100 on, and its
// process a is killed at 200. Job 2 runs in process b from the given time on. At 1500, b
// takes back jobs of dead nodes.
func overlapping(second int64) Record {
	return Record{
		Lease: time.Second, Caps: Caps{Global: 5, Tenants: map[string]int{"t": 1}}, Tenants: map[int64]string{1: "t", 2: "t"},
		Events: []Event{
			{At: at(100), What: Claimed, Process: "a", Job: 1, Fence: 10},
			{At: at(200), What: Killed, Process: "a"},
			{At: at(1500), What: Reaped, Process: "b", Sent: at(1490), Jobs: 1, Nodes: 1},
			{At: at(second), What: Claimed, Process: "b", Job: 2, Fence: 11},
			{At: at(second + 50), What: Asked, Process: "b", Job: 2, Fence: 11},
		},
	}
}

func TestCheckCountsTheRunOfAKilledNodeUntilItsJobsAreTakenBack(t *testing.T) {
	for second, want := range map[int64]int{150: 1, 1000: 1, 1495: 0} {
		c := &check{Record: overlapping(second), stories: map[int64]*story{}}
		for _, e := range c.Events {
			if e.What == Killed {
				c.kills = append(c.kills, e)
			}
			c.tell(e)
		}
		c.capsKept()
		if len(c.violations) != want {
			t.Errorf("with the second job at %d there are %d violations, want %d: %v", second, len(c.violations), want, c.violations)
		}
		if most := c.figures.MostRunning; most != 1+want {
			t.Errorf("with the second job at %d at most %d jobs ran", second, most)
		}
	}
}

// Process a gets no time between 200 and 2000: it ends its job long after its lease,
// which ended at 1150.
func TestCheckCountsTheRunOfAStarvedNodeUntilItsLeaseEnds(t *testing.T) {
	for second, want := range map[int64]int{1000: 1, 1200: 0} {
		r := overlapping(second)
		r.Events[0].Node = 1
		r.Events[1] = Event{At: at(200), What: Granted, Process: "a", Node: 1, Sent: at(150), DB: db(170)}
		r.Events = append(r.Events, Event{At: at(2000), What: Asked, Process: "a", Job: 1, Fence: 10})
		verdict := Check(r)
		kept := 0
		for _, v := range verdict.Violations {
			if v.Rule == CapsKept {
				kept++
			}
		}
		if kept != want || verdict.Figures.MostRunning != 1+want {
			t.Errorf("with the second job at %d there are %d violations, want %d: %v", second, kept, want, verdict.Violations)
		}
	}
}

// Process b takes job 1 back from a, whose lease expired. It dies before it can record
// that, and runs the job in its next life. Later it takes back other jobs.
func TestCheckCountsARunNoLongerThanUntilItsJobIsClaimedAgain(t *testing.T) {
	r := overlapping(1400)
	r.Events[0].Node = 1
	r.Events[1] = Event{At: at(110), What: Granted, Process: "a", Node: 1, Sent: at(105), DB: db(107)}
	r.Events = append(r.Events,
		Event{At: at(1300), What: Claimed, Process: "b", Job: 1, Fence: 11},
		Event{At: at(1310), What: Asked, Process: "b", Job: 1, Fence: 11})
	for _, v := range Check(r).Violations {
		if v.Rule == CapsKept {
			t.Error(v)
		}
	}
}
