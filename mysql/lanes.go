package mysql

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/reads"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// idBlock is how many job ids a process reserves at a time.
const idBlock = 1000

// takeIDs reserves blocks of job ids. If the database gives out ids that it gave to
// this process before, it has lost commits, and takeIDs continues above them.
func (s *Store) takeIDs(ctx context.Context, n int) ([]int64, error) {
	last, err := s.raiseIDs(ctx, n*idBlock)
	if highest := s.ids.Highest(); err == nil && last-int64(n*idBlock) < highest {
		if _, err = s.meetOnce(ctx, s.number.Load()); err == nil {
			last, err = s.raiseIDs(ctx, n*idBlock)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("reserve ids: %w", err)
	}
	blocks := make([]int64, n)
	for i := range blocks {
		blocks[i] = last - int64((n-i)*idBlock) + 1
	}
	return blocks, nil
}

// raiseIDs reserves ids and returns the last of them.
func (s *Store) raiseIDs(ctx context.Context, n int) (int64, error) {
	result, err := s.execQuickly(ctx, s.sql.TakeIDs, n)
	if err != nil {
		return 0, err
	}
	return result.LastInsertId()
}

// prepare gets what new jobs need from outside of the transaction that stores them:
// ids, and lanes, which must not disappear with the transaction or wait for it.
func (s *Store) prepare(ctx context.Context, jobs []*fairlead.Job) ([]int64, error) {
	if missing := s.lanes.Missing(jobs); len(missing) > 0 {
		if err := s.makeLanes(ctx, missing); err != nil {
			return nil, fmt.Errorf("create lanes: %w", err)
		}
	}
	ids := make([]int64, len(jobs))
	return ids, s.ids.Fill(ctx, ids)
}

// makeLanes looks lanes up and creates those that do not exist. Looking first wastes no
// ids: an ignored insert uses one up.
func (s *Store) makeLanes(ctx context.Context, lanes []sqlstore.LaneKey) error {
	if sqlstore.TooManyLanes(len(s.lanes.Known()), s.lanesKept.Load()) {
		if err := s.dropGoneLanes(ctx); err != nil {
			return err
		}
	}
	var names tuples
	for _, lane := range lanes {
		names.add().str(lane.Queue).str(lane.Tenant).str(lane.Kind).end()
	}
	for list := range names.chunks() {
		found, err := s.readLanes(ctx, fill(s.sql.NamedLanes, "rows", list))
		if err != nil {
			return err
		}
		if len(found) == len(lanes) {
			return nil
		}
		for _, statement := range []string{s.sql.ReopenLanes, s.sql.AddLanes} {
			if _, err := s.execQuickly(ctx, fill(statement, "rows", list)); err != nil {
				return err
			}
		}
		if _, err := s.readLanes(ctx, fill(s.sql.NamedLanes, "rows", list)); err != nil {
			return err
		}
	}
	return nil
}

// readLanes adds the lanes of an answer to the cache.
func (s *Store) readLanes(ctx context.Context, statement string, args ...any) (found []sqlstore.Lane, err error) {
	err = each(ctx, s.lifeline, func(row *sql.Rows) error {
		var lane sqlstore.Lane
		if err := row.Scan(&lane.ID, &lane.Queue, &lane.Tenant, &lane.Kind); err != nil {
			return err
		}
		found = append(found, lane)
		return nil
	}, statement, args...)
	s.lanes.Add(found...)
	return found, err
}

// laneKey returns the names of a lane.
func (s *Store) laneKey(ctx context.Context, lane int32) (sqlstore.LaneKey, error) {
	if key, known := s.lanes.Key(lane); known {
		return key, nil
	}
	if err := s.refreshLanes(ctx); err != nil {
		return sqlstore.LaneKey{}, err
	}
	key, known := s.lanes.Key(lane)
	if !known {
		return key, fmt.Errorf("lane %d does not exist", lane)
	}
	return key, nil
}

const (
	// laneInterval is the shortest time between two reads of the lane table for claims.
	laneInterval = time.Second
	// laneSettling is the time after which no lane with a smaller id can appear. Ids
	// are given out before they are committed, many at a time.
	laneSettling = 2 * time.Minute
)

// refreshLanes reads lanes that other processes created.
func (s *Store) refreshLanes(ctx context.Context) error {
	s.refreshing.Lock()
	defer s.refreshing.Unlock()
	return s.readNewLanes(ctx)
}

// refreshLanesSometimes does so at most once per interval, and not while another
// goroutine does.
func (s *Store) refreshLanesSometimes(ctx context.Context) error {
	if time.Since(time.Unix(0, s.refreshed.Load())) < laneInterval || !s.refreshing.TryLock() {
		return nil
	}
	defer s.refreshing.Unlock()
	return s.readNewLanes(ctx)
}

func (s *Store) readNewLanes(ctx context.Context) error {
	if s.lanesGone.Swap(false) {
		s.laneTop, s.laneFloor, s.laneNewest, s.laneRaised = 0, 0, 0, time.Time{}
	}
	if s.laneTop == 0 { // the first time
		if err := one(ctx, s.lifeline, []any{&s.laneFloor}, s.sql.SettledLane, laneSettling.Microseconds()); err != nil {
			return fmt.Errorf("read lanes: %w", err)
		}
	}
	from, list := s.laneTop, []int64{0} // an id that no lane has
	missing, ok := s.lanes.MissingLanes(s.laneFloor, from)
	if !ok {
		from = s.laneFloor
	}
	for _, id := range missing {
		list = append(list, int64(id))
	}
	found, err := s.readLanes(reads.Without(ctx), fill(s.sql.LanesAbove, "ids", idList(list)), from)
	if err != nil {
		return fmt.Errorf("read lanes: %w", err)
	}
	for _, lane := range found {
		s.laneTop = max(s.laneTop, lane.ID)
	}
	now := time.Now()
	s.refreshed.Store(now.UnixNano())
	if now.Sub(s.laneRaised) > laneSettling {
		s.laneFloor, s.laneNewest, s.laneRaised = max(s.laneFloor, s.laneNewest), s.laneTop, now
	}
	return nil
}
