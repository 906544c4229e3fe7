package sweeping_test

import (
	"context"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/internal/sweeping"
)

func TestTheFirstCheckpointsComeSoon(t *testing.T) {
	in(t, 1000, func(t *testing.T, w *world) {
		shard := w.shard()
		shard.Rate, shard.Every = 100, 800*time.Millisecond
		start, last := time.Now(), time.Duration(0)
		shard.Save = func(ctx context.Context, c sweeping.Checkpoint) (sweeping.Orders, error) {
			now := time.Since(start)
			if lost := now - last; lost > max(50*time.Millisecond, now*2/3) || lost > shard.Every {
				t.Errorf("between %v and %v nothing was stored", last, now)
			}
			last = now
			return w.save(ctx, c)
		}
		w.mustBeComplete(w.run(t.Context(), shard))
		if most := 20; w.saves > most {
			t.Errorf("%d checkpoints were stored, want no more than %d", w.saves, most)
		}
	})
}

// An order that requires confirmation is confirmed immediately.
func TestAnOrderIsConfirmed(t *testing.T) {
	in(t, 1000, func(t *testing.T, w *world) {
		shard := w.shard()
		shard.Rate = 100
		var asked []time.Time
		shard.Save = func(ctx context.Context, c sweeping.Checkpoint) (sweeping.Orders, error) {
			asked = append(asked, time.Now())
			orders, err := w.save(ctx, c)
			orders.Confirm = len(asked) == 5
			return orders, err
		}
		w.mustBeComplete(w.run(t.Context(), shard))
		if wait := asked[5].Sub(asked[4]); wait != 0 {
			t.Errorf("it was confirmed after %v", wait)
		}
	})
}
