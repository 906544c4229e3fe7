package postgres

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// retireLanes takes the next step of the walk that finds lanes without jobs, unless
// another process does. See sqlstore.LaneWalk.
func (s *Store) retireLanes(ctx context.Context) error {
	var w laneWalk
	err := s.inTx(ctx, func(ctx context.Context, r runner) error {
		w = laneWalk{sql: &s.sql, in: r}
		return w.step(ctx)
	})
	if err != nil || !w.mine {
		return err
	}
	return s.forgetGoneLanes(ctx, w.Removed)
}

// laneWalk is one step of the walk.
type laneWalk struct {
	sqlstore.LaneWalk
	sql  *statements
	in   runner
	mine bool // this process has locked the walk
}

func (w *laneWalk) step(ctx context.Context) error {
	err := w.in.run(ctx, call{sql: w.sql.LaneWalk, each: func(row sqlstore.Scanner) error {
		w.mine = true
		return row.Scan(&w.BegunAt, &w.After, &w.EndedAt, &w.Settled, &w.Removed, &w.Now)
	}})
	if err != nil || !w.mine || w.EndedAt != 0 && !w.Due() {
		return err
	}
	if w.Due() {
		if err := w.begin(ctx); err != nil {
			return err
		}
	}
	more, err := w.window(ctx)
	if err != nil {
		return err
	}
	retired := 0
	if !more {
		if retired, err = w.end(ctx); err != nil {
			return err
		}
	}
	return w.in.run(ctx, call{sql: w.sql.KeepLaneWalk, args: []any{w.BegunAt, w.After, w.EndedAt, w.Settled, w.Removed, retired > 0}})
}

func (w *laneWalk) begin(ctx context.Context) error {
	settled := false
	err := w.in.run(ctx,
		call{sql: w.sql.LanesSettled, each: func(row sqlstore.Scanner) error { return row.Scan(&settled) }},
		call{sql: w.sql.StampLanes, args: []any{w.Now}})
	w.Begin(settled)
	return err
}

// window reads the next jobs. It reports whether there may be more.
func (w *laneWalk) window(ctx context.Context) (more bool, err error) {
	jobs, lanes := 0, map[int32]bool{}
	err = w.in.run(ctx, call{sql: w.sql.LanesOfWindow, args: []any{w.After, sqlstore.LaneWalkWindow}, each: func(row sqlstore.Scanner) error {
		var lane int32
		var n int
		var last int64
		err := row.Scan(&lane, &n, &last)
		lanes[lane] = true
		jobs, w.After = jobs+n, max(w.After, last)
		return err
	}})
	if err != nil {
		return false, err
	}
	return jobs == sqlstore.LaneWalkWindow, w.see(ctx, lanes)
}

// see records that lanes are in use.
func (w *laneWalk) see(ctx context.Context, lanes map[int32]bool) error {
	if len(lanes) == 0 {
		return nil
	}
	ids := slices.Sorted(maps.Keys(lanes))
	return w.in.run(ctx, call{sql: w.sql.SeeLanes, args: []any{ids, w.BegunAt, w.Now}})
}

// end retires and removes the lanes that the walk has not seen. It returns how many it
// retired.
func (w *laneWalk) end(ctx context.Context) (retired int, err error) {
	var lanes map[int32]bool
	if err := w.in.run(ctx, lanesCall(&lanes, w.sql.LanesOfSchedules)); err != nil {
		return 0, err
	}
	if err := w.see(ctx, lanes); err != nil {
		return 0, err
	}
	var removed map[int32]bool
	var calls []call
	if w.Settled {
		calls = append(calls, lanesCall(&removed, w.sql.RemoveLanes, w.Retired(), w.BegunAt, sqlstore.LaneWalkEnd))
	}
	calls = append(calls, call{
		sql: w.sql.RetireLanes, args: []any{w.Unused(), w.Now, sqlstore.LaneWalkEnd},
		each: func(row sqlstore.Scanner) error { return row.Scan(&retired) },
	})
	err = w.in.run(ctx, calls...)
	w.EndedAt, w.Removed = w.Now, w.Removed+int64(len(removed))
	return retired, err
}

// forgetGoneLanes drops removed lanes from the cache, if lanes were removed since its
// last call.
func (s *Store) forgetGoneLanes(ctx context.Context, removed int64) error {
	if s.lanes.removed.Load() == removed {
		return nil
	}
	if err := s.dropGoneLanes(ctx); err != nil {
		return err
	}
	s.lanes.removed.Store(removed)
	return nil
}

// dropGoneLanes drops lanes from the cache that are not in the table.
func (s *Store) dropGoneLanes(ctx context.Context) error {
	known := s.lanes.Known()
	var all map[int32]bool
	if err := s.runPlain(ctx, lanesCall(&all, s.sql.LaneIDs)); err != nil {
		return fmt.Errorf("list lanes: %w", err)
	}
	s.lanes.Forget(sqlstore.Gone(known, all)...)
	s.lanes.kept.Store(int64(len(s.lanes.Known())))
	return nil
}
