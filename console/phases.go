package console

import (
	"cmp"
	"slices"
	"time"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// phase is a stretch of a job's life.
type phase struct {
	What     string // a state; "idle": between runs, for which reason is not known; "ahead": has not come yet
	From, To time.Time
	Run      int32  // number of the run; zero: it did not run
	Reason   string // why the run did not succeed
}

func (p phase) length() time.Duration { return p.To.Sub(p.From) }

// pictured is how many runs a picture shows, the last ones.
const pictured = 40

// farAway is from when on a due time stands for none: the job is queued.
var farAway = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// phasesOf tells a job's life apart, as far as it is recorded: its runs, and what it did
// before each of them. The due time of a job that is not scheduled is that of its first
// run: for how long it backed off before a later one is not kept.
func phasesOf(job *fairleadv1.Job, attempts []*fairleadv1.Attempt, now time.Time) []phase {
	runs := runsOf(job, attempts, now)
	at, due, what := moment(job.GetCreatedAt()), moment(job.GetNotBefore()), "ready"
	if skip := len(runs) - pictured; skip > 0 {
		at, what, runs = runs[skip-1].To, "idle", runs[skip:]
	}
	var all []phase
	for _, run := range runs {
		all = append(all, gap(at, run.From, due, what)...)
		all, at, what = append(all, run), run.To, "idle"
	}
	return append(all, rest(job, at, due, now, what)...)
}

// runsOf are the runs of a job, oldest first: those that failed, and the current or last.
func runsOf(job *fairleadv1.Job, attempts []*fairleadv1.Attempt, now time.Time) (runs []phase) {
	recorded := false
	for _, attempt := range attempts {
		recorded = recorded || attempt.GetFence() == job.GetFence()
		runs = append(runs, phase{What: "failed", From: moment(attempt.GetStartedAt()), To: moment(attempt.GetFinishedAt()), Run: attempt.GetRun(), Reason: attempt.GetReason()})
	}
	if started := moment(job.GetStartedAt()); !started.IsZero() && !recorded {
		end := moment(job.GetFinishedAt())
		if end.IsZero() {
			end = now
		}
		runs = append(runs, phase{What: job.GetState(), From: started, To: end, Run: job.GetAttempt(), Reason: job.GetReason()})
	}
	slices.SortStableFunc(runs, func(a, b phase) int { return cmp.Or(a.From.Compare(b.From), cmp.Compare(a.Run, b.Run)) })
	for i := range runs { // clocks of databases may be set back
		if runs[i].To.Before(runs[i].From) {
			runs[i].To = runs[i].From
		}
	}
	return runs
}

// gap is what a job did between two times: it was not due, and then was what is said.
func gap(from, to, due time.Time, what string) (all []phase) {
	if due.After(from) && due.Before(to) {
		all = append(all, phase{What: "scheduled", From: from, To: due})
		from = due
	}
	if to.After(from) {
		all = append(all, phase{What: what, From: from, To: to})
	}
	return all
}

// rest is what follows the last run: until now, and what is still ahead.
func rest(job *fairleadv1.Job, at, due, now time.Time, what string) []phase {
	switch job.GetState() {
	case "running":
		return nil
	case "waiting":
		return gap(now, moment(job.GetDeadline()), time.Time{}, "ahead")
	case "scheduled":
		if due.After(farAway) { // it has no time of its own
			due = now
		}
		return append(gap(at, now, time.Time{}, "scheduled"), gap(now, due, time.Time{}, "ahead")...)
	case "parked":
		return gap(at, now, due, "parked")
	case "ready":
		return gap(at, now, due, what)
	}
	end := moment(job.GetFinishedAt())
	if due.After(end) { // it ended before it was due
		what = "scheduled"
	}
	return gap(at, end, due, what)
}
