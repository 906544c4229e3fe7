package external

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead"
)

// order is the message sent to start_url: a job to run.
type order struct {
	ID        string          `json:"id"`
	Key       string          `json:"key,omitempty"`
	Tenant    string          `json:"tenant"`
	Kind      string          `json:"kind"`
	Attempt   int             `json:"attempt"`
	Fence     string          `json:"fence"`
	Args      json.RawMessage `json:"args"`
	StartBy   string          `json:"start_by,omitempty"`
	Timeout   string          `json:"timeout"`
	FinishURL string          `json:"finish_url"`
	FailURL   string          `json:"fail_url"`
}

// start sends a job to its tenant and leaves it waiting for the answer. The timeout started
// with the attempt. A late answer or a failure is a failed attempt.
func (c *Courier) start(ctx context.Context, job *fairlead.Job) error {
	begin := time.Now()
	to, err := c.recipients.find(ctx, job.Tenant, hasStartURL)
	if err != nil {
		return err
	}
	if to.StartURL == "" {
		return fairlead.Fatal(fmt.Errorf("tenant %q has no start_url; set it to the URL that receives its jobs of kind %q", job.Tenant, Kind))
	}
	timeout := job.Timeout
	if timeout == 0 {
		timeout = DefaultTimeout
	}
	// Each lease is a separate run: only requests of the same lease are repeats.
	key := fmt.Sprintf("fairlead-%d-%d", job.ID, job.Fence)
	if err := c.post(ctx, to, to.StartURL, job, key, c.orderFor(job, timeout)); err != nil {
		return err
	}
	return fairlead.Await(max(timeout-time.Since(begin), time.Millisecond)).OrRetry()
}

func (c *Courier) orderFor(job *fairlead.Job, timeout time.Duration) order {
	id := strconv.FormatInt(job.ID, 10)
	answers := strings.TrimRight(c.options.PublicURL, "/") + "/api/v1/jobs/" + id
	return order{
		ID: id, Key: job.Key, Tenant: job.Tenant, Kind: job.Kind,
		Attempt: job.Attempt, Fence: strconv.FormatInt(job.Fence, 10), Args: job.Args,
		StartBy: timeText(job.StartBy), Timeout: durationText(timeout),
		FinishURL: answers + "/finish", FailURL: answers + "/fail",
	}
}
