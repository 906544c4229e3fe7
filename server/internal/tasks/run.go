package tasks

import (
	"encoding/json"
	"strings"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/httpcall"
	"github.com/fairlead-io/fairlead/internal/mask"
	"github.com/fairlead-io/fairlead/internal/message"
	"github.com/fairlead-io/fairlead/schedule"
)

// skipReasons maps reasons for skipped runs to the names used by tasks.
var skipReasons = map[schedule.SkipReason]string{
	schedule.SkipOverlap: "OVERLAP_SKIP", schedule.SkipFailure: "FAILURE_SKIP", schedule.SkipConcurrency: "CONCURRENT_SKIP",
}

// runOf converts a run of a schedule and its job to a task run. It masks confidential
// fields of the job.
func runOf(all fairlead.Confidential, fire schedule.Fire, job *fairlead.Job) *fairleadv1.TaskRun {
	kept, call := snapshotOf(job)
	fields := mask.Fields(all, job.Kind, job.Args)
	secrets := mask.Secrets(fields, mask.Job{Args: job.Args, Output: job.Output, Progress: job.Progress, Reported: job.Told, Memo: job.Memo})
	for _, document := range []string{"output", "progress"} {
		call.Request = secrets.Document(mask.Within(fields, document+".request", document), document, call.Request)
		call.Response = secrets.Document(mask.Within(fields, document+".response", document), document, call.Response)
	}
	run := &fairleadv1.TaskRun{
		Id: job.ID, TaskId: fire.Schedule, ScheduledTime: message.Time(fire.Due), Trigger: strings.ToUpper(string(fire.Trigger)),
		Status: statusOf(job, kept.ErrorClass), SkipReason: skipReasons[fire.Skip], Attempt: int32(fire.Number),
		StartedAt: message.Time(job.StartedAt), FinishedAt: message.Time(job.FinishedAt),
		HttpStatus: int32(kept.Status), ErrorClass: string(classOf(job, kept)), TraceId: fairlead.TraceID(job.Trace), Tenant: job.Tenant,
		Request: call.Request, Response: call.Response,
	}
	if fire.Skip == "" {
		run.Error = secrets.Text(job.Error)
	}
	if !job.StartedAt.IsZero() && !job.FinishedAt.IsZero() {
		took := float64(job.FinishedAt.Sub(job.StartedAt).Milliseconds())
		run.DurationMs = &took
	}
	return run
}

// messages contains the stored request and response of a call.
type messages struct {
	Request  json.RawMessage `json:"request"`
	Response json.RawMessage `json:"response"`
}

// snapshotOf returns the stored record of a job's last call. If a callback answered the
// job, the output is the callback's and the record is in the progress; if the call
// succeeded immediately, the record is in the output.
func snapshotOf(job *fairlead.Job) (kept httpcall.Snapshot, call messages) {
	raw := job.Progress
	if asked, err := callOf(job); job.State == fairlead.Succeeded && err == nil && !asked.Async {
		raw = job.Output
	}
	if len(raw) == 0 || json.Unmarshal(raw, &kept) != nil || json.Unmarshal(raw, &call) != nil {
		return httpcall.Snapshot{}, messages{} // no call was made, or the job is of another kind
	}
	return kept, call
}

// statusOf returns the task status for the state of a job.
func statusOf(job *fairlead.Job, class httpcall.Class) string {
	switch job.State {
	case fairlead.Running:
		return "RUNNING"
	case fairlead.Waiting:
		return "CALLBACK_PENDING"
	case fairlead.Succeeded:
		return "SUCCESS"
	case fairlead.Cancelled:
		return "CANCELED"
	case fairlead.Skipped:
		return "SKIPPED"
	case fairlead.Failed:
		switch {
		case job.Reason == fairlead.ReasonDeadline:
			return "FAILED_TIMEOUT"
		case job.Reason == fairlead.ReasonTimeout || class == httpcall.ClassTimeout:
			return "TIMEOUT"
		}
		return "FAILED"
	default: // waits for its time, for a place, or for an earlier run
		return "SCHEDULED"
	}
}

// classOf returns the class of a failure, including failures outside the call itself.
func classOf(job *fairlead.Job, kept httpcall.Snapshot) httpcall.Class {
	switch {
	case kept.ErrorClass != "":
		return kept.ErrorClass
	case job.Reason == fairlead.ReasonDeadline, job.Reason == fairlead.ReasonTimeout:
		return httpcall.ClassTimeout
	case job.State == fairlead.Cancelled:
		return httpcall.ClassCanceled
	}
	return ""
}
