package sqlite

import (
	"fmt"
	"sync"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// lanes caches the lane table: committed lanes only, as a rollback would give
// the number of any other to somebody else.
type lanes struct {
	*sqlstore.Lanes
	mu   sync.Mutex
	upTo int32 // all lanes up to this id are cached, but for those that were removed
	use  laneUse
}

// laneUse is which lanes were given up, as of a value of the counter of lanes.
type laneUse struct {
	version int64
	retired map[int32]bool
}

func (l *lanes) inUse() laneUse {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.use
}

// learn adds committed lanes, read in order from where upTo was or before.
func (l *lanes) learn(read []sqlstore.Lane) {
	if len(read) == 0 {
		return
	}
	l.Add(read...)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.upTo = max(l.upTo, read[len(read)-1].ID)
}

func (l *lanes) known() int32 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.upTo
}

// newLanes reads the lanes that were made since the cache last learned. In a
// transaction that writes, some of them may not be committed yet: they are
// learned with its commit.
func (t *txn) newLanes() ([]sqlstore.Lane, error) {
	var read []sqlstore.Lane
	err := t.each(t.sql.NewLanes, []any{t.lanes.known()}, func(row sqlstore.Scanner) error {
		var lane sqlstore.Lane
		if err := row.Scan(&lane.ID, &lane.Queue, &lane.Tenant, &lane.Kind); err != nil {
			return err
		}
		read = append(read, lane)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read lanes: %w", err)
	}
	if t.readOnly {
		t.lanes.learn(read)
	} else {
		t.news.read = read
	}
	return read, nil
}

// catchUp learns the lanes that other processes made and that the filter may
// choose. Where reads share the transactions of the writer there are no other
// processes.
func (t *txn) catchUp(filter fairlead.Filter) error {
	if !t.readOnly || len(filter.Kinds)+len(filter.Queues)+len(filter.Tenants) == 0 {
		return nil
	}
	_, err := t.newLanes()
	return err
}

// served lists the lanes that a scope may claim from, including those that
// other processes made just now.
func (t *txn) served(scope *fairlead.Scope) ([]sqlstore.Lane, error) {
	fresh, err := t.newLanes()
	if err != nil {
		return nil, err
	}
	served := t.lanes.Served(scope)
	served = served[:len(served):len(served)] // it is shared: appending copies
	for _, lane := range fresh {
		if _, known := t.lanes.Key(lane.ID); !known && sqlstore.Serves(scope, lane.LaneKey) {
			served = append(served, lane)
		}
	}
	return served, nil
}

// cachedLane finds the lane of a new job in the cache, if what is cached is still true:
// nothing may be stored in a lane that was removed, or given up and not taken into use
// again.
func (t *txn) cachedLane(key sqlstore.LaneKey) (id int32, known bool, err error) {
	if t.counters.now == nil {
		if err := t.readCounters(); err != nil {
			return 0, false, err
		}
	}
	use := t.lanes.inUse()
	if t.heads != nil && use.version != t.counters.read[lanesCounter] {
		if use, err = t.readUse(t.counters.read[lanesCounter]); err != nil {
			return 0, false, fmt.Errorf("read lanes: %w", err)
		}
	}
	if use.version != t.counters.now[lanesCounter] { // this transaction has changed it, and may be undone
		return 0, false, nil
	}
	id, known = t.lanes.ID(key)
	return id, known && !use.retired[id], nil
}

// readUse finds out which lanes were given up or removed. Only the writer does that,
// before it has changed any: a caller's transaction may have, and be rolled back.
func (t *txn) readUse(version int64) (laneUse, error) {
	use, known, all := laneUse{version: version, retired: map[int32]bool{}}, t.lanes.Known(), map[int32]bool{}
	err := t.each(t.sql.LanesInUse, nil, func(row sqlstore.Scanner) error {
		var lane int32
		var givenUp bool
		err := row.Scan(&lane, &givenUp)
		all[lane] = true
		if givenUp {
			use.retired[lane] = true
		}
		return err
	})
	if err != nil || t.counters.now[lanesCounter] != version {
		return use, err
	}
	t.lanes.Forget(sqlstore.Gone(known, all)...)
	t.lanes.mu.Lock()
	defer t.lanes.mu.Unlock()
	t.lanes.use = use
	return use, nil
}

// laneOf finds the lane of a new job, or makes it.
func (t *txn) laneOf(key sqlstore.LaneKey) (int32, error) {
	if id, known, err := t.cachedLane(key); known || err != nil {
		return id, err
	}
	var id int32
	args := []any{key.Queue, key.Tenant, key.Kind}
	if err := t.changeLanes(t.sql.ReopenLane, append([]any{t.now}, args...)...); err != nil {
		return 0, fmt.Errorf("reopen lane: %w", err)
	}
	if _, err := t.exec(t.sql.InsertLane, args...); err != nil {
		return 0, fmt.Errorf("make lane: %w", err)
	}
	if _, err := t.one(t.sql.LaneID, args, &id); err != nil {
		return 0, fmt.Errorf("find lane: %w", err)
	}
	t.news.made = append(t.news.made, sqlstore.Lane{ID: id, LaneKey: key})
	return id, nil
}

// laneNamed names a lane that holds a job.
func (t *txn) laneNamed(id int32) (sqlstore.LaneKey, error) {
	if key, ok := t.lanes.Key(id); ok {
		return key, nil
	}
	fresh, err := t.newLanes()
	if err != nil {
		return sqlstore.LaneKey{}, err
	}
	for _, lane := range fresh {
		if lane.ID == id {
			return lane.LaneKey, nil
		}
	}
	return sqlstore.LaneKey{}, fmt.Errorf("there is no lane %d", id)
}
