package sqlstore

import (
	"slices"
	"sync"

	"github.com/fairlead-io/fairlead"
)

// LaneKey names a lane.
type LaneKey struct {
	Queue, Tenant, Kind string
}

// KeyOf is the lane of a job.
func KeyOf(job *fairlead.Job) LaneKey {
	return LaneKey{Queue: job.Queue, Tenant: job.Tenant, Kind: job.Kind}
}

// Lane is the unit in which jobs wait.
type Lane struct {
	ID int32
	LaneKey
}

// Lanes caches the lane table. Lanes are never deleted or changed, so that
// what it knows stays true; what it does not know is looked up by the store
// and added.
type Lanes struct {
	mu    sync.RWMutex
	byKey map[LaneKey]int32
	byID  map[int32]LaneKey
	order []Lane // by insertion

	served sync.Map // *fairlead.Scope → *served
}

// served is the part of order that a scope may claim from.
type served struct {
	mu    sync.Mutex
	seen  int // of order
	lanes []Lane
}

// NewLanes makes an empty cache.
func NewLanes() *Lanes {
	return &Lanes{byKey: map[LaneKey]int32{}, byID: map[int32]LaneKey{}}
}

// Add remembers committed lanes.
func (l *Lanes) Add(lanes ...Lane) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, lane := range lanes {
		if _, known := l.byID[lane.ID]; known {
			continue
		}
		l.byID[lane.ID] = lane.LaneKey
		l.byKey[lane.LaneKey] = lane.ID
		l.order = append(l.order, lane)
	}
}

// ID returns the id of a lane if it is known.
func (l *Lanes) ID(key LaneKey) (int32, bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	id, ok := l.byKey[key]
	return id, ok
}

// Key returns the lane of an id if it is known.
func (l *Lanes) Key(id int32) (LaneKey, bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	key, ok := l.byID[id]
	return key, ok
}

// Known lists all lanes that are known. Callers must not change it.
func (l *Lanes) Known() []Lane {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.order
}

// Missing lists the lanes of jobs that are not known yet.
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

// Served lists the known lanes that a scope may claim from. Callers must not
// change it.
func (l *Lanes) Served(scope *fairlead.Scope) []Lane {
	entry, ok := l.served.Load(scope)
	if !ok {
		entry, _ = l.served.LoadOrStore(scope, &served{})
	}
	s := entry.(*served)
	s.mu.Lock()
	defer s.mu.Unlock()
	l.mu.RLock()
	fresh := l.order[s.seen:]
	l.mu.RUnlock()
	for _, lane := range fresh {
		if Serves(scope, lane.LaneKey) {
			s.lanes = append(s.lanes, lane) // readers of a shorter slice never look past its length
		}
	}
	s.seen += len(fresh)
	return s.lanes
}

// Serves reports whether jobs of a lane belong to a scope.
func Serves(scope *fairlead.Scope, lane LaneKey) bool {
	if !slices.Contains(scope.Kinds, lane.Kind) {
		return false
	}
	if scope.Queues != nil {
		return slices.Contains(scope.Queues, lane.Queue)
	}
	return !slices.Contains(scope.Except, lane.Queue)
}

// Matching lists the known lanes that a filter chooses; all is true if it
// chooses every lane there can be.
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
