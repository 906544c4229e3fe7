package items_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/sweep"
	"github.com/fairlead-io/fairlead/sweep/items"
)

// awayStore is unavailable to the first checkpoints that have the state of a source.
type awayStore struct {
	driver.Store
	left *atomic.Int64
}

// Checkpoint fails while the store is away.
func (s awayStore) Checkpoint(ctx context.Context, c sweep.Checkpoint) (sweep.Orders, error) {
	if len(c.Source) > 0 && s.left.Add(-1) >= 0 {
		return sweep.Orders{}, fmt.Errorf("connection reset: %w", fairlead.ErrUnavailable)
	}
	return s.Store.Checkpoint(ctx, c)
}

// While a source is counted, its state is stored. A store that is away is no fault of the
// source: the shard runs again, and the sweep goes on.
func TestAStoreThatIsAwayWhileLinesAreCountedStopsNoSweep(t *testing.T) {
	file := filepath.Join(t.TempDir(), "users.txt")
	if err := os.WriteFile(file, []byte("ann\nbob\ncleo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	inBubble(t, func(w *world) {
		var left atomic.Int64
		left.Store(3)
		mux := fairlead.NewMux()
		options := items.Options{Logger: slog.New(slog.DiscardHandler), Roots: []string{filepath.Dir(file)}}
		items.Handle(mux, awayStore{w.store, &left}, "k", options, func(context.Context, items.Item[data]) error { return nil })
		defer w.run(mux)()
		s := w.start(sweep.Sweep{Source: sweep.ItemSource{File: file}})
		w.until(s.ID, sweep.Finished)
		if left.Load() >= 0 {
			t.Error("the store was not away while lines were counted")
		}
	})
}

// A process that has no file descriptors left is no fault of an item: the shard runs again
// later, and the item has all its attempts.
func TestAProcessWithoutDescriptorsFailsNoItem(t *testing.T) {
	inBubble(t, func(w *world) {
		var left atomic.Int64
		left.Store(5)
		defer w.node(func(_ context.Context, item items.Item[data]) error {
			if item.Index >= 10 && left.Add(-1) >= 0 {
				return fmt.Errorf("no connection: %w", syscall.EMFILE)
			}
			return nil
		})()
		s := w.start(sweep.Sweep{To: 20, Attempts: 1})
		ended := w.until(s.ID, sweep.Finished)
		if left.Load() >= 0 {
			t.Error("the process had descriptors all the time")
		}
		if failed := w.failed(s.ID); len(failed) > 0 || ended.Progress.Done != 20 {
			t.Errorf("items %v have failed, %+v", failed, ended.Progress)
		}
	})
}
