package sqlite

import (
	"errors"
	"fmt"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// apply moves a running or waiting job as its handler, or whoever answered for
// it, decided.
func (t *txn) apply(p *placed, m *move) (settledMove, error) {
	if err := t.keep(p.id, m.Memo, m.Progress); err != nil {
		return settledMove{}, err
	}
	if p.wish.Valid && m.Move != fairlead.Succeed && m.Move != fairlead.Fail {
		err := t.finish(p, end{outcome: sqlstore.OutcomeCancelled, err: p.wish.String})
		return settledMove{settled: fairlead.SettledCancelled}, err
	}
	switch m.Move {
	case fairlead.Succeed:
		return t.succeedOne(p, m)
	case fairlead.Fail:
		return settledMove{}, t.fail(p, m.Reason, m.Error)
	case fairlead.Drop:
		return settledMove{}, t.finish(p, end{outcome: sqlstore.OutcomeCancelled, reason: m.Reason, err: m.Error})
	case fairlead.Again:
		if err := t.record(p, m.Reason, m.Error); err != nil {
			return settledMove{}, err
		}
		p.failures++
		return settledMove{}, t.await(p, m.due(t.now))
	case fairlead.Snooze:
		return settledMove{}, t.await(p, m.due(t.now))
	case fairlead.MoveRelease:
		p.attempt--
		return settledMove{}, t.await(p, t.now)
	case fairlead.MoveAwait:
		return settledMove{}, t.suspend(p, t.now+m.After.Microseconds())
	}
	return settledMove{}, fmt.Errorf("there is no move %q: %w", m.Move, fairlead.ErrInvalid)
}

// due is when the job is to run again.
func (m *move) due(now int64) int64 {
	if !m.At.IsZero() {
		return sqlstore.Micros(m.At)
	}
	return now + m.After.Microseconds()
}

// fail ends the job as failed.
func (t *txn) fail(p *placed, reason fairlead.Reason, err string) error {
	if err := t.record(p, reason, err); err != nil {
		return err
	}
	p.failures++
	return t.finish(p, end{outcome: sqlstore.OutcomeFailed, reason: reason, err: err})
}

// succeedOne ends the job as succeeded and enqueues what replaces it. If the
// replacement can not be stored, the job has not done what it meant to do: it
// fails.
func (t *txn) succeedOne(p *placed, m *move) (settledMove, error) {
	success := end{outcome: sqlstore.OutcomeSucceeded, output: m.Output}
	if m.replacement == nil {
		return settledMove{}, t.finish(p, success)
	}
	if m.refused != nil {
		return settledMove{}, t.fail(p, fairlead.ReasonError, sqlstore.ReplacementRefused(m.refused))
	}
	var ids []int64
	err := t.inSavepoint(func() (err error) {
		if err = t.finish(p, success); err == nil { // first, as the replacement may take over its key
			ids, err = t.enqueue(m.replacement)
		}
		return err
	})
	if errors.Is(err, fairlead.ErrConflict) {
		return settledMove{}, t.fail(p, fairlead.ReasonError, sqlstore.ReplacementRefused(err))
	}
	if err != nil {
		return settledMove{}, err
	}
	return settledMove{replacement: ids[0]}, nil
}
