package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
)

const (
	saveFirst   = 20 * time.Millisecond // pause after the first failure; it doubles
	saveSlowest = time.Second
	saveTry     = 3 * time.Second // how long the first try may take; the next one twice as long
)

// Save stores progress and memo under the run's fence. A store that is unavailable is
// asked again until the run is over: storing the same twice is storing it once. The
// error then wraps ErrUnavailable, whatever ended the run, so that what the store did
// not do is not taken for a failure of the handler.
func (r *run) Save(ctx context.Context, save fairlead.Save) error {
	r.note(save)
	pause, try := saveFirst, saveTry
	var away error
	for {
		err := r.saveOnce(ctx, save, try)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, fairlead.ErrUnavailable):
			away = err
		case away != nil && ctx.Err() != nil:
			return fmt.Errorf("save: %w", away)
		default:
			return fmt.Errorf("save: %w", err)
		}
		if r.why() != nil || sleep(ctx, pause) != nil {
			return fmt.Errorf("save: %w", away)
		}
		pause, try = min(2*pause, saveSlowest), 2*try
	}
}

// saveOnce asks the store once. One that does not answer in time is unavailable.
func (r *run) saveOnce(ctx context.Context, save fairlead.Save, try time.Duration) error {
	bounded, cancel := context.WithTimeout(ctx, try)
	defer cancel()
	err := r.save(bounded, save)
	if err != nil && ctx.Err() == nil && bounded.Err() != nil && !errors.Is(err, fairlead.ErrLeaseLost) {
		return fmt.Errorf("%w: no response within %v: %w", fairlead.ErrUnavailable, try, err)
	}
	return err
}
