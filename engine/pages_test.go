package engine

import (
	"context"
	"log/slog"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/sweep"
)

// many is a store with many batches, sweeps and shards, which it gives by the page.
type many struct {
	driver.Store
	ids    []int64 // newest first
	state  sweep.State
	silent []sweep.Silence
}

func descending(n int) []int64 {
	ids := make([]int64, n)
	for i := range ids {
		ids[i] = int64(n - i)
	}
	return ids
}

// page are the ids below one, at most so many.
func (m *many) page(below int64, limit int) []int64 {
	ids := m.ids
	if below > 0 {
		ids = ids[slices.IndexFunc(append(ids, 0), func(id int64) bool { return id < below }):]
	}
	return ids[:min(limit, len(ids))]
}

func (m *many) Batches(_ context.Context, filter batch.Filter) (found []batch.Record, err error) {
	for _, id := range m.page(filter.Below, filter.Limit) {
		found = append(found, batch.Record{Batch: batch.Batch{ID: id}})
	}
	return found, nil
}

func (m *many) Sweeps(_ context.Context, filter sweep.Filter) (found []sweep.Record, err error) {
	for _, id := range m.page(filter.Below, filter.Limit) {
		s := sweep.Record{Sweep: sweep.Sweep{ID: id}}
		s.State, s.Silent = m.state, m.silent
		found = append(found, s)
	}
	return found, nil
}

func (m *many) Find(_ context.Context, filter fairlead.Filter) (found []*fairlead.Job, err error) {
	for _, id := range m.page(filter.Below, filter.Limit) {
		found = append(found, &fairlead.Job{ID: id})
	}
	return found, nil
}

func (m *many) Nodes(context.Context) ([]fairlead.Node, error) { return nil, nil }

func TestAllBatchesSweepsAndShardsAreSeenHoweverMany(t *testing.T) {
	mux := fairlead.NewMux()
	mux.Handle(modelKind, fairlead.HandlerOptions{}, fairlead.HandlerFunc(func(context.Context, *fairlead.Job) error { return nil }))
	for _, n := range []int{0, 1, openPage - 1, openPage, openPage + 1, 2*openPage + 1} {
		store := &many{ids: descending(n), state: sweep.Waiting}
		e, err := New(store, mux, Options{Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		l := newLife(e, 1, time.Now())
		batches, err := l.batches.due(t.Context(), time.Now())
		if err != nil || len(batches) != n {
			t.Errorf("of %d batches %d are looked at, %v", n, len(batches), err)
		}
		sweeps, err := l.steerer.due(t.Context(), time.Now())
		if err != nil || len(sweeps) != n {
			t.Errorf("of %d sweeps %d are looked at, %v", n, len(sweeps), err)
		}
		jobs, err := l.steerer.shardJobs(t.Context())
		if err != nil || len(jobs) != n {
			t.Errorf("of %d shards %d are seen, %v", n, len(jobs), err)
		}
	}
}

func TestANodeThatRunsNoShardsAsksForNone(t *testing.T) {
	l := quietLife(t, &many{ids: descending(3)}, Options{})
	if jobs, err := l.steerer.shardJobs(t.Context()); err != nil || len(jobs) > 0 {
		t.Errorf("it sees %d jobs, %v", len(jobs), err)
	}
}

// A steerer looks at all sweeps every poll. News makes it look sooner, but only once
// every poll.
func TestNewsOfShardsMakesANodeLookSoonerOnceEveryPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const poll = 10 * time.Second
		store := &many{ids: descending(1), state: sweep.Running}
		s := quietLife(t, store, Options{Poll: poll}).steerer
		next := func(what string, want time.Duration) {
			t.Helper()
			s.mu.Lock()
			defer s.mu.Unlock()
			if got := time.Until(s.all); got != want {
				t.Errorf("%s: it looks in %v, want %v", what, got, want)
			}
		}
		look := func() {
			t.Helper()
			if due, err := s.due(t.Context(), time.Now()); err != nil || len(due) != 1 {
				t.Errorf("%d sweeps are looked at, %v", len(due), err)
			}
		}
		look()
		next("after a look", poll)
		s.hurry()
		next("with news", poll/hurrySoon)
		time.Sleep(poll / hurrySoon / 2)
		s.hurry()
		next("with more news", poll/hurrySoon/2)
		time.Sleep(poll / hurrySoon / 2)
		look()
		s.hurry()
		next("with news right after such a look", poll)
		time.Sleep(poll - poll/hurrySoon/2)
		s.hurry()
		next("with news when a look is near", poll/hurrySoon/2)
		time.Sleep(poll / hurrySoon / 2)
		look()
		s.hurry()
		next("with news after a poll without", poll/hurrySoon)
		time.Sleep(poll / hurrySoon)
		store.state = sweep.Waiting
		look()
		time.Sleep(poll)
		look()
		s.hurry()
		next("while no sweep runs", poll)
		s.learn()
		next("when a shard was claimed", time.Until(time.Time{}))
		store.silent = []sweep.Silence{{}}
		look()
		next("while the rate of a shard is free for others", poll/waitSoon)
	})
}

func TestAShardThatIsGivenBackIsNoNewsOfItsSweep(t *testing.T) {
	s := quietLife(t, &many{ids: descending(5), state: sweep.Waiting}, Options{}).steerer
	now := time.Now()
	if due, err := s.due(t.Context(), now); err != nil || len(due) != 5 {
		t.Errorf("%d sweeps are looked at, %v", len(due), err)
	}
	jobs := newAllotment(t, 1, 1, 1).jobs
	s.ended(endedJobs([]ending{
		{run: &run{job: jobs[0]}, settlement: fairlead.Settlement{Move: fairlead.MoveRelease}},
		{run: &run{job: jobs[1]}, settlement: fairlead.Settlement{Move: fairlead.Succeed}},
		{run: numbered(1)[0], settlement: fairlead.Settlement{Move: fairlead.Succeed}}, // no shard
	}))
	if due, err := s.due(t.Context(), now); err != nil || len(due) != 1 || !due[2] {
		t.Errorf("before the next poll %v are looked at, %v", due, err)
	}
}

func TestTheZeroValueOfOptionsIsWhatTheirCommentsSay(t *testing.T) {
	const day = 24 * time.Hour
	o := Options{}.withDefaults()
	if o.Logger == nil || o.Observer == nil || o.Base == nil || o.Base() == nil {
		t.Errorf("without a default are some of %v, %v and %p", o.Logger, o.Observer, o.Base)
	}
	o.Name, o.Logger, o.Observer, o.Base = "", nil, nil, nil // the name is that of the host
	want := Options{
		Slots: 32, QueueSize: 1000, ClaimBatch: 500, BlockingCountLimit: 10, MaxSweeps: 5, MaxCrashes: 20,
		Poll: time.Second, Beat: 2 * time.Second, Lease: 10 * time.Second, Grace: 5 * time.Second,
		DrainTimeout: 30 * time.Second, Timeout: time.Hour, StuckLimit: 10 * time.Minute,
		Retention: driver.Retention{Succeeded: day, Failed: 7 * day, Cancelled: day, Skipped: day}, HoldRetention: 7 * day,
	}
	if !reflect.DeepEqual(o, want) {
		t.Errorf("they are %+v", o)
	}
}

// refusing is a store that works and takes no settlement.
type refusing struct{ many }

func (*refusing) Now(context.Context) (time.Time, error) { return time.Now(), nil }

func (*refusing) Settle(context.Context, []fairlead.Settlement) ([]fairlead.Settled, error) {
	return nil, fairlead.ErrUnavailable
}

func TestOfKeysThatAreDueTheOneThatWasTriedLeastIsNext(t *testing.T) {
	r := quietLife(t, &refusing{}, Options{}).replacer
	now := time.Now()
	if k, wait := r.nextHeld(now); k != nil || wait >= 0 {
		t.Errorf("of none it is %v, in %v", k, wait)
	}
	for i, name := range []string{"tried", "later", "never"} {
		due := now.Add(time.Duration(i) * time.Second)
		r.held[name] = &heldKey{name: name, due: due, pause: settleFirst, try: replaceTry, endings: []ending{{run: numbered(1)[0]}}}
	}
	want := func(at time.Time, name string) {
		t.Helper()
		for range 20 { // in whatever order they are seen
			if k, _ := r.nextHeld(at); k == nil || k.name != name {
				t.Fatalf("next is %+v, want %s", k, name)
			}
		}
	}
	want(now, "tried")
	if k, wait := r.nextHeld(now.Add(-time.Second)); k != nil || wait != time.Second {
		t.Errorf("before any is due it is %v, in %v", k, wait)
	}
	r.writeHeld(t.Context(), r.held["tried"])
	want(now.Add(time.Hour), "later") // of those that were never tried the one that is due first
	r.writeHeld(t.Context(), r.held["later"])
	want(now.Add(time.Hour), "never")
}
