package sweeping

import (
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// Item is one try at processing an item.
type Item struct {
	Index   int64
	Attempt int    // starts at 1
	Data    []byte // the source's data, if any
}

// Verdict says how a try ended.
type Verdict uint8

// Values of Verdict.
const (
	Done    Verdict = iota // the item is done
	Retry                  // the item failed and is retried while attempts remain
	Abandon                // the item failed and is given up
	Stop                   // the item remains unfinished, and the run stops
	Finish                 // the item and all items after it are done; only for serial runs
)

// Outcome is the result that a handler reports for a try. The zero value is Done.
type Outcome struct {
	Verdict Verdict
	Err     error         // reason, unless the item is done
	After   time.Duration // for Retry: pause, if not the default
	Logs    []Log         // stored before the item counts as done
}

// Log is a log line that a handler writes about an item.
type Log struct {
	At    time.Time
	Level slog.Level
	Text  string
}

// Failed returns the outcome for a try that ended with err, or Done if err is nil.
func Failed(err error) Outcome {
	if err == nil {
		return Outcome{}
	}
	return Outcome{Verdict: Retry, Err: err}
}

// reason returns the outcome's error, or a default error if there is none.
func (o Outcome) reason() error {
	if o.Err != nil {
		return o.Err
	}
	return errors.New("the handler gave no reason")
}

// Record holds an item's log lines. After a crash, the same lines may be recorded again.
type Record struct {
	Index int64
	Logs  []Log
}

// panicked returns the outcome of a handler that panicked.
func panicked(value any, stack []byte) Outcome {
	return Outcome{Verdict: Retry, Err: fmt.Errorf("panic: %v\n%s", value, stack)}
}
