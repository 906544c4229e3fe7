package sim

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead"
)

// Record is all that is known of a run when it is over.
type Record struct {
	Lease    time.Duration     // of the nodes
	Beat     time.Duration     // how often they confirm it
	Pause    time.Duration     // between a failed run of a job and the next
	Patience time.Duration     // how much later than two leases a recovery may be
	Crashes  int               // node deaths at which a job is poison
	Expected map[int64]Ending  // every job that was enqueued, and how its plan ends
	Due      map[int64]Instant // the database's clock: before this a job must not be claimed; jobs that are due at once are left out
	Caps     Caps
	Tenants  map[int64]string // whose each job is
	Events   []Event          // all histories, ordered by time
	Older    []string         // processes of another version, which may note less than those of this one
	Samples  []Sample         // what the database showed meanwhile, in order
	Final    []Final          // what the database holds in the end

	Schedules []int64 // that were stored
	Span      Span    // in which they were due
	Fires     []Fired // their runs

	Hold    time.Duration // how long callers left transactions open, at most; zero: there were none
	Batches []EndedBatch
	Swept   *SweepRecord // nil: there was no sweep
}

// Ending is how a job ends.
type Ending struct {
	State  fairlead.State
	Reason fairlead.Reason
}

// Final is where a job stands in the end.
type Final struct {
	Ending
	Job      int64
	Fence    int64
	Attempt  int
	Failures int     // runs that counted as failed
	Progress int64   // the fence under which its progress was reported; 0: there is none, -1: by a worker that does not tell
	Finished Instant // the database's clock
	Other    bool    // it has no plan: it is a task of a batch, or goes over a shard
}

// Sample is one look at the database during the run.
type Sample struct {
	DB      Instant
	Jobs    int64 // in all states together
	Running map[int64]int64
	Idle    int // free slots of the living nodes, as they last reported
}

// Violation is one broken rule.
type Violation struct {
	Fault
	Job  int64 // zero if it is not about one job
	Text string
}

// String names the rule and the fault first.
func (v Violation) String() string {
	if v.Job == 0 {
		return fmt.Sprintf("%v: %s", v.Fault, v.Text)
	}
	return fmt.Sprintf("%v: job %d: %s", v.Fault, v.Job, v.Text)
}

// Verdict is what Check found.
type Verdict struct {
	Violations []Violation
	Figures    Figures
}

// Of returns the violations that are judged by a basis.
func (v Verdict) Of(basis Basis) []Violation {
	return slices.DeleteFunc(slices.Clone(v.Violations), func(v Violation) bool { return v.Basis() != basis })
}

// Check judges a run.
func Check(r Record) Verdict {
	c := &check{Record: r, stories: map[int64]*story{}, leases: leasesOf(r), replaced: map[int64]bool{}}
	for _, f := range r.Final {
		c.replaced[f.Job] = f.Reason == fairlead.ReasonReplaced
	}
	for _, e := range r.Events {
		switch e.What {
		case Killed:
			c.kills = append(c.kills, e)
		case Resumed:
			c.resumes = append(c.resumes, e)
		}
		c.tell(e)
	}
	for _, s := range c.stories {
		s.order()
	}
	c.figures.count(r)
	c.nothingLost()
	for _, job := range c.jobs() {
		s := c.stories[job]
		c.fencesGrow(job, s)
		c.startsClaimed(job, s)
		c.oneLiveLease(job, s)
		c.zombiesRefused(job, s)
		c.livingBelieved(job, s)
	}
	c.recovery()
	c.patientReapers()
	c.neverEarly()
	c.onePlace()
	c.capsKept()
	c.gatesKept()
	c.oneRunEach()
	c.batchesWhole()
	c.othersAdvance()
	c.callersKept()
	if r.Swept != nil {
		c.violations = append(c.violations, CheckSweep(*r.Swept)...)
	}
	return Verdict{Violations: c.violations, Figures: c.figures}
}

// check is a judgement under way.
type check struct {
	Record
	stories    map[int64]*story
	leases     leases
	kills      []Event
	resumes    []Event
	replaced   map[int64]bool // jobs in whose place their schedule has put the next run
	figures    Figures
	violations []Violation
}

func (c *check) violated(fault Fault, job int64, format string, args ...any) {
	c.violations = append(c.violations, Violation{Fault: fault, Job: job, Text: fmt.Sprintf(format, args...)})
}

// story is what happened to one job.
type story struct {
	claims   []Event // by fence
	starts   []Event
	ends     []Event
	asked    []Event
	answers  []Event
	saves    []Event
	holdings []Event
}

func (c *check) tell(e Event) {
	if e.Job == 0 {
		return
	}
	s := c.stories[e.Job]
	if s == nil {
		s = &story{}
		c.stories[e.Job] = s
	}
	switch e.What {
	case Claimed:
		s.claims = append(s.claims, e)
	case Started:
		s.starts = append(s.starts, e)
	case Ended:
		s.ends = append(s.ends, e)
	case Asked:
		s.asked = append(s.asked, e)
	case Settled:
		s.answers = append(s.answers, e)
	case Saved:
		s.saves = append(s.saves, e)
	case Holding:
		s.holdings = append(s.holdings, e)
	}
}

func (s *story) order() {
	slices.SortStableFunc(s.claims, func(a, b Event) int { return cmp.Compare(a.Fence, b.Fence) })
}

// jobs lists the jobs that have a story.
func (c *check) jobs() []int64 {
	jobs := make([]int64, 0, len(c.stories))
	for job := range c.stories {
		jobs = append(jobs, job)
	}
	slices.Sort(jobs)
	return jobs
}

// firstAsked is when the settlement of a lease was first sent.
func (s *story) firstAsked(fence int64) (Instant, bool) {
	for _, e := range s.asked {
		if e.Fence == fence {
			return e.At, true
		}
	}
	return 0, false
}

// laterClaim is the first known claim under a larger fence.
func (s *story) laterClaim(fence int64) (Event, bool) {
	var first Event
	for _, e := range s.claims {
		if e.Fence > fence && (first.At == 0 || e.At < first.At) {
			first = e
		}
	}
	return first, first.At != 0
}

// longestTale is how many events of a job a report lists.
const longestTale = 20

// Tale lists the last events of a job, for a report about it. Violations that are about no
// job have none.
func Tale(events []Event, job int64) string {
	var lines []string
	for _, e := range events {
		if e.Job == job && job != 0 {
			lines = append(lines, "  "+e.String())
		}
	}
	if left := len(lines) - longestTale; left > 0 {
		lines = append([]string{fmt.Sprintf("  (%d events before)", left)}, lines[left:]...)
	}
	return strings.Join(lines, "\n")
}
