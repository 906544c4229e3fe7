package mysql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/go-sql-driver/mysql"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// retireLanes takes the next step of the walk that finds lanes without jobs, unless
// another process does. See sqlstore.LaneWalk.
//
// Only the right PROCESS shows whether a transaction is open that may have read a lane
// before it was retired. Without this right lanes are retired but never removed.
func (s *Store) retireLanes(ctx context.Context) error {
	var w laneWalk
	err := s.inTx(ctx, "prune lanes", func(ctx context.Context, t *txn) error {
		w = laneWalk{txn: t}
		return w.step(ctx)
	})
	if err != nil || !w.mine {
		return err
	}
	return s.forgetGoneLanes(ctx, w.walk.Removed)
}

// laneWalk is one step of the walk.
type laneWalk struct {
	*txn
	walk      sqlstore.LaneWalk
	retiredAt string // a time after lanes were last retired; empty: not recorded yet
	mine      bool   // this process has locked the walk
}

func (w *laneWalk) step(ctx context.Context) (err error) {
	walk := &w.walk
	w.mine, err = w.one(ctx, []any{&walk.BegunAt, &walk.After, &walk.EndedAt, &walk.Settled, &walk.Removed, &w.retiredAt, &walk.Now}, w.sql.LaneWalk)
	if err != nil || !w.mine || walk.EndedAt != 0 && !walk.Due() {
		return err
	}
	if walk.Due() {
		if err := w.begin(ctx); err != nil {
			return err
		}
	}
	more, err := w.window(ctx)
	if err != nil {
		return err
	}
	if !more {
		if err := w.end(ctx); err != nil {
			return err
		}
	}
	_, err = w.exec(ctx, w.sql.KeepLaneWalk, walk.BegunAt, walk.After, walk.EndedAt, walk.Settled, walk.Removed, w.retiredAt)
	return err
}

func (w *laneWalk) begin(ctx context.Context) error {
	settled, err := w.settled(ctx)
	if err != nil {
		return err
	}
	w.walk.Begin(settled)
	_, err = w.exec(ctx, w.sql.StampLanes, w.walk.Now)
	return err
}

// settled reports whether no transaction is open that is older than the last
// retirement. The first walk after a retirement records its time, when it is committed.
func (w *laneWalk) settled(ctx context.Context) (bool, error) {
	if w.retiredAt == "" {
		_, err := w.one(ctx, []any{&w.retiredAt}, w.sql.TransactionsClock)
		return false, err
	}
	var older int
	var younger bool
	if _, err := w.one(ctx, []any{&older, &younger}, w.sql.OlderTransactions, w.retiredAt, w.retiredAt); err != nil && !deniedProcess(err) {
		return false, err
	}
	return younger && older == 0, nil
}

// window reads the next jobs. It reports whether there may be more.
func (w *laneWalk) window(ctx context.Context) (more bool, err error) {
	jobs, lanes := 0, map[int64]bool{}
	err = w.each(ctx, func(row *sql.Rows) error {
		var lane, last int64
		var n int
		err := row.Scan(&lane, &n, &last)
		lanes[lane] = true
		jobs, w.walk.After = jobs+n, max(w.walk.After, last)
		return err
	}, w.sql.LanesOfWindow, w.walk.After, sqlstore.LaneWalkWindow)
	if err != nil {
		return false, err
	}
	for list := range idChunks(slices.Sorted(maps.Keys(lanes))) {
		if _, err := w.exec(ctx, fill(w.sql.SeeLanes, "ids", list), w.walk.Now, w.walk.BegunAt); err != nil {
			return false, err
		}
	}
	return jobs == sqlstore.LaneWalkWindow, nil
}

// end retires and removes the lanes that the walk has not seen.
func (w *laneWalk) end(ctx context.Context) error {
	w.walk.EndedAt = w.walk.Now
	if w.walk.Settled {
		if err := w.remove(ctx); err != nil {
			return err
		}
	}
	var unused []int64
	if err := w.each(ctx, collect(&unused), w.sql.LockUnusedLanes, w.walk.Unused(), sqlstore.LaneWalkEnd); err != nil || len(unused) == 0 {
		return err
	}
	for list := range idChunks(unused) {
		if _, err := w.exec(ctx, fill(w.sql.RetireLanes, "ids", list), w.walk.Now); err != nil {
			return err
		}
	}
	w.retiredAt = ""
	return nil
}

func (w *laneWalk) remove(ctx context.Context) error {
	var last int64
	if _, err := w.one(ctx, []any{&last}, w.sql.LastLane); err != nil {
		return err
	}
	var retired []int64
	if err := w.each(ctx, collect(&retired), w.sql.LockRetiredLanes, w.walk.Retired(), w.walk.BegunAt, last, sqlstore.LaneWalkEnd); err != nil {
		return err
	}
	for list := range idChunks(retired) {
		removed, err := w.exec(ctx, fill(w.sql.RemoveLanes, "ids", list))
		if err != nil {
			return err
		}
		w.walk.Removed += removed
	}
	return nil
}

// deniedProcess reports whether the server does not let the store see transactions.
func deniedProcess(err error) bool {
	const errSpecificAccessDenied = 1227
	var answer *mysql.MySQLError
	return errors.As(err, &answer) && answer.Number == errSpecificAccessDenied
}

// forgetGoneLanes drops removed lanes from the cache, if lanes were removed since its
// last call.
func (s *Store) forgetGoneLanes(ctx context.Context, removed int64) error {
	if s.lanesRemoved.Load() == removed {
		return nil
	}
	if err := s.dropGoneLanes(ctx); err != nil {
		return err
	}
	s.lanesRemoved.Store(removed)
	return nil
}

// dropGoneLanes drops lanes from the cache that are not in the table.
func (s *Store) dropGoneLanes(ctx context.Context) error {
	known, all := s.lanes.Known(), map[int32]bool{}
	err := each(ctx, s.lifeline, func(row *sql.Rows) error {
		var lane int32
		err := row.Scan(&lane)
		all[lane] = true
		return err
	}, s.sql.LaneIDs)
	if err != nil {
		return fmt.Errorf("list lanes: %w", err)
	}
	s.lanes.Forget(sqlstore.Gone(known, all)...)
	s.lanesKept.Store(int64(len(s.lanes.Known())))
	return nil
}
