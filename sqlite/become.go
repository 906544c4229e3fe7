package sqlite

import (
	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/internal/verdict"
)

// become carries out what was decided about a job.
func (t *txn) become(p *placed, next *verdict.Next) error {
	if next.Failed {
		if err := t.record(p, next.Reason, next.Error); err != nil {
			return err
		}
		p.failures++
	}
	if next.Unused {
		p.attempt--
	}
	if next.Begun {
		if err := t.must(1, t.sql.MarkReleased, p.id); err != nil {
			return err
		}
	}
	switch next.State {
	case fairlead.Ready:
		return t.await(p, sqlstore.DueAt(next, t.now))
	case fairlead.Waiting:
		return t.suspend(p, sqlstore.DueAt(next, t.now), sqlstore.RetryMicros(next.Retry))
	}
	return t.finish(p, end{outcome: sqlstore.OutcomeOf(next.State), reason: next.Reason, err: next.Error, output: next.Output})
}

// wished is why a running job was asked to stop, nil if it was not.
func (p *placed) wished() *string {
	if !p.wish.Valid {
		return nil
	}
	return &p.wish.String
}

// earlyAnswer is the answer that came before the job's move to waiting, nil if none did.
func (p *placed) earlyAnswer() (*fairlead.Settlement, error) {
	return sqlstore.DecodeAnswer(p.id, p.answer.String, p.answer.Valid)
}

// replaceOne ends the job as succeeded and enqueues what replaces it, or fails the job if
// that is refused.
func (t *txn) replaceOne(p *placed, m *move) (settledMove, error) {
	refusal := m.refused
	if refusal == nil {
		var ids []int64
		err := t.inSavepoint(func() (err error) {
			success := verdict.Apply(&m.Settlement)
			if err = t.become(p, &success); err == nil { // first, as the replacement may take over its key
				ids, err = t.enqueue(m.replacement)
			}
			return err
		})
		switch {
		case err == nil:
			return settledMove{replacement: ids[0]}, nil
		case !verdict.RefusesReplacement(err):
			return settledMove{}, err
		}
		refusal = err
	}
	failed := verdict.Refused(&m.Settlement, refusal)
	next := verdict.Apply(&failed)
	return settledMove{}, t.become(p, &next)
}
