package sqlstore

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/verdict"
)

// Answer validates an answer for a waiting job and returns the answer in its stored form. It
// returns ErrInvalid if given cannot answer a wait.
func Answer(given *fairlead.Settlement) (fairlead.Settlement, error) {
	answer, err := verdict.Answer(given)
	answer.Error, answer.At = CleanText(answer.Error), Time(Micros(answer.At))
	return answer, err
}

// DueAt returns the time at which a job that waits for its next run is due, in microseconds.
func DueAt(next *verdict.Next, now int64) int64 {
	if !next.At.IsZero() {
		return Micros(next.At)
	}
	return now + next.After.Microseconds()
}

// noRetry is the column value of a wait that ends the job if it fails.
const noRetry = -1

// RetryMicros returns the stored form of a wait's retry pause. If the wait fails, the job runs
// again after this pause. A nil pause means that the job does not run again.
func RetryMicros(retry *time.Duration) int64 {
	if retry == nil {
		return noRetry
	}
	return max(0, retry.Microseconds())
}

// RetryOf returns the retry pause that RetryMicros converted to micros.
func RetryOf(micros int64) *time.Duration {
	if micros == noRetry {
		return nil
	}
	pause := time.Duration(min(micros, math.MaxInt64/1000)) * time.Microsecond
	return &pause
}

// keptAnswer is the stored form of an early answer on MySQL and SQLite. Documents are byte
// slices, because JSON would not preserve their bytes.
type keptAnswer struct {
	Move     fairlead.Move   `json:"move"`
	After    time.Duration   `json:"after,omitempty"`
	At       int64           `json:"at,omitempty"`
	OldAt    int64           `json:"at_us,omitempty"` // key that earlier versions wrote on SQLite
	Output   []byte          `json:"output,omitempty"`
	Reason   fairlead.Reason `json:"reason,omitempty"`
	Error    string          `json:"error,omitempty"`
	Memo     []byte          `json:"memo,omitempty"`
	Progress []byte          `json:"progress,omitempty"`
	Final    bool            `json:"final,omitempty"`
}

// EncodeAnswer returns the stored form of an early answer, which arrived before its job
// waited.
func EncodeAnswer(a *fairlead.Settlement) string {
	text, err := json.Marshal(keptAnswer{
		Move: a.Move, After: a.After, At: Micros(a.At), Output: a.Output, Reason: a.Reason, Error: a.Error, Memo: a.Memo, Progress: a.Progress,
		Final: a.Final,
	})
	if err != nil {
		panic(err) // strings, numbers and bytes always encode
	}
	return string(text)
}

// DecodeAnswer decodes an answer that EncodeAnswer has encoded. It returns nil if kept is
// false, because no answer is stored.
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
