package items

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead/internal/sweeping"
)

// decided is what a handler chose to become of an item.
type decided struct {
	verdict sweeping.Verdict
	err     error
	after   time.Duration
}

func (d *decided) Error() string { return d.err.Error() }

// Unwrap is the error inside.
func (d *decided) Unwrap() error { return d.err }

// Abandon returns an error that gives up on an item immediately, regardless of the remaining
// attempts. The item is listed as failed and counts against the error budget.
func Abandon(reason error) error {
	return &decided{verdict: sweeping.Abandon, err: orReason(reason, "the handler gave the item up")}
}

// Stop returns an error that stops the whole sweep. The current item remains to be done.
func Stop(reason error) error {
	return &decided{verdict: sweeping.Stop, err: orReason(reason, "the handler stopped the sweep")}
}

// Finish returns an error that ends a serial sweep. The current item is done, and no more
// items follow.
func Finish() error {
	return &decided{verdict: sweeping.Finish, err: errors.New("the handler finished the sweep")}
}

// RetryAfter returns an error that counts as a failed attempt and retries the item after the
// given pause. After any other error, the pause that the sweep specifies applies.
func RetryAfter(pause time.Duration, reason error) error {
	return &decided{verdict: sweeping.Retry, err: orReason(reason, "the handler wants to try again"), after: pause}
}

func orReason(reason error, otherwise string) error {
	if reason == nil {
		return errors.New(otherwise)
	}
	return reason
}

// outcomeOf is what becomes of an item, given what its handler returned.
func outcomeOf(err error, logs []sweeping.Log) sweeping.Outcome {
	if err == nil {
		return sweeping.Outcome{Logs: logs}
	}
	var chosen *decided
	if errors.As(err, &chosen) {
		return sweeping.Outcome{Verdict: chosen.verdict, Err: err, After: chosen.after, Logs: logs}
	}
	return sweeping.Outcome{Verdict: sweeping.Retry, Err: err, Logs: logs}
}

// itemContext is the context of one attempt. It takes what is logged of the item.
type itemContext struct {
	context.Context
	mu   sync.Mutex
	logs []sweeping.Log
}

type itemKey struct{}

// Value finds the context itself.
func (c *itemContext) Value(key any) any {
	if key == (itemKey{}) {
		return c
	}
	return c.Context.Value(key)
}

func (c *itemContext) taken() []sweeping.Log {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.logs
}

// Log adds a log line about the item whose handler has this context. The line is stored at
// the end of the attempt, before the item counts as done. Log does nothing if ctx is not the
// context of an item's handler.
func Log(ctx context.Context, level slog.Level, text string) {
	item, ok := ctx.Value(itemKey{}).(*itemContext)
	if !ok {
		return
	}
	item.mu.Lock()
	defer item.mu.Unlock()
	item.logs = append(item.logs, sweeping.Log{At: time.Now(), Level: level, Text: text})
}
