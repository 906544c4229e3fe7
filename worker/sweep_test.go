package worker_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/everystore"
	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/server"
	"github.com/fairlead-io/fairlead/sweep"
	"github.com/fairlead-io/fairlead/sweep/items"
	"github.com/fairlead-io/fairlead/worker"
)

// greeting is what the sweeps of these tests say to their items.
type greeting struct {
	Word string `json:"word"`
}

// seen counts tries of items.
type seen struct {
	mu    sync.Mutex
	tries map[int64]int
	last  time.Time // when one was begun last
}

func newSeen() *seen { return &seen{tries: map[int64]int{}} }

func (s *seen) add(index int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tries[index]++
	s.last = time.Now()
}

func (s *seen) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.tries)
}

// sweepMux is a mux that goes over sweeps of the kind "greet".
func sweepMux(handle func(ctx context.Context, item items.Item[greeting]) error) *fairlead.Mux {
	mux := fairlead.NewMux()
	worker.HandleSweep(mux, "greet", items.Options{Logger: slog.New(slog.DiscardHandler)}, handle)
	return mux
}

// sweep creates and starts a sweep.
func (w *world) sweep(s sweep.Sweep) sweep.Sweep {
	w.Helper()
	s.Name, s.Kind, s.Data = "greetings", "greet", json.RawMessage(`{"word":"hello"}`)
	stored, err := w.sweeps.Put(w.Context(), s)
	if err == nil {
		stored, err = w.sweeps.Start(w.Context(), stored.ID, "me")
	}
	if err != nil {
		w.Fatal(err)
	}
	return stored
}

// untilSweep waits for a state.
func (w *world) untilSweep(id int64, state sweep.State) sweep.Sweep {
	w.Helper()
	ticks := time.NewTicker(20 * time.Millisecond)
	defer ticks.Stop()
	for begun := time.Now(); ; <-ticks.C {
		s, err := w.sweeps.ByID(w.Context(), id)
		if err != nil {
			w.Fatal(err)
		}
		if s.State == state {
			return s
		}
		if time.Since(begun) > patience.Limit {
			w.Fatalf("the sweep is %s (%s), not %s: %+v", s.State, s.Reason, state, s.Progress)
		}
	}
}

func TestWorkersGoOverASweep(t *testing.T) {
	total := tier.Size(t, int64(3000), 20_000, "many items on every database")
	everystore.Run(t, func(t *testing.T, store server.Store) {
		w, seen := newWorldOn(t, store), newSeen()
		mux := sweepMux(func(ctx context.Context, item items.Item[greeting]) error {
			seen.add(item.Index)
			switch {
			case item.Data.Word != "hello":
				return items.Stop(fmt.Errorf("the word is %q", item.Data.Word))
			case item.Index == 7:
				items.Log(ctx, slog.LevelWarn+1, "not today")
				return items.Abandon(errors.New("seven"))
			case item.Index%1000 == 1 && item.Attempt < 3:
				return errors.New("again")
			}
			return nil
		})
		for range 2 {
			w.start(mux, nil)
		}
		s := w.sweep(sweep.Sweep{To: total, Shards: 3, InFlight: 24, Backoff: 20 * time.Millisecond})
		s = w.untilSweep(s.ID, sweep.Finished)
		if s.Done != total-1 || s.Abandoned != 1 || s.Marked != total || s.Errors != 1+2*total/1000 {
			t.Errorf("it ended with %+v", s.Progress)
		}
		for i := range total {
			want := 1
			if i%1000 == 1 {
				want = 3
			}
			if got := seen.tries[i]; got != want {
				t.Fatalf("item %d was tried %d times, not %d", i, got, want)
			}
		}
		failed, err := store.FailedItems(t.Context(), sweep.ItemFilter{Sweep: s.ID})
		if err != nil || len(failed) != 1 || failed[0].Index != 7 || failed[0].Error != "seven" {
			t.Errorf("failed are %+v, %v", failed, err)
		}
		logs, err := store.SweepLogs(t.Context(), sweep.LogFilter{Sweep: s.ID})
		if err != nil || len(logs) != 1 || logs[0].Level != "warn" || logs[0].Text != "not today" {
			t.Errorf("the lines are %+v, %v", logs, err)
		}
	})
}

// A stop reaches a worker within a second, and it goes on exactly where it was, though
// the service could not be reached for a while.
func TestAStopReachesAWorker(t *testing.T) {
	const total = 6000
	latest := tier.Size(t, patience.Limit, 1200*time.Millisecond, "how late an item begins after a stop depends on the machine")
	w, seen := newWorld(t), newSeen()
	w.start(sweepMux(func(_ context.Context, item items.Item[greeting]) error {
		seen.add(item.Index)
		return nil
	}), nil)
	s := w.sweep(sweep.Sweep{To: total, Rate: 400, InFlight: 4})
	w.eventually("some were handled", func() bool { return seen.count() > 300 })
	w.cut.Store(http.StatusServiceUnavailable)
	w.eventually("the service is missed", func() bool { return w.cuts.Load() > 20 })
	w.cut.Store(0)
	w.eventually("the service hears of it", func() bool {
		now, err := w.sweeps.ByID(w.Context(), s.ID)
		return err == nil && now.Done > 600
	})
	if _, err := w.sweeps.Stop(t.Context(), s.ID, "me", "enough"); err != nil {
		t.Fatal(err)
	}
	answered := time.Now()
	stopped := w.untilSweep(s.ID, sweep.Stopped)
	seen.mu.Lock()
	late, n := seen.last.Sub(answered), int64(len(seen.tries))
	seen.mu.Unlock()
	if late > latest {
		t.Errorf("an item was begun %v after the stop", late)
	}
	if stopped.Done != n || stopped.Reason != "enough" {
		t.Errorf("%d items were begun, and it stopped with %+v", n, stopped.Status)
	}
	faster := stopped
	faster.Rate = 0
	if _, err := w.sweeps.Put(t.Context(), faster); err != nil {
		t.Fatal(err)
	}
	if _, err := w.sweeps.Start(t.Context(), s.ID, "me"); err != nil {
		t.Fatal(err)
	}
	w.untilSweep(s.ID, sweep.Finished)
	for i := range int64(total) {
		if seen.tries[i] != 1 {
			t.Fatalf("item %d was tried %d times", i, seen.tries[i])
		}
	}
}

// Failed items are tried again on a worker as they are on a node.
func TestAWorkerTriesFailedItemsAgain(t *testing.T) {
	w, seen := newWorld(t), newSeen()
	var mended atomic.Bool
	w.start(sweepMux(func(_ context.Context, item items.Item[greeting]) error {
		seen.add(item.Index)
		if item.Index%2 == 0 && (!mended.Load() || item.Index == 10) {
			return items.Abandon(errors.New("not yet"))
		}
		return nil
	}), nil)
	s := w.sweep(sweep.Sweep{To: 4000, Shards: 2, Budget: sweep.Budget{Items: 10_000}})
	if s = w.untilSweep(s.ID, sweep.Finished); s.Done != 2000 || s.Abandoned != 2000 {
		t.Fatalf("it ended with %+v", s.Progress)
	}
	mended.Store(true)
	if _, err := w.sweeps.Retry(t.Context(), s.ID, "me"); err != nil {
		t.Fatal(err)
	}
	if s = w.untilSweep(s.ID, sweep.Finished); s.Done != 3999 || s.Abandoned != 1 || s.Again != 0 {
		t.Errorf("tried again, it ended with %+v", s.Progress)
	}
	failed, err := w.store.FailedItems(t.Context(), sweep.ItemFilter{Sweep: s.ID})
	if err != nil || len(failed) != 1 || failed[0].Index != 10 || failed[0].Again {
		t.Errorf("failed are %+v, %v", failed, err)
	}
	for i := range int64(4000) {
		if want := 2 - int(i%2); seen.tries[i] != want {
			t.Fatalf("item %d was tried %d times, not %d", i, seen.tries[i], want)
		}
	}
}

// A worker that leaves lets what is under way end and hands the rest over exactly.
func TestAWorkerThatLeavesHandsItsShardsOver(t *testing.T) {
	w, seen := newWorld(t), newSeen()
	mux := sweepMux(func(_ context.Context, item items.Item[greeting]) error {
		seen.add(item.Index)
		return nil
	})
	first := w.start(mux, nil)
	s := w.sweep(sweep.Sweep{To: 3000, Rate: 1000, Shards: 3, InFlight: 6})
	w.eventually("some were handled", func() bool { return seen.count() > 700 })
	w.start(mux, nil)
	if err := first(); err != nil {
		t.Errorf("it left with %v", err)
	}
	if s = w.untilSweep(s.ID, sweep.Finished); s.Done != 3000 {
		t.Errorf("it ended with %+v", s.Progress)
	}
	for i := range int64(3000) {
		if seen.tries[i] != 1 {
			t.Fatalf("item %d was tried %d times", i, seen.tries[i])
		}
	}
}

// eventually waits until something holds.
func (w *world) eventually(what string, holds func() bool) {
	w.Helper()
	ticks := time.NewTicker(10 * time.Millisecond)
	defer ticks.Stop()
	for begun := time.Now(); !holds(); <-ticks.C {
		if time.Since(begun) > patience.Limit {
			w.Fatalf("it did not happen that %s", what)
		}
	}
}

// goOverInChild is a worker that says which items it handles.
func goOverInChild(server string) error {
	mux := sweepMux(func(_ context.Context, item items.Item[greeting]) error {
		_, err := fmt.Fprintf(os.Stdout, "%d\n", item.Index)
		return err
	})
	options := worker.Options{Server: server, Name: "child", Slots: 4, Beat: beat, Lease: lease, Logger: slog.New(slog.DiscardHandler)}
	return worker.Run(context.Background(), mux, options)
}

// A worker that is killed over a sweep loses nothing: another goes on, and repeats
// only what has ended since the last checkpoint.
func TestAWorkerIsKilledOverASweep(t *testing.T) {
	tier.Long(t, "kills workers and waits for their leases to end")
	w, seen := newLosingWorld(t), newSeen()
	s := w.sweep(sweep.Sweep{To: 4000, Rate: 1000, Shards: 2, InFlight: 8})
	for range 2 {
		child := exec.CommandContext(t.Context(), os.Args[0])
		child.Env = append(os.Environ(), childSweeper+"="+w.web.URL)
		child.Stderr = os.Stderr
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		before, lines := seen.count(), bufio.NewScanner(out)
		killed := false
		for lines.Scan() {
			index, err := strconv.ParseInt(lines.Text(), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			seen.add(index)
			if seen.count() > before+1300 && !killed {
				killed = true
				if err := child.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		_ = child.Wait()
	}
	w.start(sweepMux(func(_ context.Context, item items.Item[greeting]) error {
		seen.add(item.Index)
		return nil
	}), nil)
	s = w.untilSweep(s.ID, sweep.Finished)
	if s.Done != 4000 || s.Abandoned != 0 {
		t.Errorf("it ended with %+v", s.Progress)
	}
	repeats := 0
	for i := range int64(4000) {
		if seen.tries[i] == 0 {
			t.Fatalf("item %d was lost", i)
		}
		repeats += seen.tries[i] - 1
	}
	if repeats > 2*1300 { // twice a second's, with room for a slow machine
		t.Errorf("%d items were repeated", repeats)
	}
}

// What a worker has no way to read stops the sweep, and the reason tells.
func TestAWorkerThatHasNoWayToTheItems(t *testing.T) {
	w := newWorld(t)
	w.start(sweepMux(func(context.Context, items.Item[greeting]) error { return nil }), nil)
	for want, source := range map[string]sweep.ItemSource{
		`database "crm" is not configured`:        {Table: &sweep.Table{Database: "crm", Name: "people", Key: "id"}},
		"no HTTP client is configured":            {URL: "https://example.org/list"},
		"not in a directory that sweeps may read": {File: "/etc/passwd"},
	} {
		s := w.sweep(sweep.Sweep{Source: source})
		if stopped := w.untilSweep(s.ID, sweep.Stopped); !strings.Contains(stopped.Reason, want) {
			t.Errorf("it stopped with %q, not %q", stopped.Reason, want)
		}
		if err := w.sweeps.Delete(t.Context(), s.ID); err != nil {
			t.Fatal(err)
		}
	}
}

// A handler that needs the service says so where there is none.
func TestAHandlerOfAWorkerDoesNotRunOnANode(t *testing.T) {
	mux := sweepMux(func(context.Context, items.Item[greeting]) error { return nil })
	kind := sweep.KindOf("greet")
	err := mux.Entry(kind).Handler.Work(t.Context(), &fairlead.Job{Kind: kind, Args: json.RawMessage(`{"sweep_id":1}`)})
	if err == nil || !strings.Contains(err.Error(), "sweep.Handle") {
		t.Errorf("it ended with %v", err)
	}
}
