package sqlstore

import (
	"context"
	"math/rand/v2"
	"time"
)

// Retry runs f until f succeeds or returns a permanent error, up to 12 times. Deadlocks and
// serialization failures are transient: the database has rolled back the whole transaction,
// and another attempt may succeed.
func Retry(ctx context.Context, transient func(error) bool, f func() error) error {
	const tries, first, slowest = 12, time.Millisecond, 100 * time.Millisecond
	pause := first
	for try := 1; ; try++ {
		err := f()
		if err == nil || try == tries || !transient(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause/2 + rand.N(pause)):
		}
		pause = min(2*pause, slowest)
	}
}
