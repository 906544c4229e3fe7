package sqlite

import (
	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/dispatch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// suspectLanes returns the lanes that have suspects: ready jobs that may have killed
// their nodes. There are never many.
func (l *claimer) suspectLanes(open []sqlstore.Lane) ([]*dispatch.Lane, error) {
	names := make(map[int32]sqlstore.Lane, len(open))
	for _, lane := range open {
		names[lane.ID] = lane
	}
	byID := map[int32]*dispatch.Lane{}
	var lanes []*dispatch.Lane
	err := l.each(l.sql.SuspectLanes, nil, func(row sqlstore.Scanner) error {
		var id int32
		var key dispatch.Key
		if err := row.Scan(&id, &key.Turn, &key.StartBy, &key.ID); err != nil {
			return err
		}
		name, ok := names[id]
		if !ok {
			return nil
		}
		lane := byID[id]
		if lane == nil {
			lane = &dispatch.Lane{ID: id, All: true}
			l.addLimits(lane, name)
			byID[id] = lane
			lanes = append(lanes, lane)
		}
		lane.Keys = append(lane.Keys, key)
		return nil
	})
	return lanes, err
}

// startSuspects starts suspects one by one.
func (l *claimer) startSuspects(open []sqlstore.Lane, picks []dispatch.Pick) ([]*fairlead.Job, error) {
	if err := l.takeFence(); err != nil {
		return nil, err
	}
	names := make(map[int32]sqlstore.LaneKey, len(open))
	for _, lane := range open {
		names[lane.ID] = lane.LaneKey
	}
	ids := make([]int64, len(picks))
	for i, pick := range picks {
		if err := l.must(1, l.sql.ClaimSuspect, l.fence, int64(l.node), l.now, pick.Lane.ID, pick.Turn, pick.StartBy, pick.ID); err != nil {
			return nil, err
		}
		if err := l.must(1, l.sql.LeaveReady, pick.Lane.ID, pick.Turn, pick.StartBy, pick.ID); err != nil {
			return nil, err
		}
		ids[i] = pick.ID
	}
	jobs, err := l.loadStarted(names, ids)
	for _, job := range jobs {
		job.Solo = true
	}
	return jobs, err
}
