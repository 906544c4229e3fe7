package sqlite

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// knownLanes caches the lane table. It holds committed lanes only: after a rollback the
// id of an uncommitted lane may go to another one.
type knownLanes struct {
	*sqlstore.Lanes
	lent    atomic.Bool // a caller's transaction may have created lanes, see learnLent
	mu      sync.Mutex
	upTo    int32 // all lanes up to this id are cached, except removed ones
	version int64 // of the counter of lanes, when removed lanes were last looked for
}

func (l *knownLanes) seen() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.version
}

// learn adds committed lanes, read in order from where upTo was or before.
func (l *knownLanes) learn(read []sqlstore.Lane) {
	if len(read) == 0 {
		return
	}
	l.Add(read...)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.upTo = max(l.upTo, read[len(read)-1].ID)
}

func (l *knownLanes) known() int32 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.upTo
}

// forget drops lanes that differ from what was cached. They may exist under other
// names, so all are read again.
func (l *knownLanes) forget(ids ...int32) {
	l.Forget(ids...)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.upTo = 0
}

// newLanes reads the lanes that were created since the cache last learned. In a
// transaction that writes, some of them may not be committed yet: they are learned with
// its commit.
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
		t.wakes.read = read
	}
	return read, nil
}

// catchUp learns the lanes that other processes created and that the filter may choose.
// Where reads share the transactions of the writer there are no other processes, and
// learnLent has learned the lanes of callers.
func (t *txn) catchUp(filter fairlead.Filter) error {
	if !t.readOnly || len(filter.Kinds)+len(filter.Queues)+len(filter.Tenants) == 0 {
		return nil
	}
	_, err := t.newLanes()
	return err
}

// learnLent learns the lanes that callers' transactions have created in a database in
// memory, where readers do not catch up. It is called before a transaction of the writer has
// changed anything, so that all it reads is committed.
func (t *txn) learnLent() error {
	if !t.lanes.lent.Swap(false) {
		return nil
	}
	t.readOnly = true
	_, err := t.newLanes()
	t.readOnly = false
	if err != nil {
		t.lanes.lent.Store(true)
	}
	return err
}

// served returns the lanes that a scope may claim from, including those that other
// processes created just now.
func (t *txn) served(scope *driver.Scope) ([]sqlstore.Lane, error) {
	fresh, err := t.newLanes()
	if err != nil {
		return nil, err
	}
	served := t.lanes.Served(scope)
	served = served[:len(served):len(served)] // the slice is shared, so appending must copy
	for _, lane := range fresh {
		if _, known := t.lanes.Key(lane.ID); !known && sqlstore.Serves(scope, lane.LaneKey) {
			served = append(served, lane)
		}
	}
	return served, nil
}

// checkRemoved drops lanes that were removed since its last call. Only the writer calls
// it, before it has changed any lane: a caller's transaction may have changed some, and
// may be rolled back.
func (t *txn) checkRemoved() error {
	if t.counters.now == nil {
		if err := t.readCounters(); err != nil {
			return err
		}
	}
	version := t.counters.read[lanesCounter]
	if t.laneHeads == nil || t.lanes.seen() == version || t.counters.now[lanesCounter] != version {
		return nil
	}
	known, left := t.lanes.Known(), map[int32]bool{}
	err := t.each(t.sql.LaneIDs, nil, func(row sqlstore.Scanner) error {
		var lane int32
		err := row.Scan(&lane)
		left[lane] = true
		return err
	})
	if err != nil {
		return fmt.Errorf("read lanes: %w", err)
	}
	t.lanes.Forget(sqlstore.Gone(known, left)...)
	t.lanes.mu.Lock()
	defer t.lanes.mu.Unlock()
	t.lanes.version = version
	return nil
}

// laneOf finds the lane of a new job, or creates it.
func (t *txn) laneOf(key sqlstore.LaneKey) (int32, error) {
	if err := t.checkRemoved(); err != nil {
		return 0, err
	}
	id, known := t.lanes.ID(key)
	if known {
		if current, err := t.laneIs(id, key); current || err != nil {
			return id, err
		}
		t.lanes.forget(id)
	}
	args := []any{key.Queue, key.Tenant, key.Kind}
	if err := t.changeLanes(t.sql.ReopenLane, append([]any{t.now}, args...)...); err != nil {
		return 0, fmt.Errorf("reopen lane: %w", err)
	}
	if _, err := t.exec(t.sql.InsertLane, args...); err != nil {
		return 0, fmt.Errorf("create lane: %w", err)
	}
	if _, err := t.one(t.sql.LaneID, args, &id); err != nil {
		return 0, fmt.Errorf("find lane: %w", err)
	}
	t.wakes.made = append(t.wakes.made, sqlstore.Lane{ID: id, LaneKey: key})
	return id, nil
}

// laneIs reports whether a lane is in use under its names. It looks once per
// transaction, because no other transaction can change the lane meanwhile.
func (t *txn) laneIs(id int32, key sqlstore.LaneKey) (bool, error) {
	lane := sqlstore.Lane{ID: id, LaneKey: key}
	if t.compared[lane] {
		return true, nil
	}
	var one int
	current, err := t.one(t.sql.LaneIs, []any{id, key.Queue, key.Tenant, key.Kind}, &one)
	if err != nil {
		return false, fmt.Errorf("compare lane: %w", err)
	}
	if current {
		if t.compared == nil {
			t.compared = map[sqlstore.Lane]bool{}
		}
		t.compared[lane] = true
	}
	return current, nil
}

// compareLanes fails with sqlstore.ChangedLanes if lanes have other names than this
// process knows. It comes before anything is leased.
func (t *txn) compareLanes(names map[int32]sqlstore.LaneKey) error {
	list := make([][4]any, 0, len(names))
	for id, key := range names {
		list = append(list, [4]any{id, key.Queue, key.Tenant, key.Kind})
	}
	ids, err := t.list(t.sql.ChangedLanes, jsonOf(list))
	if err != nil || len(ids) == 0 {
		return err
	}
	changed := make(sqlstore.ChangedLanes, len(ids))
	for i, id := range ids {
		changed[i] = int32(id)
	}
	return changed
}

// laneNamed returns the names of a lane that holds a job.
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
	return sqlstore.LaneKey{}, fmt.Errorf("lane %d does not exist", id)
}
