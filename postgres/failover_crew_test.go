package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/engine"
)

// crew is processes that use a database, each with a store of its own: some enqueue,
// some are nodes. It notes all that was acknowledged and all that was run, as the
// targets of jobs would.
type crew struct {
	*testing.T
	at      string
	clients []*Store
	ctx     context.Context // ends what they do
	all     sync.WaitGroup

	mu       sync.Mutex
	next     int
	acked    map[int]bool
	ran      map[int]int64           // job → the last fence under which it was run
	fences   map[int64]owner         // fence → the node that had it
	owners   map[fairlead.NodeID]int // node → the engine that was it
	problems []string
}

type owner struct {
	engine int
	node   fairlead.NodeID
}

// labelled is what a job says of itself.
type labelled struct {
	Number int    `json:"number"`
	Kind   string `json:"kind"`
	Tenant string `json:"tenant"`
}

const (
	crewClients = 3
	crewEngines = 3
	crewBatch   = 5
	crewBacklog = 300 // jobs
)

var crewKinds = []string{"red", "green", "blue"}

func newCrew(t *testing.T, at string) *crew {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	c := &crew{
		T: t, at: at, ctx: ctx,
		acked: map[int]bool{}, ran: map[int]int64{}, fences: map[int64]owner{}, owners: map[fairlead.NodeID]int{},
	}
	for range crewClients {
		c.clients = append(c.clients, open(t, at, Options{}))
	}
	t.Cleanup(func() {
		stop()
		c.all.Wait()
	})
	for i := range crewEngines {
		c.launch(i)
	}
	for i, client := range c.clients {
		c.all.Go(func() { c.load(client, fmt.Sprint("steady-", i)) })
	}
	return c
}

// launch starts a node.
func (c *crew) launch(number int) {
	store := open(c.T, c.at, Options{})
	mux := fairlead.NewMux()
	for _, kind := range crewKinds {
		mux.Handle(kind, fairlead.HandlerOptions{}, fairlead.HandlerFunc(func(_ context.Context, job *fairlead.Job) error { return c.note(number, job) }))
	}
	c.all.Go(func() {
		err := engine.Run(c.ctx, store, mux, engine.Options{
			Name: fmt.Sprint("engine-", number), Slots: 4, Poll: 50 * time.Millisecond, Beat: 200 * time.Millisecond, Lease: 5 * time.Second,
			Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
		})
		if err != nil && c.ctx.Err() == nil {
			c.problem("engine %d ended: %v", number, err)
		}
	})
}

func (c *crew) problem(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

// note is a target that remembers every fence it has seen.
func (c *crew) note(number int, job *fairlead.Job) error {
	var label labelled
	if err := json.Unmarshal(job.Args, &label); err != nil {
		return err
	}
	if label.Kind != job.Kind || label.Tenant != job.Tenant {
		c.problem("job %d of %s and %s ran as %s of %s", job.ID, label.Kind, label.Tenant, job.Kind, job.Tenant)
	}
	c.mu.Lock()
	last, before := c.ran[label.Number]
	holder, given := c.fences[job.Fence]
	other, known := c.owners[job.Node]
	me := owner{number, job.Node}
	c.ran[label.Number], c.fences[job.Fence], c.owners[job.Node] = max(last, job.Fence), me, number
	c.mu.Unlock()
	if before && job.Fence <= last {
		c.problem("job %d ran under the fence %d after %d", label.Number, job.Fence, last)
	}
	if given && holder != me {
		c.problem("engines %+v and %+v both had the fence %d", holder, me, job.Fence)
	}
	if known && other != number {
		c.problem("engines %d and %d were both node %d", other, number, job.Node)
	}
	return nil
}

// enqueue stores some jobs of a tenant, of all kinds, and notes them once they are
// acknowledged.
func (c *crew) enqueue(ctx context.Context, client *Store, tenant string) ([]int, error) {
	jobs, numbers := make([]*fairlead.Job, crewBatch), make([]int, crewBatch)
	for i := range jobs {
		c.mu.Lock()
		c.next++
		numbers[i] = c.next
		c.mu.Unlock()
		kind := crewKinds[i%len(crewKinds)]
		args, err := json.Marshal(labelled{numbers[i], kind, tenant})
		if err != nil {
			return nil, err
		}
		jobs[i] = &fairlead.Job{Kind: kind, Tenant: tenant, Args: args}
	}
	if err := fairlead.NewClient(client).Enqueue(ctx, jobs...); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, number := range numbers {
		c.acked[number] = true
	}
	return numbers, nil
}

// load enqueues all the time, whatever the database does, unless the nodes do not keep
// up.
func (c *crew) load(client *Store, tenant string) {
	for {
		var err error
		if c.backlog() < crewBacklog {
			_, err = c.enqueue(c.ctx, client, tenant)
		}
		if err != nil && c.ctx.Err() == nil && !errors.Is(err, fairlead.ErrUnavailable) {
			c.problem("enqueue: %v", err)
		}
		select {
		case <-c.ctx.Done():
			return
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// backlog is how many jobs have not run yet.
func (c *crew) backlog() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for number := range c.acked {
		if c.ran[number] == 0 {
			n++
		}
	}
	return n
}

// work has every client enqueue jobs of a tenant, and waits until they have run.
func (c *crew) work(tenant string) {
	c.Helper()
	var all []int
	for i, client := range c.clients {
		c.until("enqueue "+tenant, func() bool {
			numbers, err := c.enqueue(c.Context(), client, fmt.Sprint(tenant, "-", i%2))
			all = append(all, numbers...)
			return err == nil
		})
	}
	for _, number := range all {
		c.until(fmt.Sprint(tenant, ": job ", number, " runs"), func() bool { return c.hasRun(number) })
	}
}

func (c *crew) hasRun(number int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ran[number] != 0
}

// acknowledged are the jobs that were acknowledged so far.
func (c *crew) acknowledged() []int {
	c.mu.Lock()
	defer c.mu.Unlock()
	var numbers []int
	for number := range c.acked {
		numbers = append(numbers, number)
	}
	slices.Sort(numbers)
	return numbers
}

// loseTail does what the standby will not have: lanes, ids, a node, leases and limits.
func (c *crew) loseTail(round int) {
	c.Helper()
	c.launch(crewEngines + round)
	c.work(fmt.Sprint("tail-", round))
	for _, name := range []string{fmt.Sprint("after-", round, "-0"), "steady-1"} {
		if err := c.clients[0].Pause(c.Context(), fairlead.Pause{Scope: fairlead.PauseTenant, Name: name}); err != nil {
			c.Fatal(err)
		}
	}
	c.work(fmt.Sprint("tail-", round, "-more"))
}

// check looks at the database: each job that is there is in a lane that is there and
// has its names, and none is missing that must not be.
func (c *cluster) check(safe []int) {
	c.Helper()
	before := c.acknowledged()
	conn := connect(c.T, c.primary.URL())
	defer conn.Close(c.Context())
	rows, err := conn.Query(c.Context(), `
		select j.id, (j.args->>'number')::int, j.args->>'kind', j.args->>'tenant', coalesce(l.kind, ''), coalesce(l.tenant, '')
		from fairlead_job j left join fairlead_lane l on l.id = j.lane`)
	if err != nil {
		c.Fatal(err)
	}
	kept := map[int]bool{}
	var id int64
	var number int
	var kind, tenant, laneKind, laneTenant string
	_, err = pgx.ForEachRow(rows, []any{&id, &number, &kind, &tenant, &laneKind, &laneTenant}, func() error {
		kept[number] = true
		if kind != laneKind || tenant != laneTenant {
			c.Errorf("job %d of %s and %s is in the lane of %q and %q", id, kind, tenant, laneKind, laneTenant)
		}
		return nil
	})
	if err != nil {
		c.Fatal(err)
	}
	for _, number := range safe {
		if !kept[number] {
			c.Errorf("job %d was acknowledged and is lost", number)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	lost := 0
	for _, number := range before {
		if !kept[number] {
			lost++
			delete(c.acked, number)
		}
	}
	for _, problem := range c.problems {
		c.Error(problem)
	}
	c.problems = nil
	c.Logf("%d jobs were lost, %d are there, %d have run, under %d fences, by %d nodes", lost, len(kept), len(c.ran), len(c.fences), len(c.owners))
}

// drain ends the load and waits until all that is there has run.
func (c *cluster) drain() {
	c.Helper()
	c.until("all jobs end", func() bool {
		return c.ask(c.primary, `select (not exists (select from fairlead_job j left join fairlead_done d on d.id = j.id
			where d.id is null and j.args->>'tenant' not like 'steady-%'))::text`) == "true"
	})
}
