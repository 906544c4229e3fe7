package batch_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/tier"
)

var errCrashed = errors.New("the process has died")

// dying is a store whose process dies at one of its calls, before that is done or
// after.
type dying struct {
	driver.Store
	calls int // that are left
	after bool
}

func (d *dying) call(do func() error) error {
	d.calls--
	if d.calls < 0 || d.calls == 0 && !d.after {
		return errCrashed
	}
	if err := do(); err != nil || d.calls > 0 {
		return err
	}
	return errCrashed
}

func (d *dying) AddChunks(ctx context.Context, batch int64, chunks []batch.Chunk) error {
	return d.call(func() error { return d.Store.AddChunks(ctx, batch, chunks) })
}

func (d *dying) DropChunks(ctx context.Context, batch int64, pass int) error {
	return d.call(func() error { return d.Store.DropChunks(ctx, batch, pass) })
}

func (d *dying) Conduct(ctx context.Context, id int64, wait bool, act func(context.Context, *batch.Record, batch.Tx) error) (begun bool, err error) {
	err = d.call(func() (err error) {
		begun, err = d.Store.Conduct(ctx, id, wait, act)
		return err
	})
	return begun, err
}

// model is a batch to which anything is done at random.
type model struct {
	*moving
	t        *rapid.T
	id       int64
	total    int
	running  []*fairlead.Job
	tries    []int // passes that a process began to make
	stood    []batch.TaskState
	undone   map[int64]bool // tasks that were ever rolled back
	touched  map[int64]bool // tasks that have begun
	released map[int64]bool // jobs that were released after they had begun
	applied  map[int64]bool // tasks that were applied, or may have been
	meddled  map[int64]bool // tasks whose jobs were changed directly
	bound    int            // the largest MaxRunning there was

	processes []driver.Store // that share the database
}

func TestWhateverHappensToABatchItsTasksAreCounted(t *testing.T) {
	all, n := newMoving(t), 0
	processes := []driver.Store{all.store, all.open(), all.open(), all.open()}
	t.Attr(tier.LongAttr, "rapid draws five times as many cases")
	rapid.Check(t, func(rt *rapid.T) {
		n++
		m := &model{moving: new(moving), t: rt, processes: processes}
		m.undone, m.touched, m.applied, m.meddled = map[int64]bool{}, map[int64]bool{}, map[int64]bool{}, map[int64]bool{}
		m.released = map[int64]bool{}
		*m.moving = *all
		m.tester, m.queue = rt, fmt.Sprint("queue ", n)
		m.join()
		m.begin()
		m.check()
		for range rapid.IntRange(5, 40).Draw(rt, "steps") {
			m.step()
			m.check()
		}
		m.complete()
	})
}

func (m *model) int(low, high int, what string) int { return rapid.IntRange(low, high).Draw(m.t, what) }
func (m *model) maybe(what string) bool             { return rapid.Bool().Draw(m.t, what) }

func (m *model) begin() {
	m.total = m.int(1, 12, "tasks")
	b := m.create(m.total, func(b *batch.Batch) {
		b.Then = []fairlead.Job{{Kind: "told", Queue: m.queue}}
		b.MaxRunning = rapid.SampledFrom([]int{0, 0, 1, 3}).Draw(m.t, "at once")
		b.Canary.Tasks = rapid.SampledFrom([]int{0, 0, 2}).Draw(m.t, "canary")
		if b.Canary.Tasks > 0 {
			b.Canary.Ratio = rapid.SampledFrom([]float64{0, 0.5, 1}).Draw(m.t, "ratio")
		}
		b.StopAfter.Failures = rapid.SampledFrom([]int{0, 0, 2}).Draw(m.t, "failures")
		b.Rate = rapid.SampledFrom([]float64{0, 0, 2}).Draw(m.t, "rate")
	})
	m.id, m.bound = b.ID, atMost(b.MaxRunning)
}

// atMost is how many tasks run at once.
func atMost(bound int) int {
	if bound == 0 {
		return math.MaxInt
	}
	return bound
}

// somewhere is the store of one of the processes, which may be about to die.
func (m *model) somewhere() driver.Store {
	store := m.processes[m.int(0, len(m.processes)-1, "process")]
	if m.int(0, 3, "whether it dies") > 0 {
		return store
	}
	return &dying{Store: store, calls: m.int(1, 4, "calls until it dies"), after: m.maybe("it dies after the call")}
}

// fine expects no error but those that may be.
func (m *model) fine(err error) {
	m.Helper()
	if err != nil && !errors.Is(err, fairlead.ErrConflict) && !errors.Is(err, errCrashed) {
		m.Fatalf("unexpected error: %v", err)
	}
}

func (m *model) step() {
	step := rapid.SampledFrom([]string{
		"look", "look", "look", "prepare", "start", "start", "end", "end", "end", "crash", "time", "act", "act", "job",
	}).Draw(m.t, "step")
	switch step {
	case "look":
		done, err := batch.Conduct(m.outer.Context(), m.somewhere(), m.id)
		m.fine(err)
		if done.Prepare {
			m.tries = append(m.tries, done.Try)
		}
	case "prepare": // the process that looked may take a while to get there, or never do
		if n := len(m.tries); n > 0 {
			m.fine(batch.Prepare(m.outer.Context(), m.somewhere(), m.id, m.tries[n-1]))
			m.tries = m.tries[:n-1]
		}
	case "start":
		m.begun(m.start(m.int(1, 5, "how many")))
	case "end":
		m.endSome()
	case "crash":
		m.ok(m.store.Leave(m.outer.Context(), m.node))
		_, err := m.store.Reap(m.outer.Context(), driver.Reap{MaxCrashes: 2, Limit: 100})
		m.ok(err)
		m.running = nil
		m.join()
	case "time":
		m.pass(time.Duration(m.int(1, 100, "seconds")) * time.Second)
	case "act":
		m.act()
	case "job":
		m.meddle()
	}
}

// begun notes jobs that were started. A task that was ever rolled back never goes
// forward again.
func (m *model) begun(jobs []*fairlead.Job) {
	for _, job := range jobs {
		task := taskOf(job)
		if !task.Undo && m.undone[task.Task] {
			m.Fatalf("job %d does task %d, which was rolled back", job.ID, task.Task)
		}
		m.touched[task.Task] = true
	}
	m.running = append(m.running, jobs...)
}

func (m *model) pass(d time.Duration) {
	m.clock.Advance(d)
	_, err := m.store.Promote(m.outer.Context(), 100)
	m.ok(err)
}

// endSome ends runs, in one way or another. Some have been taken away from their
// node: they have no effect.
func (m *model) endSome() {
	for range min(len(m.running), m.int(1, 4, "how many")) {
		i := m.int(0, len(m.running)-1, "which")
		job := m.running[i]
		m.running = slices.Delete(m.running, i, i+1)
		switch m.int(0, 7, "how") {
		case 0:
			m.fail(job)
		case 1:
			m.applied[taskOf(job).Task] = true
			m.end(fairlead.Fail, fairlead.ReasonTimeout, job)
		case 2:
			m.end(fairlead.Again, fairlead.ReasonTimeout, job)
		case 3: // it stays marked as started
			m.released[job.ID] = true
			m.end(fairlead.MoveRelease, "", job)
		default:
			m.applied[taskOf(job).Task] = true
			m.succeed(job)
		}
	}
}

// meddle does something to a job that is a task, without regard to that.
func (m *model) meddle() {
	jobs := m.jobs()
	if len(jobs) == 0 {
		return
	}
	job, ctx := jobs[m.int(0, len(jobs)-1, "job")], m.outer.Context()
	m.meddled[taskOf(job).Task] = true
	switch m.int(0, 2, "what is done to it") {
	case 0:
		m.fine(m.client.Cancel(ctx, job.ID, "meddling"))
	case 1:
		if !job.State.Final() { // or it is not known how it ended
			m.fine(m.client.Delete(ctx, job.ID))
		}
	case 2:
		m.fine(m.client.Retry(ctx, job.ID))
	}
}

// act does what people do to a batch.
func (m *model) act() {
	client, ctx := batch.NewClient(m.somewhere()), m.outer.Context()
	var err error
	switch rapid.SampledFrom([]string{"cancel", "retry", "retry", "roll back", "roll back", "pause", "resume", "resume", "approve", "pace"}).Draw(m.t, "action") {
	case "cancel":
		_, err = client.Cancel(ctx, m.id, "")
	case "retry":
		_, err = client.Retry(ctx, m.id, m.some(batch.TaskFail)...)
	case "roll back":
		r := batch.RollBack{Failed: m.maybe("failed too"), Serial: m.maybe("serial")}
		if r.Tasks = m.some(batch.TaskSuccess, batch.TaskRollbackFail); len(r.Tasks) == 0 && m.maybe("not as a whole") {
			return
		}
		_, err = client.RollBack(ctx, m.id, r)
	case "pause":
		_, err = client.Pause(ctx, m.id, "")
		m.startsNothing(err)
	case "resume":
		_, err = client.Resume(ctx, m.id)
	case "approve":
		_, err = client.Approve(ctx, m.id)
	case "pace":
		bound := m.int(0, 4, "at once")
		m.bound = max(m.bound, atMost(bound))
		_, err = client.SetPace(ctx, m.id, batch.Pace{MaxRunning: &bound})
	}
	m.fine(err)
}

// startsNothing expects that no task begins that has not begun, if that went well.
func (m *model) startsNothing(err error) {
	if err != nil {
		return
	}
	for _, job := range m.jobs() {
		if job.State == fairlead.Ready && job.Attempt == 0 && !m.released[job.ID] {
			m.Fatalf("job %d of a batch that is paused is ready", job.ID)
		}
	}
}

// some are none of the tasks in some states, or a few of them.
func (m *model) some(states ...batch.TaskState) []int64 {
	tasks := taskIDs(m.tasks(batch.TaskFilter{Batch: m.id, States: states}))
	if len(tasks) == 0 || m.maybe("all") {
		return nil
	}
	return tasks[:m.int(1, len(tasks), "how many")]
}

// jobs are those of tasks.
func (m *model) jobs() []*fairlead.Job {
	m.Helper()
	jobs, err := m.store.Find(m.outer.Context(), fairlead.Filter{Kinds: []string{moveKind}, Queues: []string{m.queue}, Limit: 1000})
	m.ok(err)
	return jobs
}
