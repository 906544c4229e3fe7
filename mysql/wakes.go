package mysql

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// wakes is what a transaction wakes once it has committed.
type wakes struct {
	work   map[int32]struct{} // lanes with more ready jobs
	later  bool
	cancel bool
	all    bool
	room   bool          // slots of limits were given back
	again  time.Duration // after which this process looks again; zero: never
}

// await sets when to look again; a d that is not positive changes nothing.
func (n *wakes) await(d time.Duration) {
	if d > 0 && (n.again == 0 || d < n.again) {
		n.again = d
	}
}

func (n *wakes) addWork(lane int32) {
	if n.work == nil {
		n.work = map[int32]struct{}{}
	}
	n.work[lane] = struct{}{}
}

func (n *wakes) add(more *wakes) {
	for lane := range more.work {
		n.addWork(lane)
	}
	n.later = n.later || more.later
	n.cancel = n.cancel || more.cancel
	n.all = n.all || more.all
	n.room = n.room || more.room
	n.await(more.again)
}

func (n *wakes) none() bool {
	return len(n.work) == 0 && !n.later && !n.cancel && !n.all && !n.room
}

// wake wakes all listeners: those of this process at once, those of other processes
// soon.
func (s *Store) wake(n *wakes) {
	s.wakeHere(n)
	s.notifier.notify(n)
}

// wakeHere wakes the claims and the listeners of this process.
func (s *Store) wakeHere(n *wakes) {
	if n.all {
		s.laneHeads.touchAll()
		s.hub.Work(nil)
	} else if len(n.work) > 0 {
		s.laneHeads.touch(n.work)
		s.hub.Work(s.laneKeys(n.work))
	}
	if n.room {
		s.hub.Room()
	}
	if n.again > 0 {
		s.alarm.In(n.again)
	}
	if n.later {
		s.hub.Later()
	}
	if n.cancel {
		s.hub.Cancel()
	}
}

// laneKeys returns the names of lanes, or nil if one of them is not known.
func (s *Store) laneKeys(lanes map[int32]struct{}) []sqlstore.LaneKey {
	keys := make([]sqlstore.LaneKey, 0, len(lanes))
	for lane := range lanes {
		key, known := s.lanes.Key(lane)
		if !known {
			return nil
		}
		keys = append(keys, key)
	}
	return keys
}

// Listen calls wake whenever there may be new work for the scope, until ctx ends. The work
// may come from this process or from other processes.
func (s *Store) Listen(ctx context.Context, scope *driver.Scope, wake func(driver.Wake)) error {
	defer s.listener.leave()
	s.hub.Listen(ctx, scope, s.listener.join, wake)
	return nil
}
