package sqlite

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Resolve answers for a waiting job.
func (s *Store) Resolve(ctx context.Context, answer fairlead.Settlement) error {
	if err := sqlstore.CheckAnswer(&answer); err != nil {
		return fmt.Errorf("resolve: %w", err)
	}
	moves := newMoves([]fairlead.Settlement{answer})
	_, err := inTx(ctx, s, "resolve", func(t *txn) (none, error) { return none{}, t.resolve(&moves[0]) })
	return err
}

func (t *txn) resolve(m *move) error {
	p, err := t.locate(m.ID)
	if err != nil {
		return err
	}
	if p.fence != m.Fence || p.fence == 0 { // a job that never ran has none
		return t.repeatedRetry(m)
	}
	switch p.state {
	case fairlead.Waiting:
		if t.now > p.deadline {
			return sqlstore.DeadlinePassed(p.id)
		}
		_, err := t.apply(p, m)
		return err
	case fairlead.Running:
		answer := m.encodeAnswer()
		if p.answer.Valid {
			return agree(p.id, p.answer.String == answer)
		}
		return t.must(1, t.sql.Answer, answer, p.id)
	}
	if p.state == fairlead.Failed && p.reason == fairlead.ReasonDeadline {
		return sqlstore.DeadlinePassed(p.id)
	}
	same := m.Move == fairlead.Succeed && p.state == fairlead.Succeeded && bytes.Equal(m.Output, p.output) ||
		m.Move == fairlead.Fail && p.state == fairlead.Failed && m.Reason == p.reason && sqlstore.CleanText(m.Error) == p.err
	return agree(p.id, same)
}

func agree(id int64, same bool) error {
	if same {
		return nil
	}
	return sqlstore.AnsweredDifferently(id)
}

// repeatedRetry accepts the retry that ended the lease in question: the job
// has a new lease by now or none, but its history tells.
func (t *txn) repeatedRetry(m *move) error {
	lost := sqlstore.LeaseLost(m.ID)
	if m.Move != fairlead.Again {
		return lost
	}
	var reason fairlead.Reason
	var text string
	found, err := t.one(t.sql.Recorded, []any{m.ID, m.Fence}, &reason, &text)
	if err != nil {
		return err
	}
	if !found || reason != m.Reason || text != sqlstore.CleanText(m.Error) {
		return lost
	}
	return nil
}

// answer is how an early answer is kept. JSON is kept as bytes, as it would
// not come back byte for byte otherwise.
type answer struct {
	Move     fairlead.Move   `json:"move"`
	After    time.Duration   `json:"after,omitempty"`
	At       int64           `json:"at_us,omitempty"`
	Output   []byte          `json:"output,omitempty"`
	Reason   fairlead.Reason `json:"reason,omitempty"`
	Error    string          `json:"error,omitempty"`
	Memo     []byte          `json:"memo,omitempty"`
	Progress []byte          `json:"progress,omitempty"`
}

func (m *move) encodeAnswer() string {
	text, err := json.Marshal(answer{
		Move: m.Move, After: m.After, At: sqlstore.Micros(m.At), Output: m.Output, Reason: m.Reason, Error: sqlstore.CleanText(m.Error), Memo: m.Memo, Progress: m.Progress,
	})
	if err != nil {
		panic(err) // text and numbers always encode
	}
	return string(text)
}

func decodeAnswer(text string) (*move, error) {
	var a answer
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		return nil, fmt.Errorf("read early answer: %w", err)
	}
	return &move{Settlement: fairlead.Settlement{
		Move: a.Move, After: a.After, At: sqlstore.Time(a.At), Output: a.Output, Reason: a.Reason, Error: a.Error, Memo: a.Memo, Progress: a.Progress,
	}}, nil
}
