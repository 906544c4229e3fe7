package httpcall

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead"
)

// ticket is what a target needs to answer later. It is empty if the job does not wait.
type ticket struct{ url, token string }

// ticketFor makes the ticket of a run.
func (h *Handler) ticketFor(ctx context.Context, p *plan, job *fairlead.Job) (ticket, error) {
	if !p.async {
		return ticket{}, nil
	}
	if h.options.Keeper == nil {
		return ticket{}, fairlead.Fatal(errors.New("args.async: this node does not accept callbacks; remove async"))
	}
	// It is read each time: a restore may have led to another one, and servers would
	// refuse every token of the one before.
	key, err := CallbackKey(ctx, h.options.Keeper)
	if err != nil {
		return ticket{}, fmt.Errorf("get the callback signing key: %w", err)
	}
	expires := time.Now().Add(h.timeoutOf(job) + p.callbackTimeout + tokenGrace)
	return ticket{
		url:   strings.TrimRight(h.options.PublicURL, "/") + "/api/v1/callbacks/" + strconv.FormatInt(job.ID, 10),
		token: MakeToken(key, Callback{Tenant: job.Tenant, Job: job.ID, Fence: job.Fence, Expires: expires}),
	}, nil
}

// CallbackTimeout returns the time for which the job waits for its callback. This is also
// the longest extension that the job's target can request at once.
func CallbackTimeout(job *fairlead.Job) time.Duration {
	var call struct {
		CallbackTimeoutSeconds float64 `json:"callback_timeout_seconds"`
	}
	if job.Kind != Kind || json.Unmarshal(job.Args, &call) != nil || call.CallbackTimeoutSeconds <= 0 || call.CallbackTimeoutSeconds > maxCallbackTimeout.Seconds() {
		return defaultCallbackTimeout
	}
	return time.Duration(call.CallbackTimeoutSeconds * float64(time.Second))
}
