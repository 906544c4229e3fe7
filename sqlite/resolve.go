package sqlite

import (
	"context"
	"fmt"
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/internal/verdict"
)

// Resolve stores an answer for a waiting job. It returns ErrLeaseLost if the answer's fence is
// not the job's current fence, ErrExpired if the deadline has passed, and ErrConflict if the
// job already has a different answer.
func (s *Store) Resolve(ctx context.Context, given fairlead.Settlement) error {
	answer, err := sqlstore.Answer(&given)
	if err != nil {
		return fmt.Errorf("resolve: %w", err)
	}
	// The caller's own may change once the caller has given up waiting.
	answer.Output, answer.Memo, answer.Progress = slices.Clone(answer.Output), slices.Clone(answer.Memo), slices.Clone(answer.Progress)
	_, err = inTx(ctx, s, "resolve", func(t *txn) (none, error) { return none{}, t.resolve(&answer) })
	return err
}

func (t *txn) resolve(answer *fairlead.Settlement) error {
	p, err := t.locate(answer.ID)
	if err != nil {
		return err
	}
	at, err := p.jobState(t.now)
	if err != nil {
		return err
	}
	reply, err := at.Resolve(answer)
	if err != nil {
		return err
	}
	switch reply {
	case verdict.Counts:
		if err := t.keep(p.id, answer.Memo, answer.Progress); err != nil {
			return err
		}
		next := at.Apply(answer)
		return t.become(p, &next)
	case verdict.Kept:
		return t.must(1, t.sql.Answer, sqlstore.EncodeAnswer(answer), p.id)
	case verdict.Stale:
		var reason fairlead.Reason
		var text string
		found, err := t.one(t.sql.Recorded, []any{answer.ID, answer.Fence}, &reason, &text)
		if err != nil {
			return err
		}
		return verdict.Recorded(answer, found, reason, text)
	}
	return nil
}

// jobState returns the state of the job that answers and extensions are checked against.
func (p *placed) jobState(now int64) (*verdict.JobState, error) {
	early, err := p.earlyAnswer()
	return &verdict.JobState{
		ID: p.id, State: p.state, Fence: p.fence, Deadline: p.deadline, Now: now, Retry: sqlstore.RetryOf(p.retryAfter), Answer: early,
		Reason: p.reason, Error: p.err, Output: p.output,
	}, err
}
