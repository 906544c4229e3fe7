package postgres

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/reads"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

const (
	laneStaleness = time.Second // how long a lane created by another process may stay unseen
	laneSettling  = time.Minute // after which no lane with a smaller id can appear
)

// knownLanes is the cache of lanes, with how far it has read the table.
type knownLanes struct {
	*sqlstore.Lanes

	anew    atomic.Bool  // the whole table has to be read again
	removed atomic.Int64 // how many lanes had been removed when the cache last looked for removed lanes
	kept    atomic.Int64 // how many lanes remained then

	mu       sync.Mutex
	readAt   time.Time // of the last refresh
	top      int32     // the largest id read
	floor    int32     // no new lane has a smaller id
	highest  int32     // the largest id when floor was raised
	raisedAt time.Time
}

// laneIDs returns the lanes of jobs, in the same order. It creates lanes that do not
// exist and commits them before it returns, whatever happens to the jobs.
func (s *Store) laneIDs(ctx context.Context, jobs []*fairlead.Job) ([]int32, error) {
	ids := make([]int32, len(jobs))
	for try := 0; ; try++ {
		if known(s.lanes.Lanes, jobs, ids) {
			return ids, nil
		}
		if try == renewTries {
			return nil, fmt.Errorf("lanes disappear from the table as soon as they are created")
		}
		if err := s.addLanes(ctx, s.lanes.Missing(jobs)); err != nil {
			return nil, fmt.Errorf("create lanes: %w", err)
		}
	}
}

func known(lanes *sqlstore.Lanes, jobs []*fairlead.Job, ids []int32) bool {
	for i, job := range jobs {
		if i > 0 && sqlstore.KeyOf(job) == sqlstore.KeyOf(jobs[i-1]) {
			ids[i] = ids[i-1]
			continue
		}
		id, ok := lanes.ID(sqlstore.KeyOf(job))
		if !ok {
			return false
		}
		ids[i] = id
	}
	return true
}

// addLanes creates missing lanes and caches them once they are committed. Until then
// they may be rolled back, and a job in one of them would never be found.
func (s *Store) addLanes(ctx context.Context, missing []sqlstore.LaneKey) error {
	queues, tenants, kinds := make([]string, len(missing)), make([]string, len(missing)), make([]string, len(missing))
	for i, key := range missing {
		queues[i], tenants[i], kinds[i] = key.Queue, key.Tenant, key.Kind
	}
	names := []any{queues, tenants, kinds}
	ctx = beside(ctx)
	made := map[sqlstore.LaneKey]sqlstore.Lane{} // by key: a retry gets other ids
	err := s.run(ctx,
		call{sql: s.sql.AddLanes, args: names},
		call{sql: s.sql.NamedLanes, args: names, each: func(row sqlstore.Scanner) error {
			lane, err := scanLane(row)
			made[lane.LaneKey] = lane
			return err
		}})
	if err != nil {
		return err
	}
	for _, lane := range made {
		s.lanes.Add(lane)
	}
	if sqlstore.TooManyLanes(len(s.lanes.Known()), s.lanes.kept.Load()) {
		return s.dropGoneLanes(ctx)
	}
	return nil
}

func scanLane(row sqlstore.Scanner) (lane sqlstore.Lane, err error) {
	err = row.Scan(&lane.ID, &lane.Queue, &lane.Tenant, &lane.Kind)
	return lane, err
}

// refreshLanes reads lanes that other processes created, unless it did so less than
// maxAge ago.
func (s *Store) refreshLanes(ctx context.Context, maxAge time.Duration) error {
	s.lanes.mu.Lock()
	defer s.lanes.mu.Unlock()
	ctx = beside(ctx)
	now := time.Now()
	anew := s.lanes.anew.Swap(false)
	switch {
	case anew:
		s.lanes.top, s.lanes.floor, s.lanes.highest, s.lanes.raisedAt = 0, 0, 0, now
	case now.Sub(s.lanes.readAt) < maxAge:
		return nil
	}
	if s.lanes.top == 0 { // the first time
		err := s.run(ctx, call{sql: s.sql.SettledLane, args: []any{laneSettling.Microseconds()}, each: func(row sqlstore.Scanner) error { return row.Scan(&s.lanes.floor) }})
		if err != nil {
			return fmt.Errorf("read lanes: %w", err)
		}
	}
	from := s.lanes.top
	missing, ok := s.lanes.MissingLanes(s.lanes.floor, from)
	if !ok {
		from = s.lanes.floor
	}
	err := s.run(reads.Without(ctx), call{sql: s.sql.LanesAbove, args: []any{from, missing}, each: func(row sqlstore.Scanner) error {
		lane, err := scanLane(row)
		if err != nil {
			return err
		}
		s.lanes.Add(lane)
		s.lanes.top = max(s.lanes.top, lane.ID)
		return nil
	}})
	if err != nil {
		if anew {
			s.lanes.anew.Store(true)
		}
		return fmt.Errorf("read lanes: %w", err)
	}
	s.lanes.readAt = now
	// Ids are drawn before they are committed: a smaller one may still appear, but not
	// much later.
	if now.Sub(s.lanes.raisedAt) > laneSettling {
		s.lanes.floor, s.lanes.highest, s.lanes.raisedAt = max(s.lanes.floor, s.lanes.highest), s.lanes.top, now
	}
	return nil
}

// forgetLanes drops lanes that differ from what was cached. They may exist under other
// names, which only reading the whole table shows.
func (s *Store) forgetLanes(lanes ...int32) {
	s.lanes.Forget(lanes...)
	s.lanes.anew.Store(true)
	s.laneCursors.rewind(lanes...)
	s.laneHeads.touch(lanes...)
}

// laneKeys returns the names of lanes for listeners of this process, or nil if one is
// unknown.
func laneKeys(cache *sqlstore.Lanes, lanes iter.Seq[int32]) []sqlstore.LaneKey {
	keys := []sqlstore.LaneKey{}
	for id := range lanes {
		key, ok := cache.Key(id)
		if !ok {
			return nil
		}
		keys = append(keys, key)
	}
	return keys
}

// knowLanesOf sets the lanes of jobs that are about to be stored, inside a transaction.
func (s *Store) knowLanesOf(fresh *newJobs) error {
	fresh.lanes = make([]int32, len(fresh.jobs))
	if !known(s.lanes.Lanes, fresh.jobs, fresh.lanes) {
		return unknownLanes(s.lanes.Missing(fresh.jobs))
	}
	return nil
}

// unknownLanes reports that jobs are to be stored in lanes that this process does not
// know. The store looks lanes up and creates them on another connection, but no
// transaction waits for a second connection: the transaction is rolled back, and
// repeated once the lanes are known.
type unknownLanes []sqlstore.LaneKey

// Error implements error.
func (u unknownLanes) Error() string { return fmt.Sprintf("%d lanes are not known yet", len(u)) }
