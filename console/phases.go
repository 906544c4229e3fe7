package console

import (
	"cmp"
	"slices"
	"time"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// phase is a part of a job's life.
type phase struct {
	What     string // a state, or "idle": between runs, for an unknown reason, or "ahead": in the future
	From, To time.Time
	Run      int32  // number of the run; zero = it was not running
	Reason   string // reason why the run did not succeed
	Fence    int64  // fence of the run
	Node     int64  // node of the run
}

func (p phase) length() time.Duration { return p.To.Sub(p.From) }

// pictured limits the number of runs in a timeline; the last ones are shown.
const pictured = 20

// farAway is the time from which on a due time means that the job is queued.
var farAway = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// phasesOf divides a job's life into phases, as far as it is recorded: its runs, and what
// it did before each of them. The due time of a job that is not scheduled is that of its
// first run, because the delays before retries are not stored.
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

// runsOf returns the runs of a job, oldest first: the failed ones, and the current or last
// one.
func runsOf(job *fairleadv1.Job, attempts []*fairleadv1.Attempt, now time.Time) (runs []phase) {
	recorded := false
	for _, attempt := range attempts {
		recorded = recorded || attempt.GetFence() == job.GetFence()
		runs = append(runs, phase{What: "failed", From: moment(attempt.GetStartedAt()), To: moment(attempt.GetFinishedAt()), Run: attempt.GetRun(), Reason: attempt.GetReason(), Fence: attempt.GetFence(), Node: attempt.GetNode()})
	}
	if started := moment(job.GetStartedAt()); !started.IsZero() && !recorded {
		end := moment(job.GetFinishedAt())
		if end.IsZero() {
			end = now
		}
		runs = append(runs, phase{What: job.GetState(), From: started, To: end, Run: job.GetAttempt(), Reason: job.GetReason(), Fence: job.GetFence(), Node: job.GetNode()})
	}
	slices.SortStableFunc(runs, func(a, b phase) int { return cmp.Or(a.From.Compare(b.From), cmp.Compare(a.Run, b.Run)) })
	for i := range runs { // the database's clock may have been set back
		if runs[i].To.Before(runs[i].From) {
			runs[i].To = runs[i].From
		}
	}
	return runs
}

// gap returns the phases between two times: before the due time, and then the given phase.
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

// rest returns the phases after the last run, until now and ahead.
func rest(job *fairleadv1.Job, at, due, now time.Time, what string) []phase {
	switch job.GetState() {
	case "running":
		return nil
	case "waiting":
		return gap(now, moment(job.GetDeadline()), time.Time{}, "ahead")
	case "scheduled":
		if due.After(farAway) { // the due time is only a placeholder
			due = now
		}
		return append(gap(at, now, time.Time{}, "scheduled"), gap(now, due, time.Time{}, "ahead")...)
	case "parked":
		return gap(at, now, due, "parked")
	case "ready":
		return gap(at, now, due, what)
	}
	end := moment(job.GetFinishedAt())
	if due.After(end) { // ended before the due time
		what = "scheduled"
	}
	return gap(at, end, due, what)
}
