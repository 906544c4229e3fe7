package sqlite

import (
	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// takeSuspects takes the first suspects of the lanes. There are never many.
func (l *leases) takeSuspects(lanes []sqlstore.Lane, claim fairlead.Claim) ([]*fairlead.Job, error) {
	suspects, err := l.suspects(lanes, claim)
	if err != nil || len(suspects) == 0 {
		return nil, err
	}
	if err := l.takeFence(); err != nil {
		return nil, err
	}
	var ids []int64
	for _, s := range suspects {
		if err := l.must(1, l.sql.StartSuspect, l.fence, int64(l.node), l.now, s.lane, s.key.turn, s.key.startBy, s.key.id); err != nil {
			return nil, err
		}
		if err := l.must(1, l.sql.LeaveReady, s.lane, s.key.turn, s.key.startBy, s.key.id); err != nil {
			return nil, err
		}
		ids = append(ids, s.key.id)
	}
	jobs, err := l.loadStarted(lanes, ids)
	for _, job := range jobs {
		job.Solo = true
	}
	return jobs, err
}

// suspect is a ready job that may have killed its nodes.
type suspect struct {
	lane int32
	key  readyKey
}

func (t *txn) suspects(lanes []sqlstore.Lane, claim fairlead.Claim) ([]suspect, error) {
	open := make(map[int32]sqlstore.Lane, len(lanes))
	for _, lane := range lanes {
		open[lane.ID] = lane
	}
	chosen := newChoice(claim)
	var suspects []suspect
	err := t.each(t.sql.Suspects, nil, func(row sqlstore.Scanner) error {
		var s suspect
		if err := row.Scan(&s.lane, &s.key.turn, &s.key.startBy, &s.key.id); err != nil {
			return err
		}
		if lane, ok := open[s.lane]; ok && !chosen.full() && chosen.take(lane, s.key) {
			suspects = append(suspects, s)
		}
		return nil
	})
	return suspects, err
}
