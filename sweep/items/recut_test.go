package items_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/sweep"
	"github.com/fairlead-io/fairlead/sweep/items"
)

// recut stops a sweep, lets it go on with another number of shards, and returns how many
// it has then.
func (w *world) recut(id int64, shards int) int {
	w.t.Helper()
	ctx := w.t.Context()
	s := w.get(id)
	s.Shards = shards
	_, err := w.sweeps.Put(ctx, s)
	if err == nil {
		_, err = w.sweeps.Stop(ctx, id, "me", "")
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.until(id, sweep.Stopped)
	if _, err := w.sweeps.Start(ctx, id, "me"); err != nil {
		w.t.Fatal(err)
	}
	parts, err := w.store.Shards(ctx, id)
	if err != nil {
		w.t.Fatal(err)
	}
	return len(parts)
}

func TestASweepGoesOnInMoreShards(t *testing.T) {
	inBubble(t, func(w *world) {
		defer w.node(func(_ context.Context, item items.Item[data]) error {
			time.Sleep(time.Duration(item.Index%7*10) * time.Millisecond) // they end in another order
			switch {
			case item.Index%500 == 3:
				return items.Abandon(errors.New("never"))
			case item.Index%40 == 7 && item.Attempt == 1:
				return errors.New("not yet")
			}
			return nil
		})()
		const items = 20_000
		s := w.start(sweep.Sweep{To: items, Shards: 2, Rate: 1000, Budget: sweep.Budget{Items: items}})
		for i, step := range []struct{ wanted, got int }{{5, 5}, {16, 16}, {3, 16}} { // in the end all have begun
			time.Sleep(2 * time.Second)
			if got := w.recut(s.ID, step.wanted); got != step.got {
				t.Errorf("step %d: there are %d shards, want %d", i, got, step.got)
			}
		}
		s = w.until(s.ID, sweep.Finished)
		if s.Done != items-40 || s.Abandoned != 40 || s.Marked != items || s.Total != items || len(w.failed(s.ID)) != 40 {
			t.Errorf("it ended with %+v", s.Progress)
		}
		for i := range int64(items) {
			tries := 1
			if i%40 == 7 {
				tries = 2
			}
			if w.tries[i] != tries {
				t.Fatalf("item %d was tried %d times, not %d", i, w.tries[i], tries)
			}
		}
	})
}

func TestASweepGoesOnInFewerShards(t *testing.T) {
	inBubble(t, func(w *world) {
		defer w.node(func(_ context.Context, item items.Item[data]) error {
			if item.Index >= 1000 {
				time.Sleep(time.Second)
			}
			return nil
		})()
		s := w.start(sweep.Sweep{To: 4000, Shards: 4})
		time.Sleep(5 * time.Second)
		if got := w.recut(s.ID, 1); got != 3 {
			t.Errorf("there are %d shards; the first is over, the others have begun", got)
		}
		s = w.until(s.ID, sweep.Finished)
		w.each(0, 4000, 1)
		if s.Done != 4000 || s.Marked != 4000 {
			t.Errorf("it ended with %+v", s.Progress)
		}
	})
}

// The shards of lines know where these begin without counting them anew.
func TestLinesAreSharedOutAmongMoreShards(t *testing.T) {
	const list = 6000
	dir := t.TempDir()
	var text bytes.Buffer
	for i := range list {
		fmt.Fprintf(&text, "line %d\n", i)
	}
	file := filepath.Join(dir, "lines")
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]int64{"known": list, "counted": 0} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				mux := fairlead.NewMux()
				items.Handle(mux, w.store, "k", items.Options{Roots: []string{dir}, Logger: slog.New(slog.DiscardHandler)}, func(_ context.Context, item items.Item[data]) error {
					w.mu.Lock()
					defer w.mu.Unlock()
					w.tries[item.Index]++
					if want := fmt.Sprint("line ", item.Index); string(item.Text) != want {
						return items.Stop(fmt.Errorf("it is %q", item.Text))
					}
					return nil
				})
				defer w.run(mux)()
				s := w.start(sweep.Sweep{Source: sweep.ItemSource{File: file}, To: to, Rate: 500})
				time.Sleep(3 * time.Second)
				if got := w.recut(s.ID, 4); got != 4 {
					t.Errorf("there are %d shards", got)
				}
				parts, err := w.store.Shards(w.t.Context(), s.ID)
				if err != nil {
					t.Fatal(err)
				}
				for i := range parts {
					if !bytes.Equal(parts[i].Source, parts[0].Source) || len(parts[i].Source) == 0 {
						t.Errorf("shard %d knows %.100s of the lines", i, parts[i].Source)
					}
				}
				s = w.until(s.ID, sweep.Finished)
				w.each(0, list, 1)
				if s.Done != list {
					t.Errorf("it ended with %+v", s.Progress)
				}
			})
		})
	}
}
