package sqlstore

import (
	"sync"
	"time"
)

// Alarm calls a function at the earliest of the times that were set.
type Alarm struct {
	ring func()

	mu      sync.Mutex
	timer   *time.Timer
	at      time.Time // zero if not set
	stopped bool
}

// NewAlarm returns an Alarm that calls ring. ring must not block.
func NewAlarm(ring func()) *Alarm { return &Alarm{ring: ring} }

// In sets the alarm to go off after d. It does nothing if the alarm is already set to an
// earlier time.
func (a *Alarm) In(d time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	at := time.Now().Add(d)
	if a.stopped || !a.at.IsZero() && !at.Before(a.at) {
		return
	}
	a.at = at
	if a.timer != nil {
		a.timer.Stop()
	}
	a.timer = time.AfterFunc(d, a.rings)
}

func (a *Alarm) rings() {
	a.mu.Lock()
	if !a.at.IsZero() && time.Now().Before(a.at) { // set again while it rang
		a.mu.Unlock()
		return
	}
	a.at = time.Time{}
	stopped := a.stopped
	a.mu.Unlock()
	if !stopped {
		a.ring()
	}
}

// Stop disables the alarm permanently.
func (a *Alarm) Stop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stopped = true
	if a.timer != nil {
		a.timer.Stop()
	}
}
