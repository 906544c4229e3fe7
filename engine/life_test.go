package engine

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/sqlite"
)

// quietLife is a life that nothing runs yet.
func quietLife(t *testing.T, store Source, options Options) *life {
	t.Helper()
	mux := fairlead.NewMux()
	mux.Handle("k", fairlead.HandlerOptions{}, fairlead.HandlerFunc(func(context.Context, *fairlead.Job) error { return nil }))
	options.Logger = slog.New(slog.DiscardHandler)
	e, err := New(store, mux, options)
	if err != nil {
		t.Fatal(err)
	}
	return newLife(e, 1, time.Now())
}

func TestANodeEndsWhenTheGoroutinesOfItsHandlersAreGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := quietLife(t, nil, Options{})
		g, release := l.groups[0], make(chan struct{})
		g.crew = newCrew(1, func(*run) bool {
			<-release // the run is over, but what ran it is not gone yet
			return true
		})
		g.crew.add(numbered(1))
		var ended atomic.Bool
		go func() {
			if remaining := l.awaitHandlers(time.Second); remaining != 0 {
				t.Errorf("%d handlers are said to remain", remaining)
			}
			ended.Store(true)
		}()
		time.Sleep(time.Minute)
		if ended.Load() {
			t.Error("it has ended before")
		}
		close(release)
		synctest.Wait()
		if !ended.Load() {
			t.Error("it has not ended")
		}
	})
}

func TestANodeRemembersNothingOfJobsThatAreSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := sqlitetest.OpenWith(t, sqlite.Options{Poll: -1})
		defer store.Close()
		mux := fairlead.NewMux()
		mux.Handle("k", fairlead.HandlerOptions{}, fairlead.HandlerFunc(func(_ context.Context, job *fairlead.Job) error {
			if job.Attempt == 1 {
				return fairlead.RetryAfter(time.Second, errors.New("not yet"))
			}
			return nil
		}))
		e, err := New(store, mux, Options{Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- e.Run(ctx) }()
		for range 10 {
			if err := fairlead.NewClient(store).Enqueue(ctx, &fairlead.Job{Kind: "k"}); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Minute)
		l := e.current.Load()
		if known, active, unsaved := len(l.registry.known()), l.registry.size(), l.unsaved(); known+active+unsaved != 0 {
			t.Errorf("it knows of %d leases, %d runs and %d ends", known, active, unsaved)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestNodesThatAreLongDeadAreAskedForTheirJobsUntilTheyHaveNone(t *testing.T) {
	now := time.Now()
	old, recent := now.Add(-time.Minute), now.Add(time.Minute)
	nodes := []fairlead.Node{{ID: 1, Dead: true, Until: old}, {ID: 2, Until: old}, {ID: 3, Dead: true, Until: recent}, {ID: 4, Dead: true, Until: old}}
	empty := map[fairlead.NodeID]bool{4: true, 5: true}
	ids := func(nodes []fairlead.Node) (ids []fairlead.NodeID) {
		for i := range nodes {
			ids = append(ids, nodes[i].ID)
		}
		return ids
	}
	if got := ids(longDead(nodes, now, empty)); !slices.Equal(got, []fairlead.NodeID{1}) {
		t.Errorf("asked are %v", got)
	}
	if !empty[4] || len(empty) != 1 {
		t.Errorf("remembered as empty are %v", empty) // 5 is not known any more
	}
	var many []fairlead.Node
	for id := range fairlead.NodeID(3 * unreapedNodes) {
		many = append(many, fairlead.Node{ID: id + 1, Dead: true, Until: old})
	}
	if got := longDead(many, now, empty); len(got) != unreapedNodes || got[0].ID != 1 {
		t.Errorf("of many %d are asked", len(got))
	}
}

func TestANodeThatIsNotTrustedTakesJobsBackOnlyAfterALongTimeInTouch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const length = 10 * time.Second
		l := quietLife(t, nil, Options{Lease: length})
		// look lets the node look as often as it does, with a lease or without.
		look := func(leases int, leased bool) (may bool) {
			for range 4 * leases {
				time.Sleep(length / 4)
				if l.lease.end(); leased {
					l.lease.extend(time.Now())
				}
				may = l.mayReap()
			}
			return may
		}
		if look(unsteadyLeases-2, true) {
			t.Error("it does before")
		}
		if look(10*unsteadyLeases, false) {
			t.Error("it does without a lease")
		}
		if look(1, true) {
			t.Error("the time without a lease has counted")
		}
		if !look(1, true) {
			t.Error("it does not after a long time")
		}
		since := time.Now().Add(-length)
		l.steadySince.Store(&since)
		if !look(1, true) {
			t.Error("it does not when it is trusted")
		}
		l.steadySince.Store(nil)
		if look(unsteadyLeases-1, true) {
			t.Error("the time before it was trusted has counted")
		}
	})
}

func TestWhatWaitsForANodeToBeIdleIsToldOnce(t *testing.T) {
	r, runs := newRegistry(), numbered(2)
	r.add(runs)
	idle := r.whenIdle()
	r.over(runs[0])
	select {
	case <-idle:
		t.Error("it is said to be idle while one runs")
	default:
	}
	r.over(runs[1])
	<-idle
	<-r.whenIdle()
	r.over(runs...) // one that was given up returns after all
}

// idleJobs are jobs of which one is ready and nothing hinders it.
type idleJobs struct{ kind string }

func (j idleJobs) Find(context.Context, fairlead.Filter) ([]*fairlead.Job, error) {
	return []*fairlead.Job{{ID: 1, Kind: j.kind}}, nil
}

func (j idleJobs) Explain(context.Context, int64) (fairlead.Explanation, error) {
	return fairlead.Explanation{State: fairlead.Ready}, nil
}

func TestAJobOfABoundedKindCouldStartWhileThereIsRoomForIt(t *testing.T) {
	mux := fairlead.NewMux()
	mux.Handle("few", fairlead.HandlerOptions{MaxRunning: 1}, fairlead.HandlerFunc(func(context.Context, *fairlead.Job) error { return nil }))
	e, err := New(nil, mux, Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	g := newLife(e, 1, time.Now()).groups[0]
	w := stallWatch{group: g, jobs: idleJobs{"few"}}
	for held, want := range []bool{true, false} {
		g.kinds["few"].held.Store(int64(held))
		if could, err := w.startable(t.Context()); err != nil || could != want {
			t.Errorf("with %d of 1 held, that it could start is %t, %v", held, could, err)
		}
	}
}

func TestTheFirstCauseThatEndsARunCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := numbered(1)[0]
		if r.overdue(time.Now()) != 0 || r.why() != nil {
			t.Error("it has ended before")
		}
		first := errors.New("first")
		r.end(first)
		time.Sleep(time.Second)
		r.end(errors.New("second"))
		if late := r.overdue(time.Now()); r.why() != first || late != time.Second { //nolint:errorlint // that very one
			t.Errorf("it has ended %v ago because of %v", late, r.why())
		}
		if r.begin(time.Hour, func() {}) {
			t.Error("it begins after its end")
		}
	})
}

func TestAHandlerThatBeginsWhileTheNodeLeavesIsToldAtOnce(t *testing.T) {
	told := func(c <-chan struct{}) bool {
		select {
		case <-c:
			return true
		default:
			return false
		}
	}
	d := newDeparture()
	early, shard, ended := d.begun(), d.alone(), d.alone()
	d.forget(ended)
	if told(early) || told(shard.told) {
		t.Error("it is told before")
	}
	d.begin()
	d.begin() // twice is fine
	if !told(early) || !told(shard.told) || told(ended.told) {
		t.Error("not those are told that run")
	}
	if !told(d.begun()) || !told(d.alone().told) {
		t.Error("one that begins is not told")
	}
	d.undo()
	if told(d.begun()) || told(d.alone().told) {
		t.Error("one that begins after it is undone is told")
	}
	if !told(early) {
		t.Error("one that was told is not any more")
	}
}
