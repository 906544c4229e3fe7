package sweeping

import (
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// Item is one try of one item.
type Item struct {
	Index   int64
	Attempt int    // from 1
	Data    []byte // what the source has of it, if anything
}

// Verdict is what becomes of an item after a try.
type Verdict uint8

// The verdicts.
const (
	Done    Verdict = iota // it is done
	Retry                  // it failed, and is tried again while it may be
	Abandon                // it failed, and is given up
	Stop                   // it stays to do, and the run stops
	Finish                 // it is done, and so is all the rest; of serial runs only
)

// Outcome is what a handler says of a try. The zero value is Done.
type Outcome struct {
	Verdict Verdict
	Err     error         // why, unless it is done
	After   time.Duration // of Retry: the pause, if not the usual one
	Logs    []Log         // written before the item counts as done
}

// Log is one line that a handler has to say of an item.
type Log struct {
	At    time.Time
	Level slog.Level
	Text  string
}

// Failed is the outcome of a try that failed with err, or Done if err is nil.
func Failed(err error) Outcome {
	if err == nil {
		return Outcome{}
	}
	return Outcome{Verdict: Retry, Err: err}
}

// reason is the outcome's error. There is always one.
func (o Outcome) reason() error {
	if o.Err != nil {
		return o.Err
	}
	return errors.New("the handler gave no reason")
}

// Record is what was logged of an item. The same may be recorded again after a
// crash.
type Record struct {
	Index int64
	Logs  []Log
}

// panicked is the outcome of a handler that panicked.
func panicked(value any, stack []byte) Outcome {
	return Outcome{Verdict: Retry, Err: fmt.Errorf("panic: %v\n%s", value, stack)}
}
