package mysql

import (
	"bytes"
	"context"
	"fmt"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Resolve answers for a waiting job.
func (s *Store) Resolve(ctx context.Context, answer fairlead.Settlement) error {
	ctx = sqlstore.MayWait(ctx)
	if err := sqlstore.CheckAnswer(&answer); err != nil {
		return fmt.Errorf("resolve: %w", err)
	}
	answer.FreeKey = true
	return s.operate(ctx, "resolve", answer.ID, func(ctx context.Context, t *txn, p *placed, m *moves) error {
		return t.resolve(ctx, p, &answer, m)
	})
}

func (t *txn) resolve(ctx context.Context, p *placed, answer *fairlead.Settlement, m *moves) error {
	switch {
	case p.fence != answer.Fence || p.fence == 0: // a job that never ran has none
		return t.repeatedRetry(ctx, answer)
	case p.state == fairlead.Waiting:
		if m.now > p.deadline {
			return expired(p)
		}
		m.remember(p.id, answer.Memo, answer.Progress)
		m.apply(p, answer)
		return nil
	case p.state == fairlead.Running:
		return t.keepAnswer(ctx, p, answer)
	case p.state == fairlead.Failed && p.reason == fairlead.ReasonDeadline:
		return expired(p)
	}
	same := answer.Move == fairlead.Succeed && p.state == fairlead.Succeeded && bytes.Equal(answer.Output, p.output) ||
		answer.Move == fairlead.Fail && p.state == fairlead.Failed && answer.Reason == p.reason && sqlstore.CleanText(answer.Error) == p.err
	return agree(p, same)
}

// keepAnswer keeps an answer that overtook the job's move to waiting.
func (t *txn) keepAnswer(ctx context.Context, p *placed, answer *fairlead.Settlement) error {
	text := encodeAnswer(answer)
	if p.answer.Valid {
		return agree(p, p.answer.String == text)
	}
	_, err := t.exec(ctx, t.sql.Answer, []byte(text), p.id)
	return err
}

func expired(p *placed) error {
	return sqlstore.DeadlinePassed(p.id)
}

func agree(p *placed, same bool) error {
	if same {
		return nil
	}
	return sqlstore.AnsweredDifferently(p.id)
}

// repeatedRetry accepts the retry that ended the lease in question: the job
// has a new lease by now or none, but its history tells.
func (t *txn) repeatedRetry(ctx context.Context, answer *fairlead.Settlement) error {
	lost := sqlstore.LeaseLost(answer.ID)
	if answer.Move != fairlead.Again {
		return lost
	}
	var reason fairlead.Reason
	var text string
	found, err := t.one(ctx, []any{&reason, &text}, t.sql.Recorded, answer.ID, answer.Fence)
	if err != nil {
		return err
	}
	if !found || reason != answer.Reason || text != sqlstore.CleanText(answer.Error) {
		return lost
	}
	return nil
}
