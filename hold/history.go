package hold

import (
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
)

// A History describes what a job waited for.
type History struct {
	ID        int64
	State     fairlead.State
	At        time.Time // the database's clock
	Stretches []Stretch // in chronological order; empty while the job is not due
}

// A Stretch is a period during which the causes of a job's wait did not change.
type Stretch struct {
	From   time.Time
	Until  time.Time // zero = the job still waits
	Run    int       // number of the run that the job waited for, starting at 1
	Causes []fairlead.Obstacle
}

// Past contains the data from which Derive computes a history.
type Past struct {
	Job       *fairlead.Job
	Attempts  []fairlead.Attempt
	Holds     []Hold // all holds of the job's lane and gate while it waited
	LookState LookState
	Nodes     []fairlead.Node
}

// Derive computes what a job waited for. For times without a matching hold, it reports that
// other jobs went first.
func Derive(past Past) History {
	h := History{ID: past.Job.ID, State: past.Job.State, At: past.LookState.Now}
	holds := slices.Clone(past.Holds)
	past.LookState.EndUnseen(holds)
	holds = append(holds, past.unseen()...)
	for _, w := range past.waits() {
		h.Stretches = append(h.Stretches, w.stretches(holds)...)
	}
	if last := len(h.Stretches) - 1; last >= 0 && past.waitsNow() {
		h.Stretches[last].Until = time.Time{}
	}
	return h
}

// Waited returns the period in which the job waited: from its first due time until its last
// start, or until now if it still waits.
func (p *Past) Waited() (from, until time.Time) {
	waits := p.waits()
	if len(waits) == 0 {
		return time.Time{}, time.Time{}
	}
	return waits[0].from, waits[len(waits)-1].until
}

// unseen returns the periods without records: before the first look, or the oldest one
// retained, and after the last look.
func (p *Past) unseen() []Hold {
	s := p.LookState
	if s.Version == 0 {
		return []Hold{{Cause: Cause{Code: Unrecorded}}}
	}
	unseen := []Hold{{Cause: Cause{Code: Unrecorded}, Until: s.Since}}
	if s.Blind(s.Now) {
		unseen = append(unseen, Gaps(s.At, s.Now, p.Nodes)...)
	}
	return unseen
}

// waitsNow reports whether the job has yet to start.
func (p *Past) waitsNow() bool {
	return p.Job.State == fairlead.Ready || p.Job.State == fairlead.Parked
}

// A wait is a period in which a job waited for a run.
type wait struct {
	from, until time.Time
	run         int
	start       start
}

// A start describes how a wait began. The end of that part is not stored.
type start int

const (
	atOnce     start = iota // the job was in line from the beginning
	backingOff              // the delay of a retry
	lastEnded               // the job had ended, until it was run again
)

// waits returns the periods from each due time to the following start, or to now.
func (p *Past) waits() []wait {
	var waits []wait
	from, last, begin := p.due(), 0, atOnce
	add := func(until time.Time, run int) {
		if from.Before(until) {
			waits = append(waits, wait{from, until, run, begin})
		}
	}
	end := p.lastEnd()
	for i, a := range p.Attempts {
		add(a.StartedAt, a.Run)
		from, last, begin = a.FinishedAt, a.Run, backingOff
		switch {
		case i == end || slices.Contains(endings, a.Reason):
			begin = lastEnded
		case a.Reason == fairlead.ReasonCrash || a.Reason == fairlead.ReasonLeaseLost: // such jobs are ready immediately
			begin = atOnce
		}
	}
	job := p.Job
	switch {
	case p.waitsNow():
		add(p.LookState.Now, job.Attempt+1)
	case job.State == fairlead.Scheduled:
	case job.Attempt > last && !job.StartedAt.IsZero():
		add(job.StartedAt, job.Attempt)
	case job.Attempt == 0 && job.State.Final(): // ended before its first run
		add(job.FinishedAt, 1)
	}
	return waits
}

// endings are the reasons after which a job is not retried on its own. failings count against
// its MaxAttempts.
var (
	endings  = []fairlead.Reason{fairlead.ReasonFatal, fairlead.ReasonPoison, fairlead.ReasonReplaced}
	failings = []fairlead.Reason{fairlead.ReasonError, fairlead.ReasonFatal, fairlead.ReasonPanic, fairlead.ReasonTimeout, fairlead.ReasonDeadline}
)

// lastEnd returns the index of the failed attempt that last ended the job before it was run
// again, or -1. Running a job again resets its failures, so that attempt is the last one that
// the job no longer counts.
func (p *Past) lastEnd() int {
	later := 0
	for i, a := range slices.Backward(p.Attempts) {
		if !slices.Contains(failings, a.Reason) {
			continue
		}
		if later == p.Job.Failures {
			return i
		}
		later++
	}
	return -1
}

// due returns the first due time of the job. After a failed run, NotBefore is the due time
// of the retry instead.
func (p *Past) due() time.Time {
	due := p.Job.CreatedAt
	if p.Job.NotBefore.After(due) && (len(p.Attempts) == 0 || !p.Job.NotBefore.After(p.Attempts[0].StartedAt)) {
		due = p.Job.NotBefore
	}
	return due
}

// stretches splits a wait at the times when holds began or ended.
func (w wait) stretches(holds []Hold) []Stretch {
	cuts := []time.Time{w.from, w.until}
	for _, h := range holds {
		for _, cut := range []time.Time{h.From, h.Until} {
			if cut.After(w.from) && cut.Before(w.until) {
				cuts = append(cuts, cut)
			}
		}
	}
	slices.SortFunc(cuts, time.Time.Compare)
	cuts = slices.CompactFunc(cuts, time.Time.Equal)
	var stretches []Stretch
	var last []Hold
	for i, from := range cuts[:len(cuts)-1] {
		until, found := cuts[i+1], during(holds, from)
		if n := len(stretches) - 1; n >= 0 && slices.EqualFunc(found, last, Hold.continues) {
			stretches[n].Until = until
			continue
		}
		stretches, last = append(stretches, Stretch{From: from, Until: until, Run: w.run, Causes: w.obstacles(found)}), found
	}
	return stretches
}

// during returns the holds at an instant, each cause once, in the order in which a claim
// would find them. In periods without records, the list may be incomplete.
func during(holds []Hold, at time.Time) []Hold {
	var found []Hold
	for _, h := range holds {
		if !h.From.After(at) && (h.Until.IsZero() || h.Until.After(at)) && !slices.ContainsFunc(found, func(other Hold) bool { return other.Cause == h.Cause }) {
			found = append(found, h)
		}
	}
	slices.SortStableFunc(found, func(a, b Hold) int { return compareCauses(a.Cause, b.Cause) })
	return found
}

// continues reports whether the hold says the same as another one, although it may have begun
// at another time.
func (h Hold) continues(other Hold) bool { return h.Cause == other.Cause && h.Cap == other.Cap }

// obstacles converts holds to the form shown to users.
func (w wait) obstacles(holds []Hold) []fairlead.Obstacle {
	if len(holds) == 0 {
		switch w.start {
		case backingOff:
			return []fairlead.Obstacle{{Code: fairlead.NotDue, Text: "it backed off after a failed run, and may have been in line"}}
		case lastEnded:
			return []fairlead.Obstacle{{Code: Unrecorded, Text: "the job had ended, and may have been in line after it was run again"}}
		}
		return []fairlead.Obstacle{{Code: fairlead.InLine, Text: "it was in line or about to start"}}
	}
	obstacles := make([]fairlead.Obstacle, len(holds))
	for i, h := range holds {
		obstacles[i] = fairlead.Obstacle{Code: h.Code, Scope: h.Scope, Name: h.Name(), Used: h.Used, Cap: h.Cap, Text: h.Text()}
	}
	return obstacles
}
