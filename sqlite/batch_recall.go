package sqlite

import (
	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// recall removes jobs of a range that have never been started, and returns their ids in order.
func (t *txn) recall(first, last int64) (ids []int64, err error) {
	places := map[fairlead.State][]int64{}
	err = t.each(t.sql.Recallable, []any{first, last}, func(row sqlstore.Scanner) error {
		var id int64
		var lane int32
		var state fairlead.State
		err := row.Scan(&id, &lane, &state)
		ids = append(ids, id)
		places[state] = append(places[state], id)
		if state == fairlead.Ready {
			t.leftReady(lane)
		}
		return err
	})
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	for state, leave := range map[fairlead.State]string{
		fairlead.Scheduled: t.sql.LeaveLaterMany, fairlead.Ready: t.sql.LeaveReadyMany, fairlead.Parked: t.sql.LeaveParkedMany,
	} {
		if n := len(places[state]); n > 0 {
			if err := t.must(int64(n), leave, idList(places[state])); err != nil {
				return nil, err
			}
		}
	}
	if err := t.giveBackMany(idList(ids)); err != nil {
		return nil, err
	}
	return ids, t.forget(ids)
}
