package console

import (
	"bytes"
	"encoding/json"
	"errors"

	"connectrpc.com/connect"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

var jobActions = []action{
	{name: "job-cancel", path: "/jobs/{id}/cancel", Title: "Cancel job", Nav: "jobs", method: "CancelJob", Grave: true, load: loadJobAct, do: cancelJob},
	{name: "job-retry", path: "/jobs/{id}/retry", Title: "Run job again", Nav: "jobs", method: "RetryJob", load: loadJobAct, do: retryJob},
	{name: "job-run", path: "/jobs/{id}/run", Title: "Run job now", Nav: "jobs", method: "RunJob", load: loadJobAct, do: runJob},
	{name: "job-priority", path: "/jobs/{id}/priority", Title: "Change priority", Nav: "jobs", method: "SetJobPriority", load: loadJobAct, do: setJobPriority},
	{name: "job-move", path: "/jobs/{id}/move", Title: "Move job", Nav: "jobs", method: "MoveJob", load: loadJobAct, do: moveJob},
	{name: "job-copy", path: "/jobs/{id}/copy", Title: "Enqueue copy", Nav: "jobs", method: "EnqueueJobs", load: loadJobAct, do: copyJob},
	{name: "job-delete", path: "/jobs/{id}/delete", Title: "Delete job", Nav: "jobs", method: "DeleteJob", Grave: true, load: loadJobAct, do: deleteJob},
}

// jobButtons lists the buttons of a job by its state, in order.
var jobButtons = []button[string]{
	{"retry", "RetryJob", "Run again", false, in("failed", "cancelled")},
	{"run", "RunJob", "Run now", false, in("scheduled")},
	{"priority", "SetJobPriority", "Priority", false, in("scheduled", "parked", "ready", "running", "waiting")},
	{"move", "MoveJob", "Move", false, in("scheduled", "parked", "ready")},
	{"copy", "EnqueueJobs", "Copy and edit", false, in(jobStates...)},
	{"cancel", "CancelJob", "Cancel", false, in("scheduled", "parked", "ready", "running", "waiting")},
	{"delete", "DeleteJob", "Delete", false, in("scheduled", "parked", "ready", "succeeded", "failed", "cancelled", "skipped")},
}

// JobButtons returns the buttons of a job in a state.
func (v *visit) JobButtons(state string) []button[string] { return offered(jobButtons, state) }

// loadJobAct loads the job for a form.
func loadJobAct(v *visit) (any, error) {
	id, err := v.jobID()
	if err != nil {
		return nil, err
	}
	return v.jobs.GetJob(v.ctx, &fairleadv1.GetJobRequest{Id: id})
}

// jobID returns the ID of the page's job.
func (v *visit) jobID() (int64, error) {
	id, isNumber := number(v.Value("id"))
	if !isNumber {
		return 0, connect.NewError(connect.CodeNotFound, errors.New(v.T("A job ID must be a number.")))
	}
	return id, nil
}

// onJob performs an action on the form's job.
func (v *visit) onJob(do func(id int64) error, notice string) (done, error) {
	id, err := v.jobID()
	if err == nil {
		err = do(id)
	}
	return done{Notice: notice}, err
}

func cancelJob(v *visit) (done, error) {
	f := v.fields()
	reason := f.text("reason")
	return v.onJob(func(id int64) error {
		_, err := v.jobs.CancelJob(v.ctx, &fairleadv1.CancelJobRequest{Id: id, Reason: reason})
		return err
	}, v.T("Job %s was cancelled or asked to stop.", "#"+v.Value("id")))
}

func retryJob(v *visit) (done, error) {
	return v.onJob(func(id int64) error {
		_, err := v.jobs.RetryJob(v.ctx, &fairleadv1.GetJobRequest{Id: id})
		return err
	}, v.T("Job %s is ready again.", "#"+v.Value("id")))
}

func runJob(v *visit) (done, error) {
	return v.onJob(func(id int64) error {
		_, err := v.jobs.RunJob(v.ctx, &fairleadv1.GetJobRequest{Id: id})
		return err
	}, v.T("Job %s is now due.", "#"+v.Value("id")))
}

// unchangedJob rejects a form that shows outdated values of a job.
func (v *visit) unchangedJob(f *parameters, shown func(*fairleadv1.Job) map[string]any) error {
	id, err := v.jobID()
	if err != nil {
		return err
	}
	job, err := v.jobs.GetJob(v.ctx, &fairleadv1.GetJobRequest{Id: id})
	if err != nil {
		return err
	}
	v.unchanged(f, shown(job))
	return f.err()
}

func setJobPriority(v *visit) (done, error) {
	f := v.fields()
	priority := f.integer("priority")
	if err := v.unchangedJob(f, func(job *fairleadv1.Job) map[string]any { return map[string]any{"priority": job.GetPriority()} }); err != nil {
		return done{}, err
	}
	return v.onJob(func(id int64) error {
		_, err := v.jobs.SetJobPriority(v.ctx, &fairleadv1.SetJobPriorityRequest{Id: id, Priority: priority})
		return err
	}, v.T("Priority of job %s changed.", "#"+v.Value("id")))
}

func moveJob(v *visit) (done, error) {
	f := v.fields()
	queue := f.text("queue")
	if err := v.unchangedJob(f, func(job *fairleadv1.Job) map[string]any { return map[string]any{"queue": job.GetQueue()} }); err != nil {
		return done{}, err
	}
	return v.onJob(func(id int64) error {
		_, err := v.jobs.MoveJob(v.ctx, &fairleadv1.MoveJobRequest{Id: id, Queue: queue})
		return err
	}, v.T("Job %s was moved to queue %s.", "#"+v.Value("id"), queue))
}

func deleteJob(v *visit) (done, error) {
	result, err := v.onJob(func(id int64) error {
		_, err := v.jobs.DeleteJob(v.ctx, &fairleadv1.GetJobRequest{Id: id})
		return err
	}, v.T("Job %s was deleted.", "#"+v.Value("id")))
	result.To = "/jobs"
	return result, err
}

// copyJob enqueues a job with the values of the form, and otherwise those of the original
// job. It does not copy the key, which the original job may hold.
func copyJob(v *visit) (done, error) {
	id, err := v.jobID()
	if err != nil {
		return done{}, err
	}
	job, err := v.jobs.GetJob(v.ctx, &fairleadv1.GetJobRequest{Id: id})
	if err != nil {
		return done{}, err
	}
	f := v.fields()
	args, whole := restoreUserinfo([]byte(f.text("args")), job.GetArgs())
	switch {
	case len(args) > 0 && !json.Valid(args):
		f.refuse("args", v.T("must be a JSON document"))
	case !whole:
		f.refuse("args", v.T("contain *** instead of the user name and password of another URL; replace it with the actual values"))
	}
	if masked := []byte(`"***"`); bytes.Contains(job.GetArgs(), masked) && bytes.Contains(args, masked) {
		f.refuse("args", v.T("contain a hidden confidential value (***); replace it with the actual value"))
	}
	copied := &fairleadv1.NewJob{
		Kind: job.GetKind(), Args: args, Queue: f.text("queue"), Tenant: job.GetTenant(), Priority: f.integer("priority"), NotBefore: f.time("not_before"),
		Timeout: job.GetTimeout(), MaxAttempts: job.GetMaxAttempts(), Retry: job.GetRetry(), ConcurrencyKey: job.GetConcurrencyKey(), OnCrash: job.GetOnCrash(), OnFail: job.GetOnFail(),
	}
	if err := f.err(); err != nil {
		return done{}, err
	}
	stored, err := v.jobs.EnqueueJobs(v.ctx, &fairleadv1.EnqueueJobsRequest{Jobs: []*fairleadv1.NewJob{copied}})
	if err != nil {
		return done{}, err
	}
	made := text(stored.GetIds()[0])
	return done{Notice: v.T("Job %s was enqueued.", "#"+made), To: "/jobs/" + made}, nil
}
