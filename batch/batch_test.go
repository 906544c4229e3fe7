package batch_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/sqlite"
)

// clock stands still until it is moved.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// tester is a *testing.T or a *rapid.T.
type tester interface {
	Helper()
	Fatalf(format string, args ...any)
	Cleanup(do func())
}

// moving is a database with a node that knows how to move boxes. What the node does
// with them is done by hand.
type moving struct {
	tester
	outer     *testing.T
	queue     string
	file      string
	clock     *clock
	store     driver.Store
	client    *fairlead.Client
	batches   *batch.Client
	schedules *schedule.Client
	node      fairlead.NodeID
}

const moveKind = "box.move"

func newMoving(t *testing.T) *moving {
	m := &moving{
		tester: t, outer: t, queue: fairlead.DefaultQueue, file: sqlitetest.File(t),
		clock: &clock{now: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)},
	}
	m.store = m.open()
	m.client = fairlead.NewClient(m.store)
	m.batches = batch.NewClient(m.store)
	m.schedules = schedule.NewClient(m.store)
	m.join()
	return m
}

// open gives another store on the same database.
func (m *moving) open() *sqlite.Store {
	m.Helper()
	store, err := sqlite.OpenWith(m.outer.Context(), m.file, sqlite.Options{Clock: m.clock.Now, Synchronous: "off"})
	m.ok(err)
	m.Cleanup(func() { _ = store.Close() })
	return store
}

func (m *moving) join() {
	m.Helper()
	node, err := m.store.Join(m.outer.Context(), fairlead.Node{Name: "mover", Kinds: []string{moveKind}, Slots: 100}, 1000*time.Hour)
	m.ok(err)
	m.node = node
}

func (m *moving) ok(err error) {
	m.Helper()
	if err != nil {
		m.Fatalf("unexpected error: %v", err)
	}
}

func (m *moving) equal(what string, got, want any) {
	m.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		m.Fatalf("%s differs (-want +got):\n%s", what, diff)
	}
}

func (m *moving) conflicts(what string, err error) {
	m.Helper()
	if !errors.Is(err, fairlead.ErrConflict) {
		m.Fatalf("%s: got %v, want a conflict", what, err)
	}
}

// boxes are so many changes.
func boxes(n int) []batch.Change {
	changes := make([]batch.Change, n)
	for i := range changes {
		changes[i] = batch.Change{
			Target: batch.Target{ID: fmt.Sprint("box ", i), Type: "box"},
			Before: fmt.Appendf(nil, `{"at":"old %d"}`, i), After: fmt.Appendf(nil, `{"at":"new %d"}`, i),
		}
	}
	return changes
}

// create makes a batch of so many boxes.
func (m *moving) create(tasks int, changes ...func(*batch.Batch)) batch.Batch {
	m.Helper()
	b := batch.Batch{Name: "spring", Type: "move", Queue: m.queue}
	for _, change := range changes {
		change(&b)
	}
	created, err := m.batches.Start(m.outer.Context(), b, boxes(tasks)...)
	m.ok(err)
	return created
}

// look looks at a batch as a node does, until there is nothing to do.
func (m *moving) look(id int64) batch.Batch {
	m.Helper()
	for again := true; again; {
		done, err := batch.Conduct(m.outer.Context(), m.store, id)
		m.ok(err)
		if again = done.Next == 0; done.Prepare {
			m.ok(batch.Prepare(m.outer.Context(), m.store, id, done.Try))
			again = true
		}
	}
	return m.batch(id)
}

func (m *moving) batch(id int64) batch.Batch {
	m.Helper()
	b, err := m.batches.Get(m.outer.Context(), id)
	m.ok(err)
	return b
}

// record reads a batch with its ledger.
func (m *moving) record(id int64) batch.Record {
	m.Helper()
	found, err := m.store.Batches(m.outer.Context(), batch.Filter{IDs: []int64{id}})
	m.ok(err)
	m.equal("how many batches have the ID", len(found), 1)
	return found[0]
}

// acted is a batch that a caller acted upon.
func (m *moving) acted(b batch.Batch, err error) batch.Batch {
	m.Helper()
	m.ok(err)
	return b
}

func (m *moving) scope() *driver.Scope {
	return &driver.Scope{Queues: []string{m.queue}, Kinds: []string{moveKind}}
}

// start claims at most n tasks.
func (m *moving) start(n int) []*fairlead.Job {
	m.Helper()
	jobs, err := m.store.Claim(m.outer.Context(), driver.Claim{Node: m.node, Scope: m.scope(), Max: n})
	m.ok(err)
	return jobs
}

// end ends jobs that run.
func (m *moving) end(move fairlead.Move, reason fairlead.Reason, jobs ...*fairlead.Job) {
	m.Helper()
	settlements := make([]fairlead.Settlement, len(jobs))
	for i, job := range jobs {
		settlements[i] = fairlead.Settlement{ID: job.ID, Fence: job.Fence, Move: move, Reason: reason, After: 3 * time.Second}
	}
	_, err := m.store.Settle(m.outer.Context(), settlements)
	m.ok(err)
}

func (m *moving) succeed(jobs ...*fairlead.Job) { m.Helper(); m.end(fairlead.Succeed, "", jobs...) }
func (m *moving) fail(jobs ...*fairlead.Job) {
	m.Helper()
	m.end(fairlead.Fail, fairlead.ReasonFatal, jobs...)
}

// finish lets all tasks succeed that can be started, until there are no more.
func (m *moving) finish(id int64) batch.Batch {
	m.Helper()
	for {
		b := m.look(id)
		jobs := m.start(1000)
		if len(jobs) == 0 {
			return b
		}
		m.succeed(jobs...)
	}
}

func (m *moving) tasks(filter batch.TaskFilter) []batch.Task {
	m.Helper()
	tasks, err := m.batches.Tasks(m.outer.Context(), filter)
	m.ok(err)
	return tasks
}

// stands is how the tasks of a batch stand, in order.
func (m *moving) stands(id int64) []batch.TaskState {
	m.Helper()
	var states []batch.TaskState
	for _, task := range m.tasks(batch.TaskFilter{Batch: id, Limit: 10_000}) {
		states = append(states, task.State)
	}
	return states
}

// taskOf is what a job of a task says.
func taskOf(job *fairlead.Job) batch.TaskArgs {
	args, err := fairlead.NewKind[batch.TaskArgs](moveKind).Args(job)
	if err != nil {
		panic(err)
	}
	return args
}

func taskIDs(tasks []batch.Task) []int64 {
	ids := make([]int64, len(tasks))
	for i, task := range tasks {
		ids[i] = task.ID
	}
	return ids
}

func jobIDs(jobs []*fairlead.Job) []int64 {
	ids := make([]int64, len(jobs))
	for i, job := range jobs {
		ids[i] = job.ID
	}
	return ids
}

func TestABatchRunsAllItsTasksAndCompletes(t *testing.T) {
	m := newMoving(t)
	b := m.create(5, func(b *batch.Batch) {
		b.Creator, b.Env, b.AZ, b.Service, b.Info, b.Priority, b.Timeout = "ada", "live", "a", "shop", []byte(`{"x":1}`), 7, time.Minute
	})
	m.equal("its state", b.State(), batch.Pending)
	m.equal("its total", b.Total, 5)
	jobs := m.start(2)
	m.equal("what a job says", taskOf(jobs[0]), batch.TaskArgs{
		Batch: b.ID, Task: jobs[0].ID, Type: "move", Creator: "ada", Env: "live", Region: fairlead.DefaultQueue, AZ: "a", Service: "shop", Info: []byte(`{"x":1}`),
		Status: batch.TaskPending, Change: boxes(1)[0],
	})
	m.equal("its batch", jobs[0].Batch, b.ID)
	m.equal("its priority", jobs[0].Priority, 7)
	m.equal("its timeout", jobs[0].Timeout, time.Minute)
	m.equal("the state while some run", func() batch.State { b := m.batch(b.ID); return b.State() }(), batch.Running)
	m.equal("how they stand", m.stands(b.ID), slices.Concat(slices.Repeat([]batch.TaskState{batch.TaskRunning}, 2), slices.Repeat([]batch.TaskState{batch.TaskPending}, 3)))
	m.succeed(jobs...)
	m.equal("the tally", m.look(b.ID).Tally, batch.Tally{Success: 2, Pending: 3})
	m.clock.Advance(time.Minute)
	b = m.finish(b.ID)
	m.equal("its state", b.State(), batch.Success)
	m.equal("when it ended", b.EndedAt, m.clock.Now())
	m.equal("the tally", b.Tally, batch.Tally{Success: 5})
	m.equal("how often it completed", b.Completions, 1)
	m.look(b.ID)
	m.equal("how often it completed after another look", m.batch(b.ID).Completions, 1)
}

func TestABatchIsRefused(t *testing.T) {
	m := newMoving(t)
	ctx := t.Context()
	b := batch.Batch{Name: "spring", Type: "move"}
	unknown := boxes(2)
	unknown[1].Target.Type = "crate"
	for what, create := range map[string]func() error{
		"tasks":                func() error { _, err := m.batches.Start(ctx, b); return err },
		"tasks[1].target.type": func() error { _, err := m.batches.Start(ctx, b, unknown...); return err },
		"name": func() error {
			_, err := m.batches.Start(ctx, batch.Batch{Type: "move"}, boxes(1)...)
			return err
		},
		"canary.ratio": func() error {
			_, err := m.batches.Start(ctx, batch.Batch{Name: "a", Type: "move", Canary: batch.Canary{Ratio: 2}}, boxes(1)...)
			return err
		},
	} {
		var invalid *fairlead.InvalidError
		if err := create(); !errors.As(err, &invalid) || !slices.ContainsFunc(invalid.Fields, func(f fairlead.FieldError) bool { return f.Field == what }) {
			t.Errorf("%s: got %v", what, err)
		}
	}
	list, err := m.batches.List(ctx, batch.Filter{})
	m.ok(err)
	m.equal("the batches", len(list), 0)
}

func TestABatchInTheMakingIsInvisible(t *testing.T) {
	m := newMoving(t)
	n, err := m.batches.Begin(t.Context(), batch.Batch{Name: "spring", Type: "move"})
	m.ok(err)
	m.ok(n.Add(t.Context(), boxes(batch.ChunkSize*11)...))
	if _, err := m.batches.Get(t.Context(), n.ID()); !errors.Is(err, fairlead.ErrNotFound) {
		t.Errorf("it is found: %v", err)
	}
	m.equal("what can be started", len(m.start(10)), 0)
	_, err = batch.Conduct(t.Context(), m.store, n.ID())
	m.ok(err)
	m.equal("what can be started after a look", len(m.start(10)), 0)
	m.ok(n.Add(t.Context(), boxes(3)...))
	b, err := n.Open(t.Context())
	m.ok(err)
	m.equal("its total", b.Total, batch.ChunkSize*11+3)
	m.equal("the tally", m.finish(b.ID).Tally, batch.Tally{Success: batch.ChunkSize*11 + 3})
}

func TestLargeTasksGoInSmallChunks(t *testing.T) {
	m := newMoving(t)
	large := boxes(60)
	for i := range large {
		large[i].After = fmt.Appendf(nil, `"%0200000d"`, i)
	}
	b, err := m.batches.Start(t.Context(), batch.Batch{Name: "spring", Type: "move"}, large...)
	m.ok(err)
	chunks, err := m.store.Chunks(t.Context(), b.ID, batch.ChunkFilter{})
	m.ok(err)
	if len(chunks) < 3 || len(chunks) > 10 {
		t.Errorf("12 MB of tasks are in %d chunks", len(chunks))
	}
	m.equal("the tally", m.finish(b.ID).Tally, batch.Tally{Success: 60})
}

func TestWhatIsReleasedAtOnceHasABoundOfBytes(t *testing.T) {
	const tasks = 40
	m := newMoving(t)
	large := boxes(tasks)
	for i := range large {
		large[i].Before, large[i].After = quoted(250<<10), quoted(250<<10)
	}
	b, err := m.batches.Start(t.Context(), batch.Batch{Name: "spring", Type: "move"}, large...)
	m.ok(err)
	if out := m.record(b.ID).Out; out == 0 || out > 33 {
		t.Errorf("%d tasks of half a megabyte are released at once", out)
	}
	m.look(b.ID)
	m.equal("how many are released in the end", m.record(b.ID).Out, tasks)
}

func TestCancelLetsNoMoreTasksBegin(t *testing.T) {
	m := newMoving(t)
	b := m.create(5)
	jobs := m.start(2)
	b = m.acted(m.batches.Cancel(t.Context(), b.ID, "wrong boxes"))
	m.equal("its state", b.State(), batch.Cancel)
	m.equal("why", b.Reason, "wrong boxes")
	m.equal("what can be started", len(m.start(10)), 0)
	m.equal("it has ended", b.EndedAt.IsZero(), true)
	m.succeed(jobs[0])
	m.fail(jobs[1])
	b = m.look(b.ID)
	m.equal("the tally", b.Tally, batch.Tally{Success: 1, Fail: 1, Cancel: 3})
	m.equal("its state", b.State(), batch.Cancel)
	m.equal("it has ended", b.EndedAt.IsZero(), false)
	_, err := m.batches.Cancel(t.Context(), b.ID, "again")
	m.conflicts("cancelling it again", err)
	m.equal("why, after that", m.batch(b.ID).Reason, "wrong boxes")
	_, err = m.batches.Retry(t.Context(), b.ID)
	m.conflicts("retrying it", err)
	done := m.finish(m.create(1).ID)
	_, err = m.batches.Cancel(t.Context(), done.ID, "")
	m.conflicts("cancelling one that has succeeded", err)
}

func TestATaskBetweenTwoAttemptsGoesOnAfterCancel(t *testing.T) {
	m := newMoving(t)
	b := m.create(2)
	jobs := m.start(2)
	m.end(fairlead.Again, fairlead.ReasonTimeout, jobs[0])
	m.succeed(jobs[1])
	m.acted(m.batches.Cancel(t.Context(), b.ID, ""))
	m.equal("how they stand", m.stands(b.ID), []batch.TaskState{batch.TaskPending, batch.TaskSuccess})
	m.equal("how often it was retried", m.tasks(batch.TaskFilter{Batch: b.ID})[0].Retries, 1)
	m.clock.Advance(3 * time.Second)
	_, err := m.store.Promote(t.Context(), 10)
	m.ok(err)
	m.equal("the tally", m.finish(b.ID).Tally, batch.Tally{Success: 2})
}

func TestPauseTakesBackWhatHasNotStarted(t *testing.T) {
	m := newMoving(t)
	b := m.create(4)
	jobs := m.start(1)
	b = m.acted(m.batches.Pause(t.Context(), b.ID, "lunch"))
	m.equal("why", b.Reason, "lunch")
	m.equal("what can be started", len(m.start(10)), 0)
	m.succeed(jobs...)
	b = m.look(b.ID)
	m.equal("the tally", b.Tally, batch.Tally{Success: 1, Pending: 3})
	m.equal("what can be started after a look", len(m.start(10)), 0)
	b = m.acted(m.batches.Resume(t.Context(), b.ID))
	m.equal("why", b.Reason, "")
	m.equal("what can be started", len(m.start(2)), 2)
	_, err := m.batches.Resume(t.Context(), b.ID)
	m.conflicts("resuming one that is not paused", err)
	_, err = m.batches.Pause(t.Context(), m.finish(m.create(1).ID).ID, "")
	m.conflicts("pausing one that has completed", err)
}

func TestRetryDoesFailedTasksAgain(t *testing.T) {
	m := newMoving(t)
	b := m.create(4)
	jobs := m.start(4)
	m.succeed(jobs[0])
	m.fail(jobs[1:]...)
	b = m.look(b.ID)
	m.equal("its state", b.State(), batch.PartialFail)
	m.equal("it has ended", b.EndedAt.IsZero(), false)
	_, err := m.batches.Retry(t.Context(), b.ID, jobs[0].ID)
	m.conflicts("retrying a task that succeeded", err)
	_, err = m.batches.Retry(t.Context(), b.ID, jobs[3].ID+1000)
	if !errors.Is(err, fairlead.ErrNotFound) {
		t.Errorf("retrying no task: %v", err)
	}
	b = m.acted(m.batches.Retry(t.Context(), b.ID, jobs[2].ID))
	m.equal("the tally", b.Tally, batch.Tally{Success: 1, Fail: 2, RetryPending: 1})
	m.equal("it has ended", b.EndedAt.IsZero(), true)
	again := m.start(10)
	m.equal("which are retried", len(again), 1)
	m.equal("which task it is", taskOf(again[0]).Task, jobs[2].ID)
	m.equal("what it applies", taskOf(again[0]).Change, boxes(3)[2])
	m.fail(again...)
	b = m.look(b.ID)
	m.equal("how often it completed", b.Completions, 2)
	m.acted(m.batches.Retry(t.Context(), b.ID))
	b = m.finish(b.ID)
	m.equal("its state", b.State(), batch.Success)
	m.equal("how often it completed", b.Completions, 3)
	tasks := m.tasks(batch.TaskFilter{Batch: b.ID})
	m.equal("the tasks", taskIDs(tasks), jobIDs(jobs))
	_, err = m.batches.Retry(t.Context(), b.ID)
	m.conflicts("retrying what has succeeded", err)
	m.conflicts("retrying a job of it", m.client.Retry(t.Context(), again[0].ID))
}
