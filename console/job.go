package console

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"connectrpc.com/connect"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// attemptRows limits the number of listed runs; the last ones are listed.
const attemptRows = 100

// jobPage shows one job.
type jobPage struct {
	Job        *fairleadv1.Job
	Why        *why // nil = nothing to explain
	Timeline   *jobTimeline
	Waited     *waited // nil = it has not waited
	Attempts   []*fairleadv1.Attempt
	FirstStart time.Time // start of the first attempt; zero if it has none or it is not recorded
	Earlier    bool      // whether there were more attempts than listed
	Call       *httpCall
	Sweep      string // sweep whose shard the job processes; empty = none
	Shard      int64
	Made       struct{ Schedule, Batch, Sweep string } // names or IDs of the objects that created the job
	Trace      string
	nodes      map[int64]string
}

func loadJob(v *visit) (any, error) {
	if err := v.parameters().err(); err != nil {
		return nil, err
	}
	id, isNumber := number(v.Value("id"))
	if !isNumber {
		return nil, connect.NewError(connect.CodeNotFound, errors.New(v.T("A job ID must be a number.")))
	}
	job, err := v.jobs.GetJob(v.ctx, &fairleadv1.GetJobRequest{Id: id})
	if err != nil {
		return nil, err
	}
	p := &jobPage{Job: job, Call: callOf(job), Trace: traceID(job.GetTrace())}
	attempts, err := v.jobs.ListAttempts(v.ctx, &fairleadv1.GetJobRequest{Id: id})
	if err != nil {
		return nil, err
	}
	p.FirstStart = firstStart(job, attempts.GetItems())
	p.Attempts = slices.Clone(attempts.GetItems())
	if n := len(p.Attempts) - attemptRows; n > 0 {
		p.Attempts, p.Earlier = p.Attempts[n:], true
	}
	slices.Reverse(p.Attempts)
	if p.nodes, err = v.nodeNames(); err != nil {
		return nil, err
	}
	if p.Why, err = v.whyNot(job); err != nil {
		return nil, err
	}
	if p.Waited, err = v.waitedFor(job); err != nil {
		return nil, err
	}
	if err := v.nameMakers(p); err != nil {
		return nil, err
	}
	p.Timeline = v.timelineOf(p, attempts.GetItems())
	return p, nil
}

// NodeOf returns the name of a node, with a link to its page.
func (v *visit) NodeOf(p *jobPage, id int64) link { return v.nodeLink(p.nodes, id) }

// nameMakers determines the names of the schedule, batch or sweep that created a job. If
// one was deleted or is not visible to the viewer, its ID is used.
func (v *visit) nameMakers(p *jobPage) (err error) {
	if id := p.Job.GetScheduleId(); id != 0 {
		p.Made.Schedule, err = v.scheduleName(id)
	}
	if id := p.Job.GetBatchId(); id != 0 && err == nil {
		batch, failed := v.batches.GetBatch(v.ctx, &fairleadv1.GetBatchRequest{Id: id})
		p.Made.Batch, err = calledOr(batch.GetName(), id, failed)
	}
	p.Sweep, p.Shard = shardOf(p.Job)
	if p.Sweep != "" && err == nil {
		sweep, failed := v.sweeps.GetSweep(v.ctx, &fairleadv1.GetSweepRequest{Id: p.Sweep})
		p.Made.Sweep, err = calledOr(sweep.GetName(), p.Sweep, failed)
	}
	return err
}

// scheduleName returns the display name of a schedule.
func (v *visit) scheduleName(id int64) (string, error) {
	schedule, err := v.schedules.GetSchedule(v.ctx, &fairleadv1.GetScheduleRequest{Id: text(id)})
	return calledOr(schedule.GetName(), id, err)
}

// calledOr returns a name, or an ID if the object has no name, was deleted or is not
// visible.
func calledOr(name string, id any, err error) (string, error) {
	switch connect.CodeOf(err) {
	case connect.CodeNotFound, connect.CodePermissionDenied:
		return "#" + text(id), nil
	}
	if name == "" {
		name = "#" + text(id)
	}
	return name, err
}

// shardOf returns the sweep and the number of the shard that a job processes. Only Fairlead
// creates jobs of these kinds.
func shardOf(job *fairleadv1.Job) (sweep string, shard int64) {
	var args struct {
		Sweep int64 `json:"sweep_id"`
		Shard int64 `json:"shard"`
	}
	if !strings.HasPrefix(job.GetKind(), "sweep.") || json.Unmarshal(job.GetArgs(), &args) != nil || args.Sweep == 0 {
		return "", 0
	}
	return text(args.Sweep), args.Shard
}

// traceID returns the trace ID in a W3C traceparent, which is between the version and the
// span ID, or an empty string if the traceparent is invalid.
func traceID(traceparent string) string {
	parts := strings.Split(traceparent, "-")
	if len(parts) < 4 || len(parts[1]) != 32 || strings.Trim(parts[1], "0123456789abcdef") != "" {
		return ""
	}
	return parts[1]
}

// Due returns the time at which a job became or becomes due, or zero if it waits for an
// earlier run.
func (v *visit) Due(job *fairleadv1.Job) time.Time {
	due := moment(job.GetNotBefore())
	switch {
	case due.IsZero():
		return moment(job.GetCreatedAt())
	case due.After(farAway):
		return time.Time{}
	}
	return due
}

// Took returns the duration of the current or last run so far.
func (v *visit) Took(job *fairleadv1.Job) time.Duration {
	end := moment(job.GetFinishedAt())
	if end.IsZero() {
		end = v.Now
	}
	return max(0, end.Sub(moment(job.GetStartedAt())))
}

// TookSoFar returns the duration of a current run in full seconds.
func (v *visit) TookSoFar(job *fairleadv1.Job) time.Duration {
	return v.Took(job).Truncate(time.Second)
}

// TookAttempt returns the duration of an attempt.
func (v *visit) TookAttempt(attempt *fairleadv1.Attempt) time.Duration {
	return max(0, moment(attempt.GetFinishedAt()).Sub(moment(attempt.GetStartedAt())))
}

// Lateness returns the delay between the intended and the actual start of the job's first
// attempt, or "" if either is unknown. The intended start is the instant of its schedule,
// or the due time of the job.
func (v *visit) Lateness(p *jobPage) string {
	due := moment(p.Job.GetDue())
	if due.IsZero() {
		due = v.Due(p.Job)
	}
	if p.FirstStart.IsZero() || due.After(p.FirstStart) { // the due time of a retry
		return ""
	}
	return v.Dur(p.FirstStart.Sub(due))
}

// firstStart returns the start of a job's first attempt, or zero if it is not recorded.
func firstStart(job *fairleadv1.Job, attempts []*fairleadv1.Attempt) time.Time {
	if job.GetAttempt() == 1 {
		return moment(job.GetStartedAt())
	}
	if len(attempts) > 0 && attempts[0].GetRun() == 1 {
		return moment(attempts[0].GetStartedAt())
	}
	return time.Time{}
}

// findJobs finds a job by ID, and the newest jobs with a key.
func findJobs(v *visit, f *finding) error {
	add := func(job *fairleadv1.Job) {
		f.exactly("#"+text(job.GetId())+" "+job.GetKind(), v.T("job"), v.To("/jobs", job.GetId()))
	}
	if id, isNumber := number(strings.TrimPrefix(f.query, "#")); isNumber {
		job, err := v.jobs.GetJob(v.ctx, &fairleadv1.GetJobRequest{Id: id})
		if err := found(err); err != nil {
			return err
		}
		if job != nil {
			add(job)
		}
	}
	keyed, err := v.jobs.ListJobs(v.ctx, &fairleadv1.ListJobsRequest{Key: f.query, PageSize: findRows})
	for _, job := range keyed.GetItems() {
		add(job)
	}
	return found(err)
}
