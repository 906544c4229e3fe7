package engine_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/schedule"
)

// diary counts what an observer is told.
type diary struct {
	mu sync.Mutex
	n  map[string]int
}

func (d *diary) note(what string, n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.n[what] += n
}

func (d *diary) noteErr(what string, err error) {
	if err != nil {
		what += " in vain"
	}
	d.note(what, 1)
}

func (d *diary) count(what string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.n[what]
}

func (d *diary) Claimed(jobs int, _ time.Duration) { d.note("claimed", jobs); d.note("claims", 1) }
func (d *diary) Started(*fairlead.Job)             { d.note("started", 1) }
func (d *diary) Ended(_ *fairlead.Job, _ fairlead.Settlement, _ fairlead.Settled, _ time.Duration) {
	d.note("ended", 1)
}

func (d *diary) Flushed(settlements int, _ time.Duration, err error) {
	d.noteErr("flushed", err)
	if settlements == 0 {
		d.note("flushed nothing", 1)
	}
}
func (d *diary) Beaten(_ time.Duration, err error) { d.noteErr("beaten", err) }
func (d *diary) Reaped(reaped driver.Reaped)       { d.note("reaped", reaped.Jobs) }
func (d *diary) Unreaped(int)                      { d.note("looked for unreaped", 1) }
func (d *diary) LeaseLost()                        { d.note("lease lost", 1) }
func (d *diary) Fired(schedule.PlannedFire, time.Duration) {
	d.note("fired", 1)
}
func (d *diary) Conducted(_ time.Duration, err error) { d.noteErr("conducted", err) }
func (d *diary) Stalled()                             { d.note("stalled", 1) }
func (d *diary) Abandoned(*fairlead.Job)              { d.note("abandoned", 1) }

func TestAnObserverIsToldWhatTheNodeDoes(t *testing.T) {
	inBubble(t, func(w *world) {
		w.operating()
		w.replacing()
		var failures atomic.Int64
		w.engineStore = &awkward{Store: w.store, settle: func([]fairlead.Settlement) error {
			if failures.Add(-1) >= 0 {
				return errors.New("no connection")
			}
			return nil
		}}
		orphan := &fairlead.Job{Kind: "plain"}
		w.orphan(orphan)
		seen := &diary{n: map[string]int{}}
		node, stop := w.startEngine(engine.Options{Observer: seen})
		pass(time.Minute)
		failures.Store(2)
		replaced := replacement(`"a"`)
		w.enqueue(&fairlead.Job{Kind: "plain"}, replaced) // the successor is another
		w.startBatch(2, batch.Batch{})
		w.put(schedule.Schedule{Name: "s", At: time.Now().Add(time.Second), Job: fairlead.Job{Kind: "plain"}})
		pass(time.Minute)
		const jobs = 1 + 1 + 2 + 2 + 1
		for what, want := range map[string]int{
			"claimed": jobs, "started": jobs, "ended": jobs, "reaped": 1, "fired": 1, "flushed in vain": 2,
			"flushed nothing": 0, "beaten in vain": 0, "conducted in vain": 0, "lease lost": 0, "stalled": 0, "abandoned": 0,
		} {
			if got := seen.count(what); got != want {
				t.Errorf("%s: %d, want %d", what, got, want)
			}
		}
		for _, what := range []string{"flushed", "beaten", "conducted", "claims", "looked for unreaped"} {
			if seen.count(what) == 0 {
				t.Errorf("%s: never", what)
			}
		}
		if err := w.store.Leave(w.t.Context(), node.Stats().Node); err != nil { // as if it had been declared dead
			t.Fatal(err)
		}
		pass(time.Minute)
		if lost, vain := seen.count("lease lost"), seen.count("beaten in vain"); lost != 1 || vain != 1 {
			t.Errorf("%d leases were lost by %d beats", lost, vain)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// acknowledged looks at a node when it hears that a run has ended.
type acknowledged struct {
	engine.NoObserver
	node    atomic.Pointer[engine.Engine]
	unsaved atomic.Int64
}

func (a *acknowledged) Ended(*fairlead.Job, fairlead.Settlement, fairlead.Settled, time.Duration) {
	a.unsaved.Add(int64(a.node.Load().Stats().Unsaved))
}

func TestARunThatTheStoreHasAcknowledgedIsNotCountedAsUnsaved(t *testing.T) {
	inBubble(t, func(w *world) {
		w.replacing()
		seen := &acknowledged{}
		node, stop := w.startEngine(engine.Options{Observer: seen})
		seen.node.Store(node)
		for _, job := range []*fairlead.Job{{Kind: "plain"}, replacement(`"a"`)} {
			w.enqueue(job)
			w.wait(job)
			pass(time.Second)
		}
		if n := seen.unsaved.Load(); n != 0 {
			t.Errorf("%d runs counted", n)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestANodeWhoseBeatsSucceedBeatsNoOftenerThanItShould(t *testing.T) {
	inBubble(t, func(w *world) {
		w.handle("k", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error { return nil })
		seen, log := &diary{n: map[string]int{}}, &lines{}
		w.run(engine.Options{Beat: 2 * time.Second, Observer: seen, Logger: slog.New(slog.NewJSONHandler(log, nil))}, func() {
			pass(100 * time.Second)
		})
		if beats := seen.count("beaten"); beats < 45 || beats > 55 {
			t.Errorf("in 50 beats it beat %d times", beats)
		}
		if found := log.with(t, "heartbeat failed"); len(found) > 0 {
			t.Errorf("the log says %v", found[0])
		}
	})
}

// Each job that ends makes room under the bound of its kind. To claim for each would be
// far more claims than jobs need.
func TestRoomThatComesInBitsIsClaimedForTogether(t *testing.T) {
	inBubble(t, func(w *world) {
		w.handle("k", fairlead.HandlerOptions{MaxRunning: 90}, func(_ context.Context, job *fairlead.Job) error {
			time.Sleep(time.Duration(50+job.ID%100) * time.Millisecond)
			return nil
		})
		jobs := make([]*fairlead.Job, 500)
		for i := range jobs {
			jobs[i] = &fairlead.Job{Kind: "k"}
		}
		seen := &diary{n: map[string]int{}}
		w.run(engine.Options{Slots: 200, Observer: seen}, func() {
			w.enqueue(jobs...)
			for _, job := range jobs {
				w.wait(job)
			}
		})
		if claims := seen.count("claims"); claims > len(jobs)/2 {
			t.Errorf("%d jobs took %d claims", len(jobs), claims)
		}
	})
}
