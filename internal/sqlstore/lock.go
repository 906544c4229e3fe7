package sqlstore

import (
	"context"
	"sync"
)

// Lock is a mutex whose waiters may give up: what is done under it asks the
// database, and that can take as long as its holder wants to wait. The zero
// value is free.
type Lock struct {
	once sync.Once
	free chan struct{} // holds a token while nobody has the lock
}

// Acquire waits for the lock until ctx ends.
func (l *Lock) Acquire(ctx context.Context) error {
	l.once.Do(func() {
		l.free = make(chan struct{}, 1)
		l.free <- struct{}{}
	})
	select {
	case <-l.free:
		return nil
	case <-ctx.Done():
		return Ended(ctx)
	}
}

// Release gives back what Acquire got.
func (l *Lock) Release() { l.free <- struct{}{} }
