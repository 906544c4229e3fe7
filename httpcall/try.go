package httpcall

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead"
)

// longestTry is how long a call may take for whose end a person waits.
const longestTry = time.Minute

// Try makes the call of a job once without storing the job, and returns the snapshot
// that would be stored and whether the call is a success. The guard, secrets, timeouts
// and the state of the target apply as for a run, and nothing is retried. The
// idempotency key is not that of any run.
//
// Try returns an error if nothing was sent: ErrInvalid for args that are no call or
// that wait for a callback, which only a stored job can receive, and ErrConflict if the
// target's breaker is open.
func (h *Handler) Try(ctx context.Context, job *fairlead.Job, origin Origin) (snapshot Snapshot, success bool, err error) {
	p, err := compile(job.Args)
	if err != nil {
		return Snapshot{}, false, err
	}
	if p.async {
		return Snapshot{}, false, refusedArgs("args.async: a callback requires a stored job; trigger a run instead")
	}
	ctx, cancel := context.WithTimeout(ctx, min(h.timeoutOf(job), longestTry))
	defer cancel()
	key := fmt.Sprintf("fairlead-test-%d", time.Now().UnixMicro())
	made, err := h.call(ctx, p, job, key, origin, ticket{})
	switch {
	case errors.Is(err, fairlead.ErrConflict):
		return Snapshot{}, false, err
	case err != nil:
		return Snapshot{}, false, refusedArgs(err.Error())
	}
	return made.snapshot, made.err == nil, nil
}

// refusedArgs is why no call can be made of args, in a text that begins with their field.
func refusedArgs(text string) error {
	field, message, named := strings.Cut(text, ": ")
	if !named {
		field, message = "args", text
	}
	return &fairlead.InvalidError{Fields: []fairlead.FieldError{{Field: field, Message: message}}}
}
