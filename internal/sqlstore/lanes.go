package sqlstore

import (
	"fmt"
	"slices"
	"sync"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// LaneKey identifies a lane by queue, tenant and kind.
type LaneKey struct {
	Queue, Tenant, Kind string
}

// KeyOf returns the key of a job's lane.
func KeyOf(job *fairlead.Job) LaneKey {
	return LaneKey{Queue: job.Queue, Tenant: job.Tenant, Kind: job.Kind}
}

// Lane is a set of jobs that wait together: those with the same queue, tenant and kind.
type Lane struct {
	ID int32
	LaneKey
}

// Lanes caches the lane table. A cached lane may be wrong: another process may have retired
// the lane, or the database may have lost the commit that created it. Every statement that
// uses a lane therefore compares the lane's ID with its queue, tenant and kind, and the store
// drops cached lanes that differ. When a lane is missing from the cache, the store looks it up
// and adds it.
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

// ChangedLanes is the error of a statement that found lanes retired, missing or renamed. The
// statement has neither stored nor leased any jobs. The store drops these lanes from the
// cache, looks them up again and repeats the statement.
type ChangedLanes []int32

// Error implements error.
func (c ChangedLanes) Error() string {
	return fmt.Sprintf("lanes %v have changed since this process read them", []int32(c))
}

// NewLanes returns an empty cache.
func NewLanes() *Lanes {
	return &Lanes{byKey: map[LaneKey]int32{}, byID: map[int32]LaneKey{}}
}

// Add caches committed lanes. It drops any cached lane that conflicts with a new one: the same
// ID with a different key, or the same key with a different ID.
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

// Forget drops the given lanes from the cache, because they have changed in the database.
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

// Reset removes all lanes from the cache.
func (l *Lanes) Reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.byKey, l.byID, l.order = map[LaneKey]int32{}, map[int32]LaneKey{}, nil
	l.epoch++
}

// ID returns the ID of the lane with the given key, if the lane is cached.
func (l *Lanes) ID(key LaneKey) (int32, bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	id, ok := l.byKey[key]
	return id, ok
}

// Key returns the key of the lane with the given ID, if the lane is cached.
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

// List returns all cached lanes and the list's epoch. While the epoch stays the same, lanes
// are only appended to the list. Callers must not modify the slice.
func (l *Lanes) List() (lanes []Lane, epoch uint64) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.order, l.epoch
}

// Missing returns those of the jobs' lanes that are not cached.
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

// Served returns the cached lanes from which a scope may claim. Callers must not modify the
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

// Serves reports whether a scope includes the lane's jobs.
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
