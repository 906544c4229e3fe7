package sim

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Figures contains the measurements of a run. They are reported, not judged.
type Figures struct {
	Jobs, Claims, Starts int
	Nodes                int // number of nodes, counting each join
	Kills, Pauses        int
	Held                 int // number of leases held by killed and suspended nodes
	ReapedNodes          int
	ReapedJobs           int
	RefusedEnds          int       // refused settlements of zombies
	RefusedSaves         int       // refused progress of zombies
	Abandoned            int       // handlers that ignored the end of their context
	Suspects             durations // recoveries of crash suspects, which wait for each other
	Silences             int       // periods of more than half a lease without a confirmed lease
	MostRunning          int       // maximum number of concurrent jobs, if there was a global cap
	Samples, SamplesIdle int       // snapshots of the database, and those with free slots
	Recoveries           durations
	Counted              durations // recoveries, in heartbeats of a node that could act
	Fires, CaughtUp      int       // runs of schedules, and those of instants that were missed at first
	Tasks                int       // tasks of batches
	Items, ItemsAgain    int64     // items of a sweep, and the number handled again
	Lent, Committed      int       // runs that completed their job in an open transaction, and committed enqueues of callers
	SlowestBeats         int       // maximum number of heartbeats of one node between the due time and the end of an unblocked job
	First, Last          Instant
}

func (f *Figures) count(r Record) {
	f.Jobs, f.Samples = len(r.Expected), len(r.Samples)
	nodes := map[int64]bool{}
	for _, e := range r.Events {
		switch e.What {
		case Claimed:
			f.Claims++
		case Started:
			f.Starts++
		case Killed:
			f.Kills++
		case Stopped:
			f.Pauses++
		case Holding:
			f.Held++
		case Abandoned:
			f.Abandoned++
		case Reaped:
			f.ReapedNodes += e.Nodes
			f.ReapedJobs += e.Jobs
		case Lent:
			f.Lent++
		case Committed:
			f.Committed++
		case Granted:
			nodes[int64(e.Node)] = true
		}
	}
	f.Nodes = len(nodes)
	if r.Swept != nil {
		f.Items, f.ItemsAgain = r.Swept.Items, r.Swept.Repeats()
	}
	for _, s := range r.Samples {
		if s.Idle > 0 {
			f.SamplesIdle++
		}
	}
	if len(r.Events) > 0 {
		f.First, f.Last = r.Events[0].At, r.Events[len(r.Events)-1].At
	}
}

// String returns a report for people.
func (f Figures) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d jobs in %v: %d claims, %d starts by %d nodes; %d kills, %d pauses, %d leases held by their victims",
		f.Jobs, f.Last.Sub(f.First).Round(time.Millisecond), f.Claims, f.Starts, f.Nodes, f.Kills, f.Pauses, f.Held)
	fmt.Fprintf(&b, "\nreaped: %d nodes, %d jobs; zombies refused: %d ends, %d saves; %d handlers abandoned", f.ReapedNodes, f.ReapedJobs, f.RefusedEnds, f.RefusedSaves, f.Abandoned)
	fmt.Fprintf(&b, "\nrecovery: %v; by beats: %v; database silent %d times; crash suspects: %v", f.Recoveries, f.Counted, f.Silences, f.Suspects)
	fmt.Fprintf(&b, "\n%d snapshots, %d with free slots", f.Samples, f.SamplesIdle)
	if f.MostRunning > 0 {
		fmt.Fprintf(&b, "; at most %d jobs ran at once", f.MostRunning)
	}
	if f.Fires > 0 {
		fmt.Fprintf(&b, "; %d runs of schedules, %d of them caught up", f.Fires, f.CaughtUp)
	}
	if f.Tasks > 0 {
		fmt.Fprintf(&b, "; %d tasks of batches", f.Tasks)
	}
	if f.Lent > 0 {
		fmt.Fprintf(&b, "; %d transactions left open by runs, %d enqueues committed by callers; unblocked jobs took %d heartbeats at most", f.Lent, f.Committed, f.SlowestBeats)
	}
	if f.Items > 0 {
		fmt.Fprintf(&b, "; %d items of a sweep, %d times one of them again", f.Items, f.ItemsAgain)
	}
	return b.String()
}

// String describes the distribution.
func (d durations) String() string {
	if len(d) == 0 {
		return "none"
	}
	return fmt.Sprintf("n=%d p50=%v p99=%v max=%v", len(d), d.at(0.5), d.at(0.99), d.at(1))
}

// at returns the quantile for the given share.
func (d durations) at(part float64) time.Duration {
	sorted := slices.Sorted(slices.Values(d))
	return sorted[min(len(sorted)-1, int(part*float64(len(sorted))))].Round(time.Millisecond)
}
