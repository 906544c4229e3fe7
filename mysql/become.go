package mysql

import (
	"context"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/envelope"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/internal/verdict"
)

// settle moves a running job whose handler has decided.
func (m *moves) settle(p *placed, s *fairlead.Settlement) (fairlead.Settled, error) {
	early, err := p.earlyAnswer()
	if err != nil {
		return 0, err
	}
	s = verdict.Early(s, early)
	m.remember(p.id, s.Memo, s.Progress)
	next, settled := verdict.Settle(s, p.wished())
	m.become(p, &next)
	return settled, nil
}

// become carries out what was decided about a job.
func (m *moves) become(p *placed, next *verdict.Next) {
	if next.Failed {
		m.record(p, next.Reason, next.Error)
		p.failures++
	}
	if next.Unused {
		p.attempt--
	}
	if next.Begun {
		m.released.add().ints(p.id, 1).end()
	}
	switch next.State {
	case fairlead.Ready:
		m.await(p, sqlstore.DueAt(next, m.now))
	case fairlead.Waiting:
		m.suspend(p, sqlstore.DueAt(next, m.now), sqlstore.RetryMicros(next.Retry))
	default:
		m.finish(p, end{
			outcome: int64(sqlstore.OutcomeOf(next.State)), reason: next.Reason, err: next.Error, output: next.Output,
		}, next.FreeKey)
	}
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

// settleReplacing ends one job as succeeded and enqueues what replaces it, or fails the
// job if that is refused.
func (t *txn) settleReplacing(ctx context.Context, w *settling, i int) error {
	s := &w.asked[i]
	refusal := envelope.NormalizeJobs([]*fairlead.Job{s.Replace})
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
		if !verdict.RefusesReplacement(err) {
			return err
		}
		delete(w.stored, i)
		refusal = err
	}
	failed := &settling{asked: []fairlead.Settlement{verdict.Refused(s, refusal)}, answers: make([]fairlead.Settled, 1)}
	_, err := t.settleEach(ctx, failed, []int{0})
	w.answers[i] = failed.answers[0]
	return err
}
