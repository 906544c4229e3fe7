package sqlstore

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/verdict"
)

// Answer is an answer for a waiting job as it is going to be stored. It fails with
// ErrInvalid if it is none.
func Answer(given *fairlead.Settlement) (fairlead.Settlement, error) {
	answer, err := verdict.Answer(given)
	answer.Error, answer.At = CleanText(answer.Error), Time(Micros(answer.At))
	return answer, err
}

// DueAt is when a job that waits for another run is due.
func DueAt(next *verdict.Next, now int64) int64 {
	if !next.At.IsZero() {
		return Micros(next.At)
	}
	return now + next.After.Microseconds()
}

// noRetry is the column of a wait whose failure ends the job.
const noRetry = -1

// RetryMicros is the column of a wait that says after which pause the job is tried again
// if the wait fails.
func RetryMicros(retry *time.Duration) int64 {
	if retry == nil {
		return noRetry
	}
	return max(0, retry.Microseconds())
}

// RetryOf is the reverse of RetryMicros.
func RetryOf(micros int64) *time.Duration {
	if micros == noRetry {
		return nil
	}
	pause := time.Duration(min(micros, math.MaxInt64/1000)) * time.Microsecond
	return &pause
}

// keptAnswer is how MySQL and SQLite keep an early answer. Documents are kept as bytes:
// they would not come back byte for byte otherwise.
type keptAnswer struct {
	Move     fairlead.Move   `json:"move"`
	After    time.Duration   `json:"after,omitempty"`
	At       int64           `json:"at,omitempty"`
	OldAt    int64           `json:"at_us,omitempty"` // as versions before this one wrote it on SQLite
	Output   []byte          `json:"output,omitempty"`
	Reason   fairlead.Reason `json:"reason,omitempty"`
	Error    string          `json:"error,omitempty"`
	Memo     []byte          `json:"memo,omitempty"`
	Progress []byte          `json:"progress,omitempty"`
	Final    bool            `json:"final,omitempty"`
}

// EncodeAnswer is what is kept of an early answer.
func EncodeAnswer(a *fairlead.Settlement) string {
	text, err := json.Marshal(keptAnswer{
		Move: a.Move, After: a.After, At: Micros(a.At), Output: a.Output, Reason: a.Reason, Error: a.Error, Memo: a.Memo, Progress: a.Progress,
		Final: a.Final,
	})
	if err != nil {
		panic(err) // text, numbers and bytes always encode
	}
	return string(text)
}

// DecodeAnswer is the reverse of EncodeAnswer; nil if no answer is kept.
func DecodeAnswer(job int64, text string, kept bool) (*fairlead.Settlement, error) {
	if !kept {
		return nil, nil
	}
	var a keptAnswer
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		return nil, fmt.Errorf("job %d: read early answer: %w", job, err)
	}
	if a.At == 0 {
		a.At = a.OldAt
	}
	return &fairlead.Settlement{
		Move: a.Move, After: a.After, At: Time(a.At), Output: a.Output, Reason: a.Reason, Error: a.Error,
		Memo: a.Memo, Progress: a.Progress, Final: a.Final, FreeKey: true,
	}, nil
}
