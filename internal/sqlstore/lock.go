package sqlstore

import (
	"context"
	"sync"
)

// Lock is a mutex whose waiters may give up: its holder queries the database, which can
//
//	take as long as that holder is willing to wait. The zero value is free.
type Lock struct {
	once sync.Once
	free chan struct{} // holds a token while the lock is free
}

// Acquire waits for the lock until ctx ends.
func (l *Lock) Acquire(ctx context.Context) error {
	l.prepare()
	select {
	case <-l.free:
		return nil
	case <-ctx.Done():
		return Ended(ctx)
	}
}

// TryAcquire reports whether the lock was free, and holds it then.
func (l *Lock) TryAcquire() bool {
	l.prepare()
	select {
	case <-l.free:
		return true
	default:
		return false
	}
}

func (l *Lock) prepare() {
	l.once.Do(func() {
		l.free = make(chan struct{}, 1)
		l.free <- struct{}{}
	})
}

// Release releases the lock.
func (l *Lock) Release() { l.free <- struct{}{} }
