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

// What is made of a message. The kind is that of package httpcall, which knows of alerts
// as little as they know of it.
const (
	messageKind     = "http"
	messageAttempts = 10

	mostExamples = 10
	maxErrorText = 500 // bytes of an error
)

// messageBody is what is sent if the rule has no template of its own.
const messageBody = `{"event":{{args.event}},"alert":{{args.alert}},"scope":{{args.scope}},"at":{{args.at}},` +
	`"count":{{args.count}},"since":{{args.since}},"groups":{{args.groups}},"examples":{{args.examples}},` +
	`"ready":{{args.ready}},"oldest_wait":{{args.oldest_wait}},"backlog":{{args.backlog}}}`

// Occasion is what a message says. All of it can be used in templates, as
// {{args.event}}; what does not apply is null.
type Occasion struct {
	Event Event  `json:"event"`
	Alert string `json:"alert"`
	Scope Scope  `json:"scope"`
	At    string `json:"at"`

	Count    *int64    `json:"count"` // jobs since the last message
	Since    *string   `json:"since"` // the earliest of them are not older, to ten seconds
	Groups   []Group   `json:"groups"`
	Examples []Example `json:"examples"` // of failed jobs, the newest

	Ready      *int    `json:"ready"`
	OldestWait *string `json:"oldest_wait"`
	Backlog    *string `json:"backlog"` // what the rule allows

	from time.Time // where to look for examples
}

// Example is one of the jobs that failed.
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

// exampleOf returns what messages say of a job. Its error is masked before it is cut.
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

// alertTime writes times as the API does.
func alertTime(t time.Time) *string {
	text := t.UTC().Format("2006-01-02T15:04:05.000000Z")
	return &text
}

// seconds writes durations as the API does.
func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + "s" }

// SampleMessage is a job as the rule's messages are. Its args are those of package
// httpcall, which says whether they can be a call.
func (r *Rule) SampleMessage() *fairlead.Job {
	return r.message(Occasion{Event: Failed, Alert: r.Name, Scope: r.Scope, At: *alertTime(time.Unix(0, 0))})
}

// message is the job that brings a message. It waits behind no job that it may be about,
// and counts against no limit of a tenant.
func (r *Rule) message(o Occasion) *fairlead.Job {
	call := struct {
		URL           string            `json:"url"`
		Headers       map[string]string `json:"headers,omitempty"`
		Body          json.RawMessage   `json:"body"`
		Vars          Occasion          `json:"vars"`
		SigningSecret string            `json:"signing_secret,omitempty"`
	}{r.URL, r.Headers, r.Body, o, r.SigningSecret}
	if len(call.Body) == 0 {
		call.Body, _ = json.Marshal(messageBody) // a text always encodes
	}
	args, err := json.Marshal(call)
	if err != nil {
		panic(err) // its body has been through Normalize, and all else is text and numbers
	}
	return &fairlead.Job{
		Kind: messageKind, Args: args, Queue: reserved.NoticeQueue, Tenant: reserved.NoticeTenant,
		Priority: fairlead.High, MaxAttempts: messageAttempts,
	}
}
