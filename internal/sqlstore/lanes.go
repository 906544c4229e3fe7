package sqlstore

import (
	"fmt"
	"slices"
	"sync"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// LaneKey identifies a lane by its names.
type LaneKey struct {
	Queue, Tenant, Kind string
}

// KeyOf returns the key of a job's lane.
func KeyOf(job *fairlead.Job) LaneKey {
	return LaneKey{Queue: job.Queue, Tenant: job.Tenant, Kind: job.Kind}
}

// Lane is the unit in which jobs wait: one queue, tenant and kind.
type Lane struct {
	ID int32
	LaneKey
}

// Lanes caches the lane table. A lane may be retired, and a database may lose the commit
// that created one. Every statement that uses a lane therefore compares its ID with its
// names, and the store drops cached lanes that differ. The store looks up lanes missing
// from the cache and adds them.
type Lanes struct {
	mu    sync.RWMutex
	byKey map[LaneKey]int32
	byID  map[int32]LaneKey
	order []Lane // in order of insertion
	epoch uint64 // number of times that lanes were dropped

	served ScopeCache[served]
}

// served is the part of order that a scope may claim from.
type served struct {
	mu    sync.Mutex
	seen  int    // entries of order already examined
	epoch uint64 // epoch of the examined order
	lanes []Lane
}

// ChangedLanes is the error of a statement that found lanes retired, missing or renamed.
// The statement has stored and leased nothing. The store drops the lanes, looks them up
// again and repeats the statement.
type ChangedLanes []int32

// Error implements error.
func (c ChangedLanes) Error() string {
	return fmt.Sprintf("lanes %v have changed since this process read them", []int32(c))
}

// NewLanes returns an empty cache.
func NewLanes() *Lanes {
	return &Lanes{byKey: map[LaneKey]int32{}, byID: map[int32]LaneKey{}}
}

// Add caches committed lanes. It drops cached lanes that have the same ID or the same names
// but differ.
func (l *Lanes) Add(lanes ...Lane) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, lane := range lanes {
		names, knownID := l.byID[lane.ID]
		id, knownNames := l.byKey[lane.LaneKey]
		switch {
		case knownID && names == lane.LaneKey:
			continue
		case knownID:
			l.forget(lane.ID)
		}
		if knownNames {
			l.forget(id)
		}
		l.byID[lane.ID] = lane.LaneKey
		l.byKey[lane.LaneKey] = lane.ID
		l.order = append(l.order, lane)
	}
}

// Forget drops lanes that differ from their cached values.
func (l *Lanes) Forget(ids ...int32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget(ids...)
}

func (l *Lanes) forget(ids ...int32) {
	gone := map[int32]bool{}
	for _, id := range ids {
		if key, known := l.byID[id]; known {
			gone[id] = true
			delete(l.byID, id)
			delete(l.byKey, key)
		}
	}
	if len(gone) == 0 {
		return
	}
	left := make([]Lane, 0, len(l.order)-len(gone)) // readers may still use the old slice
	for _, lane := range l.order {
		if !gone[lane.ID] {
			left = append(left, lane)
		}
	}
	l.order = left
	l.epoch++
}

// Reset drops all lanes.
func (l *Lanes) Reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.byKey, l.byID, l.order = map[LaneKey]int32{}, map[int32]LaneKey{}, nil
	l.epoch++
}

// ID returns the ID of a lane, if cached.
func (l *Lanes) ID(key LaneKey) (int32, bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	id, ok := l.byKey[key]
	return id, ok
}

// Key returns the key of a lane, if cached.
func (l *Lanes) Key(id int32) (LaneKey, bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	key, ok := l.byID[id]
	return key, ok
}

// Known returns all cached lanes. Callers must not modify the slice.
func (l *Lanes) Known() []Lane {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.order
}

// List returns all cached lanes and the epoch of the list. While the epoch is unchanged,
// lanes are only appended. Callers must not modify the slice.
func (l *Lanes) List() (lanes []Lane, epoch uint64) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.order, l.epoch
}

// Missing returns the lanes of jobs that are not cached.
func (l *Lanes) Missing(jobs []*fairlead.Job) []LaneKey {
	var missing []LaneKey
	l.mu.RLock()
	defer l.mu.RUnlock()
	for _, job := range jobs {
		key := KeyOf(job)
		if _, ok := l.byKey[key]; !ok && !slices.Contains(missing, key) {
			missing = append(missing, key)
		}
	}
	return missing
}

// Served returns the cached lanes that a scope may claim from. Callers must not modify the
// slice.
func (l *Lanes) Served(scope *driver.Scope) []Lane {
	s := l.served.Of(scope)
	s.mu.Lock()
	defer s.mu.Unlock()
	all, epoch := l.List()
	if epoch != s.epoch {
		s.seen, s.epoch, s.lanes = 0, epoch, nil
	}
	fresh := all[s.seen:]
	for _, lane := range fresh {
		if Serves(scope, lane.LaneKey) {
			s.lanes = append(s.lanes, lane) // readers of a shorter slice never look past its length
		}
	}
	s.seen += len(fresh)
	return s.lanes
}

// Serves reports whether a scope includes the jobs of a lane.
func Serves(scope *driver.Scope, lane LaneKey) bool {
	if !slices.Contains(scope.Kinds, lane.Kind) || scope.Tenants != nil && !slices.Contains(scope.Tenants, lane.Tenant) {
		return false
	}
	if scope.Queues != nil {
		return slices.Contains(scope.Queues, lane.Queue)
	}
	return !slices.Contains(scope.Except, lane.Queue)
}

// Matching returns the cached lanes that match a filter. If the filter matches every
// possible lane, all is true.
func (l *Lanes) Matching(filter fairlead.Filter) (ids []int32, all bool) {
	if len(filter.Kinds)+len(filter.Queues)+len(filter.Tenants) == 0 {
		return nil, true
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	for _, lane := range l.order {
		if chosen(filter.Kinds, lane.Kind) && chosen(filter.Queues, lane.Queue) && chosen(filter.Tenants, lane.Tenant) {
			ids = append(ids, lane.ID)
		}
	}
	return ids, false
}

func chosen(names []string, name string) bool {
	return len(names) == 0 || slices.Contains(names, name)
}
