package external

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/mask"
)

// Events that notices report.
const (
	eventFailed  = "failed"
	eventTimeout = "timeout"
)

// maxErrorText limits the length of the error text in a notice.
const maxErrorText = 4 << 10

// A notice is the message sent to fail_url and timeout_url, and the args of the job that
// delivers it. The reported job's own args are added on sending.
type notice struct {
	Event      string          `json:"event"`
	ID         string          `json:"id"`
	Key        string          `json:"key,omitempty"`
	Tenant     string          `json:"tenant"`
	Kind       string          `json:"kind"`
	Queue      string          `json:"queue"`
	Attempt    int             `json:"attempt"`
	Fence      string          `json:"fence"`
	Reason     fairlead.Reason `json:"reason,omitempty"`
	Error      string          `json:"error,omitempty"`
	FinishedAt string          `json:"finished_at,omitempty"`
	Args       json.RawMessage `json:"args,omitempty"`
}

// about returns the notice of an event of a job.
func about(event string, job *fairlead.Job) notice {
	text := job.Error
	if len(text) > maxErrorText {
		text = strings.ToValidUTF8(text[:maxErrorText], "") + " …"
	}
	return notice{
		Event: event, ID: strconv.FormatInt(job.ID, 10), Key: job.Key, Tenant: job.Tenant, Kind: job.Kind, Queue: job.Queue,
		Attempt: job.Attempt, Fence: strconv.FormatInt(job.Fence, 10), Reason: job.Reason, Error: text, FinishedAt: timeText(job.FinishedAt),
	}
}

// key returns the key of the event. A job that is retried manually and fails again has a
// new fence, and so causes another notice.
func (n notice) key() string { return n.Event + ":" + n.ID + ":" + n.Fence }

// job returns the job that delivers the notice. If several nodes see the same event, the
// key ensures that only one job is stored. The args leave out the error, because callers
// can see the args; the error is read and masked on sending.
func (n notice) job(trace string) (*fairlead.Job, error) {
	n.Error = ""
	args, err := json.Marshal(n)
	if err != nil {
		return nil, fmt.Errorf("encode notice %s: %w", n.key(), err)
	}
	return &fairlead.Job{
		Kind: NoticeKind, Args: args, Queue: NoticeQueue, Tenant: NoticeTenant, Priority: fairlead.High, Trace: trace,
		Key: n.key(), KeyScope: fairlead.KeyForever, OnDuplicate: fairlead.KeepDuplicate,
	}, nil
}

// subject returns the job that the notice reports, for the headers of the message.
func (n notice) subject() (*fairlead.Job, error) {
	id, err := strconv.ParseInt(n.ID, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("args.id: %w", err)
	}
	fence, err := strconv.ParseInt(n.Fence, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("args.fence: %w", err)
	}
	return &fairlead.Job{ID: id, Status: fairlead.Status{Attempt: n.Attempt, Fence: fence}}, nil
}

// url returns the tenant's URL for the event, or an empty string if the tenant does not
// want the notice.
func (n notice) url(to fairlead.Tenant) string {
	switch n.Event {
	case eventFailed:
		return to.FailURL
	case eventTimeout:
		return to.TimeoutURL
	}
	return ""
}

// deliver sends a notice. It does nothing if the tenant has removed its URL in the
// meantime.
func (c *Courier) deliver(ctx context.Context, job *fairlead.Job) error {
	if job.Tenant != NoticeTenant {
		// Callers that may act for one tenant must not send messages to another in the service's
		// name.
		return fairlead.Fatal(fmt.Errorf("notices belong to tenant %q; this job belongs to %q", NoticeTenant, job.Tenant))
	}
	var n notice
	if err := json.Unmarshal(job.Args, &n); err != nil {
		return fairlead.Fatal(fmt.Errorf("args: %w", err))
	}
	subject, err := n.subject()
	if err != nil {
		return fairlead.Fatal(err)
	}
	subject.Trace = job.Trace
	to, err := c.recipients.find(ctx, n.Tenant, func(t fairlead.Tenant) bool { return n.url(t) != "" })
	if err != nil || n.url(to.Tenant) == "" {
		return err
	}
	if n, err = c.confirmed(ctx, job, n, subject); err != nil {
		return err
	}
	subject.Attempt = n.Attempt
	if n, err = c.masked(ctx, n); err != nil {
		return err
	}
	return c.post(ctx, to, n.url(to.Tenant), subject, "fairlead-"+n.key(), n)
}

// masked returns a notice without the confidential fields of its job: the receiver of a
// notice need not know the input of the job.
func (c *Courier) masked(ctx context.Context, n notice) (notice, error) {
	all, err := c.client.Confidential(ctx)
	if err != nil {
		return n, err
	}
	shown := mask.Show(mask.Fields(all, n.Kind, n.Args), mask.Job{Args: n.Args, Error: n.Error})
	n.Args, n.Error = shown.Args, shown.Error
	return n, nil
}
