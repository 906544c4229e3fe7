package alert

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/mask"
	"github.com/fairlead-io/fairlead/internal/reserved"
)

// Properties of messages. The kind is the one of package httpcall. The two packages do not
// depend on each other.
const (
	messageKind     = "http"
	messageAttempts = 10

	mostExamples = 10
	maxErrorText = 500 // in bytes
)

// messageBody is the request body for rules without a template of their own.
const messageBody = `{"event":{{args.event}},"alert":{{args.alert}},"scope":{{args.scope}},"at":{{args.at}},` +
	`"count":{{args.count}},"since":{{args.since}},"groups":{{args.groups}},"examples":{{args.examples}},` +
	`"ready":{{args.ready}},"oldest_wait":{{args.oldest_wait}},"backlog":{{args.backlog}}}`

// An Occasion is the content of a message. Templates can use each of its fields, as in
// {{args.event}}. Fields that do not apply to the event are null.
type Occasion struct {
	Event Event  `json:"event"`
	Alert string `json:"alert"`
	Scope Scope  `json:"scope"`
	At    string `json:"at"`

	Count    *int64    `json:"count"` // jobs since the last message
	Since    *string   `json:"since"` // lower bound for the time of the earliest of these events, accurate to ten seconds
	Groups   []Group   `json:"groups"`
	Examples []Example `json:"examples"` // failed jobs, newest first

	Ready      *int    `json:"ready"`
	OldestWait *string `json:"oldest_wait"`
	Backlog    *string `json:"backlog"` // threshold of the rule

	from time.Time // start of the period in which to search for examples
}

// An Example describes one of the failed jobs that a message reports.
type Example struct {
	ID         string          `json:"id"`
	Kind       string          `json:"kind"`
	Queue      string          `json:"queue"`
	Tenant     string          `json:"tenant"`
	Key        string          `json:"key,omitempty"`
	Attempt    int             `json:"attempt"`
	Reason     fairlead.Reason `json:"reason,omitempty"`
	Error      string          `json:"error,omitempty"`
	FinishedAt string          `json:"finished_at"`
}

// exampleOf returns the part of a job that messages include. The error is masked before it
// is truncated.
func exampleOf(all fairlead.Confidential, job *fairlead.Job) Example {
	text := mask.Secrets(mask.Fields(all, job.Kind, job.Args), mask.Job{
		Args: job.Args, Output: job.Output, Progress: job.Progress, Reported: job.Told, Memo: job.Memo,
	}).Text(job.Error)
	if len(text) > maxErrorText {
		text = strings.ToValidUTF8(text[:maxErrorText], "") + " …"
	}
	return Example{
		ID: strconv.FormatInt(job.ID, 10), Kind: job.Kind, Queue: job.Queue, Tenant: job.Tenant, Key: job.Key, Attempt: job.Attempt,
		Reason: job.Reason, Error: text, FinishedAt: *alertTime(job.FinishedAt),
	}
}

// alertTime formats a time as the API does.
func alertTime(t time.Time) *string {
	text := t.UTC().Format("2006-01-02T15:04:05.000000Z")
	return &text
}

// seconds formats a duration as the API does.
func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + "s" }

// SampleMessage returns a job like those that deliver the rule's messages. The job's args
// have the format of package httpcall, which can check whether they describe a valid call.
func (r *Rule) SampleMessage() *fairlead.Job {
	return r.message(Occasion{Event: Failed, Alert: r.Name, Scope: r.Scope, At: *alertTime(time.Unix(0, 0))})
}

// message returns the job that delivers a message. The job does not queue behind jobs that
// it may report on, and it does not count against a tenant's limits.
func (r *Rule) message(o Occasion) *fairlead.Job {
	call := struct {
		URL           string            `json:"url"`
		Headers       map[string]string `json:"headers,omitempty"`
		Body          json.RawMessage   `json:"body"`
		Vars          Occasion          `json:"vars"`
		SigningSecret string            `json:"signing_secret,omitempty"`
	}{r.URL, r.Headers, r.Body, o, r.SigningSecret}
	if len(call.Body) == 0 {
		call.Body, _ = json.Marshal(messageBody) // encoding a string cannot fail
	}
	args, err := json.Marshal(call)
	if err != nil {
		panic(err) // Normalize has validated the body; everything else is strings and numbers
	}
	return &fairlead.Job{
		Kind: messageKind, Args: args, Queue: reserved.NoticeQueue, Tenant: reserved.NoticeTenant,
		Priority: fairlead.High, MaxAttempts: messageAttempts,
	}
}
