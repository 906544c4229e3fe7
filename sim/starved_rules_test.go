package sim

import (
	"slices"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
)

// faultsOf counts the faults of a record.
func faultsOf(r Record) map[Fault]int {
	slices.SortStableFunc(r.Events, func(a, b Event) int { return int(a.At - b.At) })
	found := map[Fault]int{}
	for _, v := range Check(r).Violations {
		found[v.Fault]++
	}
	return found
}

// Node 2 is granted its last lease at 800, as far as it hears, so the lease ends at 1800.
// By the database's clock it claims at 1910.
func TestCheckJudgesAClaimByWhenItMayHaveCheckedItsNode(t *testing.T) {
	for _, c := range []struct {
		name           string
		sent, answered int64 // zero: when it was sent is not known
		doubt          int64 // when a beat failed; zero: none did
		want           int
	}{
		{"the claim was sent after the lease", 1905, 1915, 0, 1},
		{"the claim may have checked its node within the lease", 1500, 3000, 0, 0},
		{"the claim took too little time for that", 2950, 3000, 0, 1},
		{"a beat that failed before the claim was sent may have counted", 1905, 3500, 1700, 0},
		{"a beat that failed a lease before the claim was sent did not last so long", 1905, 1915, 890, 1},
		{"of a claim without the time of its sending its answer counts", 0, 3000, 1700, 1},
		{"a beat failed within a lease of that answer", 0, 2000, 1700, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := healthy()
			r.Events = slices.DeleteFunc(r.Events, func(e Event) bool { return e.What == Granted && e.Node == 2 && e.At > at(800) })
			claim := the(&r, Claimed, 2, 13)
			claim.DB, claim.At = db(1910), at(c.answered)
			if c.sent != 0 {
				claim.Sent = at(c.sent)
			}
			if c.doubt != 0 {
				r.Events = append(r.Events, Event{At: at(c.doubt), What: Unconfirmed, Process: "b", Node: 2})
			}
			if got := faultsOf(r)[DeadClaimed]; got != c.want {
				t.Errorf("it is reported %d times, want %d", got, c.want)
			}
			if r.Older = []string{"b"}; c.sent == 0 && faultsOf(r)[DeadClaimed] > 0 {
				t.Error("it is reported of a worker of another version, which does not note when it sent the claim")
			}
		})
	}
}

// A handler may start long after its claim was heard of. It must not if the claim was
// heard of after the end of the lease.
func TestCheckJudgesAStartByWhenItsClaimWasHeardOf(t *testing.T) {
	starved := healthy()
	shift(&starved, the(&starved, Started, 2, 12), 1500*time.Millisecond)
	if faults := faultsOf(starved); faults[StartedLate] != 0 {
		t.Errorf("a handler that started late under an old fence is reported: %v", faults)
	}
	late := healthy()
	the(&late, Claimed, 2, 12).At = at(1850) // node 1 sent its last beat at 799.5
	the(&late, Started, 2, 12).At = at(1851)
	if faults := faultsOf(late); faults[StartedLate] != 1 {
		t.Errorf("a start under a claim that came after the lease is not reported: %v", faults)
	}
}

// reaping builds the history of one process with a lease of one second.
type reaping []Event

// live adds a life of the process: a node that joins and beats from one time to another.
func (r *reaping) live(node fairlead.NodeID, from, to int64) {
	for ms := from; ms <= to; ms += 200 {
		*r = append(*r, Event{What: Granted, Process: "a", Node: node, At: at(ms), Sent: at(ms) - 500, DB: db(ms)})
	}
}

// look adds reaps that take nothing.
func (r *reaping) look(node fairlead.NodeID, times ...int64) {
	for _, ms := range times {
		*r = append(*r, Event{What: Reaping, Process: "a", Node: node, At: at(ms)})
	}
}

// doubt adds a beat that fails.
func (r *reaping) doubt(node fairlead.NodeID, ms int64) {
	*r = append(*r, Event{What: Unconfirmed, Process: "a", Node: node, At: at(ms)})
}

// reap adds a reap that declares a node dead.
func (r *reaping) reap(node fairlead.NodeID, ms int64) {
	r.look(node, ms)
	*r = append(*r, Event{What: Reaped, Process: "a", Node: node, Nodes: 1, Sent: at(ms), At: at(ms) + 500})
}

func TestCheckJudgesReapersByTheirLooks(t *testing.T) {
	for _, c := range []struct {
		name  string
		build func(r *reaping)
		want  *Fault
	}{
		{"a node reaps when it has just joined", func(r *reaping) {
			r.live(1, 0, 400)
			r.reap(1, 300)
		}, &ReapedOnArrival},
		{"a process that stands still after each lease is unsteady, and reaps on arrival", func(r *reaping) {
			r.live(1, 0, 1200)
			r.live(2, 2400, 3600)
			r.live(3, 4800, 5200)
			r.reap(3, 5000)
		}, nil},
		{"a process was trusted at a look", func(r *reaping) {
			r.live(1, 0, 1200)
			r.live(2, 2400, 3800)
			r.look(2, 3650, 3750)
			r.live(3, 4800, 5200)
			r.reap(3, 5000)
		}, &ReapedOnArrival},
		{"a process may have looked before its node was trusted, and reaped after", func(r *reaping) {
			r.live(1, 0, 1200)
			r.live(2, 2400, 3800)
			r.look(2, 3750)
			r.live(3, 4800, 5200)
			r.reap(3, 5000)
		}, nil},
		{"a beat fails between a look and the reap", func(r *reaping) {
			r.live(1, 0, 3000)
			r.look(1, 1250, 1500, 1750, 2000)
			r.doubt(1, 2100)
			r.reap(1, 2500)
		}, nil},
		{"a node looks, and reaps, after its beat failed", func(r *reaping) {
			r.live(1, 0, 3000)
			r.look(1, 1250, 1500, 1750, 2000)
			r.doubt(1, 2100)
			r.look(1, 2250)
			r.reap(1, 2500)
		}, &ReapedInDoubt},
		{"a lease has passed since its beat failed", func(r *reaping) {
			r.live(1, 0, 4000)
			r.look(1, 1250, 1500, 1750, 2000)
			r.doubt(1, 2100)
			r.look(1, 3250)
			r.reap(1, 3500)
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var events reaping
			c.build(&events)
			faults := faultsOf(Record{Lease: time.Second, Beat: 200 * time.Millisecond, Events: events})
			for _, fault := range []Fault{ReapedOnArrival, ReapedInDoubt} {
				if want := c.want != nil && *c.want == fault; faults[fault] > 0 != want {
					t.Errorf("%v is reported %d times, want it: %v", fault, faults[fault], want)
				}
			}
		})
	}
}
