package sqlite

import (
	"context"
	"maps"
	"slices"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// retireLanes takes the next step of the walk that finds lanes without jobs. See
// sqlstore.LaneWalk. No other transaction writes meanwhile, so no job can be stored in
// a lane that is about to be removed.
func (s *Store) retireLanes(ctx context.Context) error {
	_, err := inTx(ctx, s, "prune lanes", func(t *txn) (none, error) {
		w := laneWalk{txn: t}
		return none{}, w.step()
	})
	return err
}

// laneWalk is one step of the walk.
type laneWalk struct {
	*txn
	walk sqlstore.LaneWalk
}

func (w *laneWalk) step() error {
	walk := &w.walk
	walk.Now, walk.Settled = w.now, true
	found, err := w.one(w.sql.LaneWalk, nil, &walk.BegunAt, &walk.After, &walk.EndedAt)
	if err != nil || !found || walk.EndedAt != 0 && !walk.Due() {
		return err
	}
	if walk.Due() {
		walk.Begin(true)
		if _, err := w.exec(w.sql.StampLanes, walk.Now); err != nil {
			return err
		}
	}
	more, err := w.window()
	if err != nil {
		return err
	}
	if !more {
		if err := w.end(); err != nil {
			return err
		}
	}
	return w.must(1, w.sql.KeepLaneWalk, walk.BegunAt, walk.After, walk.EndedAt)
}

// window reads the next jobs. It reports whether there may be more.
func (w *laneWalk) window() (more bool, err error) {
	jobs, lanes := 0, map[int64]bool{}
	err = w.each(w.sql.LanesOfWindow, []any{w.walk.After, sqlstore.LaneWalkWindow}, func(row sqlstore.Scanner) error {
		var lane, last int64
		var n int
		err := row.Scan(&lane, &n, &last)
		lanes[lane] = true
		jobs, w.walk.After = jobs+n, max(w.walk.After, last)
		return err
	})
	if err != nil {
		return false, err
	}
	list := idList(slices.Sorted(maps.Keys(lanes)))
	if _, err := w.exec(w.sql.SeeLanes, w.walk.Now, list, w.walk.BegunAt); err != nil {
		return false, err
	}
	return jobs == sqlstore.LaneWalkWindow, w.changeLanes(w.sql.ReopenLanes, list)
}

// changeLanes runs a statement that changes which lanes are in use.
func (t *txn) changeLanes(statement string, args ...any) error {
	hit, err := t.exec(statement, args...)
	if err == nil && hit > 0 {
		_, err = t.next(lanesCounter, 1)
	}
	return err
}

// end retires and removes the lanes that the walk has not seen.
func (w *laneWalk) end() error {
	w.walk.EndedAt = w.walk.Now
	if err := w.changeLanes(w.sql.RemoveLanes, w.walk.Retired(), w.walk.BegunAt, sqlstore.LaneWalkEnd); err != nil {
		return err
	}
	return w.changeLanes(w.sql.RetireLanes, w.walk.Now, w.walk.Unused(), sqlstore.LaneWalkEnd)
}
