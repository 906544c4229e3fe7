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

// Try makes the job's call once without storing the job. It returns the snapshot that would
// be stored, and reports whether the call succeeded. The guard, the secrets, the timeouts
// and the target's state apply as they do to a run, but Try does not retry the call and uses
// its own idempotency key.
//
// Try returns an error if it sent nothing. The error is ErrInvalid if the args are invalid,
// or if the call is async, because only a stored job can receive a callback. It is
// ErrConflict if the target's breaker is open.
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
