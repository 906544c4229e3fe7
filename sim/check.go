package sim

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead"
)

// Record contains everything that is known about a finished run.
type Record struct {
	Lease    time.Duration     // lease of the nodes
	Beat     time.Duration     // heartbeat interval of the nodes
	Pause    time.Duration     // delay between a failed run of a job and the next
	Patience time.Duration     // tolerance for recovery, in addition to two leases
	Crashes  int               // number of node deaths that makes a job poison
	Expected map[int64]Ending  // all enqueued jobs, with the ends according to their plans
	Due      map[int64]Instant // due time by the database's clock, before which a job must not be claimed; jobs that are due immediately are left out
	Caps     Caps
	Tenants  map[int64]string // tenant of each job
	Events   []Event          // events of all histories, ordered by time
	Older    []string         // processes of another version, which may record fewer events
	Samples  []Sample         // snapshots of the database during the run, in order
	Final    []Final          // final contents of the database

	Schedules []int64 // stored schedules
	Span      Span    // period in which they were due
	Fires     []Fired // runs of the schedules

	Hold    time.Duration // maximum duration of callers' transactions; zero = no callers
	Batches []EndedBatch
	Swept   *SweepRecord // nil = no sweep
}

// Ending is the end of a job.
type Ending struct {
	State  fairlead.State
	Reason fairlead.Reason
}

// Final is the final state of a job.
type Final struct {
	Ending
	Job      int64
	Fence    int64
	Attempt  int
	Failures int     // number of runs that counted as failed
	Progress int64   // fence under which the progress was reported; 0 = no progress, -1 = reported by a worker that does not include the fence
	Finished Instant // by the database's clock
	Other    bool    // the job has no plan: it is a task of a batch, or processes a shard
}

// Sample is a snapshot of the database during the run.
type Sample struct {
	DB      Instant
	Jobs    int64 // number of jobs in all states together
	Running map[int64]int64
	Idle    int // free slots of live nodes, as last reported
}

// Violation is a violation of a rule.
type Violation struct {
	Fault
	Job  int64 // zero if the violation does not concern a single job
	Text string
}

// String returns a description that starts with the rule and the fault.
func (v Violation) String() string {
	if v.Job == 0 {
		return fmt.Sprintf("%v: %s", v.Fault, v.Text)
	}
	return fmt.Sprintf("%v: job %d: %s", v.Fault, v.Job, v.Text)
}

// Verdict is the result of Check.
type Verdict struct {
	Violations []Violation
	Figures    Figures
}

// Of returns the violations that are judged by the given basis.
func (v Verdict) Of(basis Basis) []Violation {
	return slices.DeleteFunc(slices.Clone(v.Violations), func(v Violation) bool { return v.Basis() != basis })
}

// Check checks a run against all rules.
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

// check is the state of Check.
type check struct {
	Record
	stories    map[int64]*story
	leases     leases
	kills      []Event
	resumes    []Event
	replaced   map[int64]bool // jobs that their schedules have replaced by the next run
	figures    Figures
	violations []Violation
}

func (c *check) violated(fault Fault, job int64, format string, args ...any) {
	c.violations = append(c.violations, Violation{Fault: fault, Job: job, Text: fmt.Sprintf(format, args...)})
}

// story contains the events of one job.
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

// jobs returns the jobs that have a story.
func (c *check) jobs() []int64 {
	jobs := make([]int64, 0, len(c.stories))
	for job := range c.stories {
		jobs = append(jobs, job)
	}
	slices.Sort(jobs)
	return jobs
}

// firstAsked returns the time at which the settlement of a lease was first sent.
func (s *story) firstAsked(fence int64) (Instant, bool) {
	for _, e := range s.asked {
		if e.Fence == fence {
			return e.At, true
		}
	}
	return 0, false
}

// laterClaim returns the first known claim with a larger fence.
func (s *story) laterClaim(fence int64) (Event, bool) {
	var first Event
	for _, e := range s.claims {
		if e.Fence > fence && (first.At == 0 || e.At < first.At) {
			first = e
		}
	}
	return first, first.At != 0
}

// longestTale limits the number of events of a job in a report.
const longestTale = 20

// Tale returns the last events of a job, for a report. It returns an empty string for
// violations that do not concern a job.
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
