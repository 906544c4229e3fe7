// Package await looks at something again and again until it is as it should be.
package await

import (
	"context"
	"errors"
	"time"

	"github.com/fairlead-io/fairlead"
)

// The pauses between looks: short for what is over soon, longer for what is not.
const (
	shortest = 20 * time.Millisecond
	longest  = time.Second
)

// Until looks until the look reports that it is over, or fails. A database that does not
// answer is looked at again. When the context ends it returns its error, with what was
// seen last.
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
