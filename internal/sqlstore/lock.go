package sqlstore

import (
	"context"
	"sync"
)

// Lock is a mutex whose waiters may give up. Its holder queries the database, which can
// take as long as the holder is willing to wait. The zero value is unlocked.
type Lock struct {
	once sync.Once
	free chan struct{} // contains a token while the lock is free
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

// TryAcquire acquires the lock if it is free and reports whether it did.
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
