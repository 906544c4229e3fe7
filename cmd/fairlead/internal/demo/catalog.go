package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/sweep"
	"github.com/fairlead-io/fairlead/sweep/items"
)

// catalog is the data that all items of the sweep receive.
type catalog struct {
	Size string `json:"size"`
}

// declaredSweep returns a sweep that takes about half an hour.
func declaredSweep() sweep.Sweep {
	return sweep.Sweep{
		Name: sweepName, Kind: itemKind, Tenant: globex, Data: json.RawMessage(`{"size":"320x240"}`),
		To: 100_000, Shards: 4, InFlight: 8, Rate: 60,
		Attempts: 2, Backoff: 2 * time.Second, Timeout: 5 * time.Second, Budget: sweep.Budget{Items: 1000},
	}
}

func (d *Demo) registerSweep(mux *fairlead.Mux, options items.Options) {
	items.Handle(mux, d.store, itemKind, options, render)
}

// render fails for a few items at first, and always for ten of them.
func render(ctx context.Context, item items.Item[catalog]) error {
	switch {
	case item.Index%9973 == 17:
		items.Log(ctx, slog.LevelWarn, fmt.Sprintf("picture %d cannot be read", item.Index))
		return fmt.Errorf("picture %d: invalid JPEG format: missing SOI marker", item.Index)
	case item.Index%997 == 5 && item.Attempt == 1:
		return fmt.Errorf("picture %d: storage answered 503 Service Unavailable", item.Index)
	case item.Index%2500 == 0:
		items.Log(ctx, slog.LevelInfo, fmt.Sprintf("picture %d rendered as %s", item.Index, item.Data.Size))
	}
	return nil
}

// pauseBetween is the time between the end of a sweep and its restart, so that users can
// inspect it.
const pauseBetween = time.Minute

// tendSweep starts the sweep, and restarts it after it has finished. It leaves a stopped
// sweep alone. If several nodes try, one starts it, and the others get a conflict.
func (d *Demo) tendSweep(ctx context.Context, now time.Time) error {
	s, err := d.sweeps.Get(ctx, sweepName)
	if errors.Is(err, fairlead.ErrNotFound) {
		return nil // an operator has removed it
	}
	if err != nil || s.State != sweep.Created && (s.State != sweep.Finished || now.Sub(s.EndedAt) < pauseBetween) {
		return err
	}
	if _, err := d.sweeps.StartAgain(ctx, s.ID, "demo"); err != nil && !errors.Is(err, fairlead.ErrConflict) {
		return err
	}
	return nil
}
