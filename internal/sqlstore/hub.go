package sqlstore

import (
	"context"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead/driver"
)

// Hub forwards wakes to this process's listeners.
type Hub struct {
	mu        sync.Mutex
	listeners map[*listener]struct{}
	elsewhere *Alarm
}

// roomElsewhere is the delay before listeners learn of room that another process freed.
// That process has a free slot and is about to use the room itself; the rest is for others.
const roomElsewhere = 50 * time.Millisecond

type listener struct {
	scope *driver.Scope
	wake  func(driver.Wake)
}

// NewHub returns a hub without listeners.
func NewHub() *Hub {
	h := &Hub{listeners: map[*listener]struct{}{}}
	h.elsewhere = NewAlarm(h.Room)
	return h
}

// Close discards pending wakes.
func (h *Hub) Close() { h.elsewhere.Stop() }

// Listen registers a listener, calls begin and wake once, and then calls wake for changes
// within the scope until ctx ends. The listener is registered before begin is called, so
// whatever begin starts can immediately report changes that this process has missed.
func (h *Hub) Listen(ctx context.Context, scope *driver.Scope, begin func(), wake func(driver.Wake)) {
	l := &listener{scope: scope, wake: wake}
	h.mu.Lock()
	h.listeners[l] = struct{}{}
	h.mu.Unlock()
	begin()
	wake(driver.WakeListening)
	<-ctx.Done()
	h.mu.Lock()
	delete(h.listeners, l)
	h.mu.Unlock()
}

// Work wakes the listeners that serve at least one of the given lanes. If lanes is nil, the
// lanes are unknown, and Work wakes all listeners.
func (h *Hub) Work(lanes []LaneKey) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for l := range h.listeners {
		if lanes == nil {
			l.wake(driver.WakeWork)
			continue
		}
		for _, lane := range lanes {
			if Serves(l.scope, lane) {
				l.wake(driver.WakeWork)
				break
			}
		}
	}
}

// Later wakes all listeners because jobs were scheduled.
func (h *Hub) Later() { h.all(driver.WakeLater) }

// Room wakes all listeners because jobs have freed slots under limits.
func (h *Hub) Room() { h.all(driver.WakeRoom) }

// RoomElsewhere wakes all listeners after a short delay, because another process's jobs have
// freed slots.
func (h *Hub) RoomElsewhere() { h.elsewhere.In(roomElsewhere) }

// Cancel wakes all listeners because a caller has asked a running job to stop.
func (h *Hub) Cancel() { h.all(driver.WakeCancel) }

func (h *Hub) all(wake driver.Wake) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for l := range h.listeners {
		l.wake(wake)
	}
}
