package sqlite

import (
	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/dispatch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// suspectLanes are the lanes that have suspects: ready jobs that may have
// killed their nodes. There are never many.
func (l *leases) suspectLanes(open []sqlstore.Lane, governed func(sqlstore.Lane) *dispatch.Lane) ([]*dispatch.Lane, error) {
	names := make(map[int32]sqlstore.Lane, len(open))
	for _, lane := range open {
		names[lane.ID] = lane
	}
	byID := map[int32]*dispatch.Lane{}
	var lanes []*dispatch.Lane
	err := l.each(l.sql.Suspects, nil, func(row sqlstore.Scanner) error {
		var id int32
		var key readyKey
		if err := row.Scan(&id, &key.turn, &key.startBy, &key.id); err != nil {
			return err
		}
		name, ok := names[id]
		if !ok {
			return nil
		}
		lane := byID[id]
		if lane == nil {
			lane = governed(name)
			lane.All = true
			byID[id] = lane
			lanes = append(lanes, lane)
		}
		lane.Keys = append(lane.Keys, key.dispatched())
		return nil
	})
	return lanes, err
}

// startSuspects starts suspects one by one.
func (l *leases) startSuspects(open []sqlstore.Lane, picks []dispatch.Pick) ([]*fairlead.Job, error) {
	if err := l.takeFence(); err != nil {
		return nil, err
	}
	ids := make([]int64, len(picks))
	for i, pick := range picks {
		if err := l.must(1, l.sql.StartSuspect, l.fence, int64(l.node), l.now, pick.Lane.ID, pick.Turn, pick.StartBy, pick.ID); err != nil {
			return nil, err
		}
		if err := l.must(1, l.sql.LeaveReady, pick.Lane.ID, pick.Turn, pick.StartBy, pick.ID); err != nil {
			return nil, err
		}
		ids[i] = pick.ID
	}
	jobs, err := l.loadStarted(open, ids)
	for _, job := range jobs {
		job.Solo = true
	}
	return jobs, err
}
