package sweep_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/sqlite"
	"github.com/fairlead-io/fairlead/sweep"
)

// scrubbing is a database with a node that goes over the shards of sweeps. What it does
// with them is done by hand.
type scrubbing struct {
	*testing.T
	store  *sqlite.Store
	client *sweep.Client
	node   fairlead.NodeID
	passed atomic.Int64 // time since the test began
}

const scrubKind = "scrub"

func newScrubbing(t *testing.T) *scrubbing {
	t.Helper()
	s := &scrubbing{T: t}
	begun := time.Now()
	store := sqlitetest.OpenWith(t, sqlite.Options{Clock: func() time.Time { return begun.Add(time.Duration(s.passed.Load())) }})
	t.Cleanup(func() { _ = store.Close() })
	s.store, s.client = store, sweep.NewClient(store)
	s.node = s.join()
	return s
}

func (s *scrubbing) ok(err error) {
	s.Helper()
	if err != nil {
		s.Fatalf("unexpected error: %v", err)
	}
}

func (s *scrubbing) wantConflict(err error) {
	s.Helper()
	if !errors.Is(err, fairlead.ErrConflict) {
		s.Fatalf("got error %v, want a conflict", err)
	}
}

func (s *scrubbing) join() fairlead.NodeID {
	s.Helper()
	node, err := s.store.Join(s.Context(), fairlead.Node{Name: "node", Slots: 1000}, 1000*time.Hour)
	s.ok(err)
	return node
}

// put stores a sweep.
func (s *scrubbing) put(changes ...func(*sweep.Sweep)) sweep.Sweep {
	s.Helper()
	sweep := sweep.Sweep{Name: s.Name(), Kind: scrubKind, To: 1000}
	for _, change := range changes {
		change(&sweep)
	}
	stored, err := s.client.Put(s.Context(), sweep)
	s.ok(err)
	return stored
}

func inShards(n int) func(*sweep.Sweep) { return func(w *sweep.Sweep) { w.Shards = n } }

func gated(w *sweep.Sweep)                     { w.Gate.BeforeRun = "https://example.com/run" }
func serially(w *sweep.Sweep)                  { w.Serial = true }
func budget(b sweep.Budget) func(*sweep.Sweep) { return func(w *sweep.Sweep) { w.Budget = b } }

func (s *scrubbing) start(sweep sweep.Sweep) sweep.Sweep {
	s.Helper()
	started, err := s.client.Start(s.Context(), sweep.ID, "ann")
	s.ok(err)
	return started
}

func (s *scrubbing) stop(sweep sweep.Sweep) sweep.Sweep {
	s.Helper()
	stopped, err := s.client.Stop(s.Context(), sweep.ID, "ann", "enough")
	s.ok(err)
	return stopped
}

// look does what a node does again and again, and returns the sweep.
func (s *scrubbing) look(sw sweep.Sweep) sweep.Sweep {
	s.Helper()
	s.ok(sweep.Steer(s.Context(), s.store, sw.ID))
	found, err := s.client.ByID(s.Context(), sw.ID)
	s.ok(err)
	return found
}

// ledger reads that of a sweep.
func (s *scrubbing) ledger(sw sweep.Sweep) sweep.Ledger {
	s.Helper()
	found, err := s.store.Sweeps(s.Context(), sweep.Filter{IDs: []int64{sw.ID}})
	s.ok(err)
	return found[0].Ledger
}

func (s *scrubbing) wantState(sweep sweep.Sweep, want sweep.State) {
	s.Helper()
	if sweep.State != want {
		s.Fatalf("the sweep is %s (%s), want %s", sweep.State, sweep.Reason, want)
	}
	if found, err := s.client.ByID(s.Context(), sweep.ID); err != nil || found.State != want {
		s.Fatalf("the sweep is stored as %s (%v), want %s", found.State, err, want)
	}
}

// shardRun is a run of a shard.
type shardRun struct {
	*fairlead.Job
	sweep.ShardArgs
}

// claim begins runs of at most n shards.
func (s *scrubbing) claim(n int) []shardRun {
	s.Helper()
	scope := &driver.Scope{Kinds: []string{sweep.KindOf(scrubKind)}}
	jobs, err := s.store.Claim(s.Context(), driver.Claim{Node: s.node, Scope: scope, Max: n})
	s.ok(err)
	runs := make([]shardRun, len(jobs))
	for i, job := range jobs {
		runs[i].Job = job
		s.ok(json.Unmarshal(job.Args, &runs[i].ShardArgs))
	}
	return runs
}

// checkpoint stores how far a run has come.
func (s *scrubbing) checkpoint(run shardRun, done, abandoned int64, ended bool) sweep.Orders {
	s.Helper()
	from := s.shards(run.Sweep)[run.Shard].From
	orders, err := s.store.Checkpoint(s.Context(), sweep.Checkpoint{
		Sweep: run.Sweep, Number: run.Shard, Job: run.ID, Fence: run.Fence, Mark: from + done + abandoned, Done: done, Abandoned: abandoned, Ended: ended,
	})
	s.ok(err)
	return orders
}

func (s *scrubbing) shards(sweep int64) []sweep.Shard {
	s.Helper()
	shards, err := s.store.Shards(s.Context(), sweep)
	s.ok(err)
	return shards
}

// end ends the job of a run.
func (s *scrubbing) end(runs ...shardRun) {
	s.Helper()
	for _, run := range runs {
		_, err := s.store.Settle(s.Context(), []fairlead.Settlement{{ID: run.ID, Fence: run.Fence, Move: fairlead.Succeed}})
		s.ok(err)
	}
}

// bring makes a sweep that is in a state.
func (s *scrubbing) bring(state sweep.State, changes ...func(*sweep.Sweep)) sweep.Sweep {
	s.Helper()
	if state == sweep.Waiting {
		changes = append(changes, gated)
	}
	sw := s.put(changes...)
	switch state {
	case sweep.Waiting, sweep.Running:
		sw = s.start(sw)
	case sweep.Stopping:
		s.start(sw)
		s.claim(1)
		sw = s.stop(sw)
	case sweep.Stopped:
		s.start(sw)
		sw = s.stop(sw)
	case sweep.Finished:
		s.start(sw)
		s.checkpoint(s.claim(1)[0], 1000, 0, true)
		sw = s.look(sw)
	}
	s.wantState(sw, state)
	return sw
}

func TestASweepMovesAsItMay(t *testing.T) {
	const refused = sweep.State("refused")
	const (
		created, waiting, running   = sweep.Created, sweep.Waiting, sweep.Running
		stopping, stopped, finished = sweep.Stopping, sweep.Stopped, sweep.Finished
	)
	actions := map[string]func(s *scrubbing, id int64) (sweep.Sweep, error){
		"start": func(s *scrubbing, id int64) (sweep.Sweep, error) {
			return s.client.Start(s.Context(), id, "ann")
		},
		"retry": func(s *scrubbing, id int64) (sweep.Sweep, error) {
			return s.client.Retry(s.Context(), id, "ann")
		},
		"open": func(s *scrubbing, id int64) (sweep.Sweep, error) {
			return s.client.Open(s.Context(), id, "ann")
		},
		"stop": func(s *scrubbing, id int64) (sweep.Sweep, error) {
			return s.client.Stop(s.Context(), id, "ann", "")
		},
		"data": func(s *scrubbing, id int64) (sweep.Sweep, error) {
			return s.client.SetData(s.Context(), id, "ann", json.RawMessage(`{"n":2}`))
		},
		"delete": func(s *scrubbing, id int64) (sweep.Sweep, error) {
			return sweep.Sweep{}, s.client.Delete(s.Context(), id)
		},
	}
	for _, table := range []struct {
		action  string
		changes []func(*sweep.Sweep)
		becomes map[sweep.State]sweep.State
	}{
		{"start", nil, map[sweep.State]sweep.State{created: running, waiting: refused, running: refused, stopping: refused, stopped: running, finished: refused}},
		{"retry", nil, map[sweep.State]sweep.State{created: refused, waiting: refused, running: refused, stopping: refused, stopped: refused, finished: refused}},
		{"open", nil, map[sweep.State]sweep.State{created: refused, waiting: running, running: refused, stopping: refused, stopped: refused, finished: refused}},
		{"stop", nil, map[sweep.State]sweep.State{created: refused, waiting: stopped, running: stopped, stopping: stopping, stopped: refused, finished: refused}},
		{"data", nil, map[sweep.State]sweep.State{created: created, waiting: waiting, running: refused, stopping: refused, stopped: stopped, finished: finished}},
		{"data", []func(*sweep.Sweep){serially}, map[sweep.State]sweep.State{created: created, waiting: waiting, running: running, stopping: stopping, stopped: stopped, finished: finished}},
		{"delete", nil, map[sweep.State]sweep.State{created: "", waiting: refused, running: refused, stopping: refused, stopped: "", finished: ""}},
	} {
		for from, to := range table.becomes {
			t.Run(fmt.Sprint(table.action, " ", from, " ", len(table.changes)), func(t *testing.T) {
				s := newScrubbing(t)
				sweep := s.bring(from, table.changes...)
				before, err := s.client.ByID(t.Context(), sweep.ID)
				s.ok(err)
				s.passed.Add(int64(time.Second))
				after, err := actions[table.action](s, sweep.ID)
				switch to {
				case refused:
					s.wantConflict(err)
					s.wantState(before, from)
				case "":
					s.ok(err)
				default:
					s.ok(err)
					s.wantState(after, to)
					if from == to && (before.EndedAt != after.EndedAt || before.StartedAt != after.StartedAt || before.Run != after.Run) {
						t.Fatalf("it became %+v from %+v", after.Status, before.Status)
					}
				}
			})
		}
	}
}

func TestTheHistoryOfASweepTellsWhoDidWhat(t *testing.T) {
	s := newScrubbing(t)
	sw := s.put(gated)
	s.start(sw)
	_, err := s.client.SetData(t.Context(), sw.ID, "bob", json.RawMessage(`1`))
	s.ok(err)
	_, err = s.client.Open(t.Context(), sw.ID, "business")
	s.ok(err)
	run := s.claim(1)[0]
	s.stop(sw)
	s.end(run)
	s.look(sw)
	events, err := s.store.SweepEvents(t.Context(), sweep.EventFilter{Sweep: sw.ID})
	s.ok(err)
	var told []string
	for _, e := range events {
		told = append(told, fmt.Sprintf("%s:%s:%s>%s:%s", e.By, e.Action, e.From, e.To, e.Note))
	}
	const want = ":stopped:stopping>stopped:enough ann:stop:running>stopping:enough business:open:waiting>running: bob:data:waiting>waiting: ann:start:created>waiting:"
	if got := strings.Join(told, " "); got != want {
		t.Fatalf("the history is\n%s, want\n%s", got, want)
	}
}

func TestStoppingCancelsShardsThatNobodyHasBegun(t *testing.T) {
	s := newScrubbing(t)
	sw := s.start(s.put(inShards(4)))
	runs := s.claim(2)
	stopping := s.stop(sw)
	s.wantState(stopping, sweep.Stopping)
	if more := s.claim(10); len(more) > 0 {
		t.Fatalf("%d shards were begun after the sweep was stopped", len(more))
	}
	for _, run := range runs {
		if orders := s.checkpoint(run, 10, 0, false); !orders.Stop {
			t.Fatal("a run is not told to stop")
		}
	}
	s.end(runs[0])
	s.wantState(s.look(sw), sweep.Stopping)
	s.end(runs[1])
	stopped := s.look(sw)
	s.wantState(stopped, sweep.Stopped)
	if stopped.Reason != "enough" || stopped.EndedAt.IsZero() || stopped.Done != 20 {
		t.Fatalf("it stands as %+v", stopped.Status)
	}
	again := s.start(sw)
	if again.Run != 2 || again.Reason != "" || !again.EndedAt.IsZero() || again.Done != 20 {
		t.Fatalf("it stands as %+v", again.Status)
	}
	if runs := s.claim(10); len(runs) != 4 {
		t.Fatalf("%d shards can be begun again", len(runs))
	}
}

func TestASweepKnowsWhenItFirstRan(t *testing.T) {
	s := newScrubbing(t)
	sw := s.put()
	if !sw.StartedAt.IsZero() {
		t.Fatalf("it ran at %v before it was started", sw.StartedAt)
	}
	first := s.start(sw).StartedAt
	if first.IsZero() {
		t.Fatal("it runs, and does not know since when")
	}
	s.passed.Add(int64(time.Hour))
	s.stop(sw)
	if again := s.start(sw); !again.StartedAt.Equal(first) || !again.EndedAt.IsZero() {
		t.Fatalf("once it is started again it stands as %+v, want %v as when it first ran", again.Status, first)
	}
}

func TestHowManyItemsThereAreIsUnknownUntilTheSourceIsCounted(t *testing.T) {
	for name, c := range map[string]struct {
		sweep  sweep.Record
		shards []sweep.Shard
		want   int64
	}{
		"before it is cut":          {sweep.Record{Sweep: sweep.Sweep{From: 5, To: 8}}, nil, 3},
		"before it is counted":      {sweep.Record{Sweep: sweep.Sweep{From: 5}}, nil, 0},
		"cut before it is counted":  {sweep.Record{Sweep: sweep.Sweep{From: 5}, Ledger: sweep.Ledger{Cut: true}}, []sweep.Shard{{From: 5, Mark: 7}}, 0},
		"cut and counted":           {sweep.Record{Sweep: sweep.Sweep{From: 5}, Ledger: sweep.Ledger{Cut: true}}, []sweep.Shard{{From: 5, To: 9, Mark: 7}, {From: 9, To: 12, Mark: 9}}, 7},
		"cut with an end of itself": {sweep.Record{Sweep: sweep.Sweep{From: 5, To: 8}, Ledger: sweep.Ledger{Cut: true}}, []sweep.Shard{{From: 5, To: 8, Mark: 5}}, 3},
	} {
		if got := sweep.ProgressOf(&c.sweep, c.shards).Total; got != c.want {
			t.Errorf("%s: %d items, want %d", name, got, c.want)
		}
	}
}

func TestASweepFinishesWithItsLastShard(t *testing.T) {
	s := newScrubbing(t)
	sw := s.start(s.put(inShards(2)))
	runs := s.claim(2)
	s.checkpoint(runs[0], 500, 0, true)
	s.end(runs[0])
	s.wantState(s.look(sw), sweep.Running)
	s.checkpoint(runs[1], 499, 1, true)
	finished := s.look(sw)
	s.wantState(finished, sweep.Finished)
	want := sweep.Progress{Total: 1000, Marked: 1000, Done: 999, Abandoned: 1}
	if finished.Progress != want || finished.EndedAt.IsZero() {
		t.Fatalf("it stands as %+v", finished.Status)
	}
}

func TestASweepThatIsOverWhenItIsStoppedOrStartedIsFinished(t *testing.T) {
	s := newScrubbing(t)
	sw := s.start(s.put(inShards(2)))
	runs := s.claim(2)
	s.checkpoint(runs[0], 500, 0, true)
	s.stop(sw)
	s.checkpoint(runs[1], 500, 0, true)
	s.end(runs...)
	s.wantState(s.look(sw), sweep.Finished)
}

func TestASweepStopsIfTheJobOfAShardEndsTooSoon(t *testing.T) {
	for name, end := range map[string]func(s *scrubbing, run shardRun){
		"failed": func(s *scrubbing, run shardRun) {
			_, err := s.store.Settle(s.Context(), []fairlead.Settlement{{ID: run.ID, Fence: run.Fence, Move: fairlead.Fail, Reason: fairlead.ReasonError}})
			s.ok(err)
		},
		"succeeded": func(s *scrubbing, run shardRun) { s.end(run) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newScrubbing(t)
			sw := s.start(s.put(inShards(3)))
			run := s.claim(1)[0]
			end(s, run)
			stopped := s.look(sw)
			s.wantState(stopped, sweep.Stopped)
			if !strings.Contains(stopped.Reason, name) {
				t.Fatalf("the reason is %q", stopped.Reason)
			}
		})
	}
}

func TestASweepStopsWhenItsBudgetIsUsedUp(t *testing.T) {
	s := newScrubbing(t)
	sw := s.start(s.put(inShards(2), budget(sweep.Budget{Items: 10})))
	runs := s.claim(2)
	s.checkpoint(runs[0], 100, 6, false)
	if orders := s.checkpoint(runs[1], 100, 3, false); orders.Left != 1 {
		t.Fatalf("%d are left", orders.Left)
	}
	s.wantState(s.look(sw), sweep.Running)
	s.checkpoint(runs[1], 100, 4, false)
	s.look(sw)
	if orders := s.checkpoint(runs[0], 100, 6, false); !orders.Stop || orders.Left != 0 {
		t.Fatalf("the orders are %+v", orders)
	}
	s.end(runs...)
	stopped := s.look(sw)
	s.wantState(stopped, sweep.Stopped)
	if stopped.Reason != "10 items failed" {
		t.Fatalf("the reason is %q", stopped.Reason)
	}
	s.start(sw) // what failed so far is forgiven
	runs = s.claim(2)
	if orders := s.checkpoint(runs[0], 100, 8, false); orders.Stop || orders.Left != 8 {
		t.Fatalf("the orders are %+v", orders)
	}
	s.wantState(s.look(sw), sweep.Running)
}

func TestBudgetLeft(t *testing.T) {
	for _, c := range []struct {
		budget                          sweep.Budget
		done, abandoned, forgiven, want int64
	}{
		{sweep.Budget{}, 10, 1e9, 0, -1},
		{sweep.Budget{Items: 5}, 0, 0, 0, 5},
		{sweep.Budget{Items: 5}, 1e18, 4, 0, 1},
		{sweep.Budget{Items: 5}, 0, 9, 0, 0},
		{sweep.Budget{Items: 5}, 0, 9, 7, 3},
		{sweep.Budget{Percent: 1}, 0, 999, 0, -1},
		{sweep.Budget{Percent: 1}, 999, 1, 0, 9},
		{sweep.Budget{Percent: 1}, 990, 10, 0, 0},
		{sweep.Budget{Percent: 1}, 99_000, 990, 0, 10},
		{sweep.Budget{Percent: 50, Items: 3}, 1000, 1, 0, 2},
		{sweep.Budget{Percent: 0.1, Items: 300}, 1000, 1, 0, 1},
	} {
		sweep := sweep.Record{Sweep: sweep.Sweep{Budget: c.budget}, Ledger: sweep.Ledger{Forgiven: c.forgiven}}
		if got := sweep.BudgetLeft(c.done, c.abandoned); got != c.want {
			t.Errorf("%+v: %d are left, want %d", c, got, c.want)
		}
	}
}
