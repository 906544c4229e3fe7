package mysql

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// settle decides what becomes of a running job whose handler has decided.
func (m *moves) settle(p *placed, s *fairlead.Settlement) (fairlead.Settled, error) {
	m.remember(p.id, s.Memo, s.Progress)
	if s.Move == fairlead.MoveAwait && p.answer.Valid {
		early, err := decodeAnswer(p.answer.String)
		if err != nil {
			return 0, fmt.Errorf("job %d: %w", p.id, err)
		}
		m.remember(p.id, early.Memo, early.Progress)
		s = early
	}
	if p.wish.Valid && s.Move != fairlead.Succeed && s.Move != fairlead.Fail {
		m.finish(p, end{outcome: sqlstore.OutcomeCancelled, err: p.wish.String}, true)
		return fairlead.SettledCancelled, nil
	}
	m.apply(p, s)
	return fairlead.SettledAsAsked, nil
}

// apply moves a running or waiting job as its handler, or whoever answered for
// it, decided.
func (m *moves) apply(p *placed, s *fairlead.Settlement) {
	switch s.Move {
	case fairlead.Succeed:
		m.finish(p, end{outcome: sqlstore.OutcomeSucceeded, output: s.Output}, s.FreeKey)
	case fairlead.Fail:
		m.fail(p, s.Reason, s.Error, s.FreeKey)
	case fairlead.Drop:
		m.finish(p, end{outcome: sqlstore.OutcomeCancelled, reason: s.Reason, err: s.Error}, s.FreeKey)
	case fairlead.Again:
		m.record(p, s.Reason, s.Error)
		p.failures++
		m.await(p, m.due(s))
	case fairlead.Snooze:
		m.await(p, m.due(s))
	case fairlead.MoveRelease:
		p.attempt--
		m.await(p, m.now)
	case fairlead.MoveAwait:
		m.suspend(p, m.now+s.After.Microseconds())
	}
}

// due is when the job is to run again.
func (m *moves) due(s *fairlead.Settlement) int64 {
	if !s.At.IsZero() {
		return sqlstore.Micros(s.At)
	}
	return m.now + s.After.Microseconds()
}

// settleReplacing ends one job as succeeded and enqueues what replaces it. If
// the replacement cannot be stored, the job has not done what it meant to do:
// it fails.
func (t *txn) settleReplacing(ctx context.Context, w *settling, i int) error {
	s := w.asked[i]
	refusal := fairlead.NormalizeJobs([]*fairlead.Job{s.Replace})
	if refusal == nil {
		err := t.inSavepoint(ctx, "fairlead_replace", func() error {
			moved, err := t.settleEach(ctx, w, []int{i})
			if err != nil || moved == 0 {
				return err
			}
			// After the end of the job, whose key it may take over.
			ids := []int64{w.reserved[i]}
			err = t.idsTaken(t.enqueue(ctx, []*fairlead.Job{s.Replace}, ids))
			w.stored[i] = ids[0]
			return err
		})
		if !errors.Is(err, fairlead.ErrConflict) {
			return err
		}
		delete(w.stored, i)
		refusal = err
	}
	s.Move, s.Reason, s.Error = fairlead.Fail, fairlead.ReasonError, sqlstore.ReplacementRefused(refusal)
	failed := &settling{asked: []fairlead.Settlement{s}, answers: make([]fairlead.Settled, 1)}
	_, err := t.settleEach(ctx, failed, []int{0})
	w.answers[i] = failed.answers[0]
	return err
}

// answer is how an early answer is kept. Documents are kept as bytes, as they
// would not come back byte for byte otherwise.
type answer struct {
	Move     fairlead.Move   `json:"move"`
	After    time.Duration   `json:"after,omitempty"`
	At       int64           `json:"at,omitempty"`
	Output   []byte          `json:"output,omitempty"`
	Reason   fairlead.Reason `json:"reason,omitempty"`
	Error    string          `json:"error,omitempty"`
	Memo     []byte          `json:"memo,omitempty"`
	Progress []byte          `json:"progress,omitempty"`
}

func encodeAnswer(s *fairlead.Settlement) string {
	text, err := json.Marshal(answer{
		Move: s.Move, After: s.After, At: sqlstore.Micros(s.At), Output: s.Output, Reason: s.Reason,
		Error: sqlstore.CleanText(s.Error), Memo: s.Memo, Progress: s.Progress,
	})
	if err != nil {
		panic(err) // text, numbers and times always encode
	}
	return string(text)
}

func decodeAnswer(text string) (*fairlead.Settlement, error) {
	var a answer
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		return nil, fmt.Errorf("read early answer: %w", err)
	}
	return &fairlead.Settlement{
		Move: a.Move, After: a.After, At: sqlstore.Time(a.At), Output: a.Output, Reason: a.Reason, Error: a.Error,
		Memo: a.Memo, Progress: a.Progress, FreeKey: true,
	}, nil
}
