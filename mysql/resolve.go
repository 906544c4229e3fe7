package mysql

import (
	"context"
	"fmt"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/internal/verdict"
)

// Resolve stores the answer for a waiting job. It returns ErrLeaseLost if the fence is not
// the job's current fence, ErrExpired if the deadline has passed, and ErrConflict if the job
// already has a different answer.
func (s *Store) Resolve(ctx context.Context, given fairlead.Settlement) error {
	ctx = sqlstore.MayWait(ctx)
	answer, err := sqlstore.Answer(&given)
	if err != nil {
		return fmt.Errorf("resolve: %w", err)
	}
	return s.operate(ctx, "resolve", answer.ID, func(ctx context.Context, t *txn, p *placed, m *moves) error {
		return t.resolve(ctx, p, &answer, m)
	})
}

func (t *txn) resolve(ctx context.Context, p *placed, answer *fairlead.Settlement, m *moves) error {
	at, err := p.jobState(m.now)
	if err != nil {
		return err
	}
	reply, err := at.Resolve(answer)
	if err != nil {
		return err
	}
	switch reply {
	case verdict.Counts:
		m.remember(p.id, answer.Memo, answer.Progress)
		next := at.Apply(answer)
		m.become(p, &next)
	case verdict.Kept:
		_, err = t.exec(ctx, t.sql.Answer, []byte(sqlstore.EncodeAnswer(answer)), p.id)
	case verdict.Stale:
		var reason fairlead.Reason
		var text string
		found, err := t.one(ctx, []any{&reason, &text}, t.sql.Recorded, answer.ID, answer.Fence)
		if err != nil {
			return err
		}
		return verdict.Recorded(answer, found, reason, text)
	}
	return err
}

// jobState returns the state of the job that answers and extensions are checked against.
func (p *placed) jobState(now int64) (*verdict.JobState, error) {
	early, err := p.earlyAnswer()
	return &verdict.JobState{
		ID: p.id, State: p.state, Fence: p.fence, Deadline: p.deadline, Now: now, Retry: sqlstore.RetryOf(p.retryAfter), Answer: early,
		Reason: p.reason, Error: p.err, Output: p.output,
	}, err
}
