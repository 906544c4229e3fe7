package sqlstore

import (
	"context"
	"sync"
)

// Lock is a mutex whose waiters can stop waiting when their context ends. The holder may query
// the database while holding the lock, for as long as its own context allows. The zero value
// is unlocked.
type Lock struct {
	once sync.Once
	free chan struct{} // contains a token while the lock is free
}

// Acquire waits for the lock. It returns an error if ctx ends first.
func (l *Lock) Acquire(ctx context.Context) error {
	l.prepare()
	select {
	case <-l.free:
		return nil
	case <-ctx.Done():
		return Ended(ctx)
	}
}

// TryAcquire acquires the lock if it is free, and reports whether it did so.
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
