// Package await polls until a condition is met.
package await

import (
	"context"
	"errors"
	"time"

	"github.com/fairlead-io/fairlead"
)

// Delays between polls: short at first, then longer.
const (
	shortest = 20 * time.Millisecond
	longest  = time.Second
)

// Until calls look repeatedly until look reports that it is done or returns an error. It tries
// again if the database does not respond. If the context ends first, Until returns the
// context's error and the last value that look returned.
func Until[T any](ctx context.Context, look func(ctx context.Context) (T, bool, error)) (T, error) {
	var last T
	pause := time.NewTimer(0)
	defer pause.Stop()
	for wait := shortest; ; wait = min(wait*3/2, longest) {
		select {
		case <-ctx.Done():
			return last, ctx.Err()
		case <-pause.C:
		}
		seen, over, err := look(ctx)
		switch {
		case errors.Is(err, fairlead.ErrUnavailable) || err != nil && ctx.Err() != nil:
		case err != nil || over:
			return seen, err
		default:
			last = seen
		}
		pause.Reset(wait)
	}
}
