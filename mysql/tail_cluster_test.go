package mysql_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/mysql"
)

const (
	tailDatabase = "tail"
	tailTenants  = 4 // of each time
)

// tailSize reads how large a test is from the environment.
func tailSize(name string, usual int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil && n > 0 {
		return n
	}
	return usual
}

// TestARestoreUnderLivingClients loads a dump into a server that goes on, while
// clients and nodes live. FAIRLEAD_TAIL_ROUNDS says how often, FAIRLEAD_TAIL_JOBS how
// many jobs there are between two steps.
func TestARestoreUnderLivingClients(t *testing.T) {
	tier.Long(t, "restores a server under load")
	server := tailServer(t)
	admin := adminOf(t, server)
	c := newTailCluster(t, tailURL(server.Addr()))
	for range tailSize("FAIRLEAD_TAIL_ROUNDS", 1) {
		c.loseTail(func(dump string) {
			// No node works on tables of which half are restored: clients live on and are
			// refused for a while.
			mustExec(t, admin, "set global read_only = 1")
			load(t, server, dump)
			mustExec(t, admin, "set global read_only = 0")
		}, func() string { return dump(t, server) })
	}
	c.finish(admin)
}

// TestAFailoverThatLosesCommits lets clients and nodes reach another server, which
// has what the first one had a while ago.
func TestAFailoverThatLosesCommits(t *testing.T) {
	tier.Long(t, "fails over between two servers under load")
	first, second := tailServer(t), tailServer(t)
	through := testdb.NewRelay(t, first.Addr())
	adminOf(t, first)
	c := newTailCluster(t, tailURL(through.Addr()))
	admin := adminOf(t, second)
	c.loseTail(func(dump string) {
		load(t, second, dump)
		through.Lead(second.Addr())
	}, func() string { return dump(t, first) })
	c.finish(admin)
}

func tailServer(t *testing.T) *testdb.Server {
	t.Helper()
	server, err := testdb.StartMySQL(t.Context(), testdb.Options{})
	if errors.Is(err, testdb.ErrUnavailable) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	return server
}

// tailURL is the URL of the clients' database: they are no administrators, or a
// server that is read-only would let them write.
func tailURL(address string) string { return "mysql://client:secret@" + address + "/" + tailDatabase }

// adminOf makes the database and its user on a server.
func adminOf(t *testing.T, server *testdb.Server) *sql.DB {
	t.Helper()
	db := rawDB(t, server.URL(), nil)
	mustExec(t, db, "create database "+tailDatabase)
	mustExec(t, db, "create user client@'127.0.0.1' identified by 'secret'")
	mustExec(t, db, "grant all on "+tailDatabase+".* to client@'127.0.0.1'")
	return db
}

// dump is what mariadb-dump says of the database while it is in use.
func dump(t *testing.T, server *testdb.Server) string {
	t.Helper()
	out, err := asUser(t, ownerOf(server), "", "mariadb-dump", "--single-transaction")
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func load(t *testing.T, server *testdb.Server, dump string) {
	t.Helper()
	if _, err := asUser(t, ownerOf(server), dump, "mariadb"); err != nil {
		t.Fatal(err)
	}
}

func ownerOf(server *testdb.Server) string {
	return "mysql://root@" + server.Addr() + "/" + tailDatabase
}

// tailCluster is clients and nodes that live on while the database loses commits.
type tailCluster struct {
	*testing.T
	url   string
	watch *tailWatch

	clients []*fairlead.Client
	store   *mysql.Store       // of one of them
	stop    context.CancelFunc // of the nodes
	ctx     context.Context
	wait    sync.WaitGroup
	round   int
}

func newTailCluster(t *testing.T, address string) *tailCluster {
	t.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	c := &tailCluster{T: t, url: address, watch: newTailWatch(t), ctx: ctx, stop: stop}
	t.Cleanup(func() {
		stop()
		c.wait.Wait()
	})
	for range 2 {
		c.store = c.open()
		c.clients = append(c.clients, fairlead.NewClient(c.store))
	}
	for range 2 {
		c.startNode()
	}
	return c
}

// open opens a store, as another process would.
func (c *tailCluster) open() *mysql.Store {
	c.Helper()
	store, err := mysql.Open(c.ctx, c.url)
	if err != nil {
		c.Fatal(err)
	}
	c.Cleanup(func() { _ = store.Close() })
	return store
}

// startNode lets another node live until the test ends.
func (c *tailCluster) startNode() {
	c.Helper()
	store := joining{c.open(), c.watch}
	mux := fairlead.NewMux()
	for _, kind := range tailKinds {
		mux.Handle(kind, fairlead.HandlerOptions{}, fairlead.HandlerFunc(c.watch.work))
	}
	c.wait.Go(func() {
		err := engine.Run(c.ctx, store, mux, engine.Options{
			Slots: 8, ClaimBatch: 20, Poll: 50 * time.Millisecond, Beat: 200 * time.Millisecond, Lease: 2 * time.Second,
			DrainTimeout: time.Second, Logger: slog.New(slog.DiscardHandler), MaxCrashes: 1000,
		})
		if err != nil {
			c.Errorf("a node ended: %v", err)
		}
	})
}

// joining notes under which ids nodes join.
type joining struct {
	*mysql.Store
	watch *tailWatch
}

func (j joining) Join(ctx context.Context, node fairlead.Node, lease time.Duration) (fairlead.NodeID, error) {
	id, err := j.Store.Join(ctx, node, lease)
	if err == nil {
		j.watch.joined(id)
	}
	return id, err
}

// loseTail takes the database back to what it was in between, under load.
func (c *tailCluster) loseTail(lose func(dump string), dump func() string) {
	c.Helper()
	c.round++
	jobs := tailSize("FAIRLEAD_TAIL_JOBS", 60)
	c.limit("kind0", 3)
	stop := c.load(fmt.Sprint("early", c.round))
	c.watch.await(jobs)
	text := dump()
	c.startNode()
	c.limit("kind1", 2)
	more := c.load(fmt.Sprint("lost", c.round))
	c.watch.await(jobs)
	lose(text)
	again := c.load(fmt.Sprint("late", c.round)) // into lanes that have the numbers of others
	c.watch.await(jobs)
	stop()
	more()
	again()
	c.enqueueAll()
}

func (c *tailCluster) limit(kind string, most int) {
	c.Helper()
	if err := c.clients[0].SetLimit(c.ctx, fairlead.Limit{Scope: fairlead.LimitKind, Name: kind, MaxRunning: most}); err != nil {
		c.Fatal(err)
	}
}

var tailKinds = []string{"kind0", "kind1", "kind2", "kind3"}

// load lets every client enqueue one job after the other, of several tenants, until
// the function is called that it returns. A call that fails is what clients live with.
func (c *tailCluster) load(era string) (stop func()) {
	var wait sync.WaitGroup
	ctx, cancel := context.WithCancel(c.ctx)
	for n, client := range c.clients {
		wait.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				err := c.watch.enqueue(ctx, client, tailKinds[i%len(tailKinds)], fmt.Sprint(era, "-", (n+i)%tailTenants), false)
				pause := 10 * time.Millisecond
				if err != nil {
					pause = 20 * time.Millisecond
				}
				select {
				case <-ctx.Done():
				case <-time.After(pause):
				}
			}
		})
	}
	return func() {
		cancel()
		wait.Wait()
	}
}

// enqueueAll stores jobs that must not be lost, in every lane there is or was.
func (c *tailCluster) enqueueAll() {
	c.Helper()
	for _, client := range c.clients {
		for _, era := range []string{"early", "lost", "late"} {
			for i := range tailTenants {
				for _, kind := range tailKinds {
					if err := c.watch.enqueue(c.ctx, client, kind, fmt.Sprint(era, c.round, "-", i), true); err != nil {
						c.Errorf("enqueue after it: %v", err)
					}
				}
			}
		}
	}
}

// finish waits until all jobs that are there have run, and looks at what is left.
func (c *tailCluster) finish(admin *sql.DB) {
	c.Helper()
	count := func(query string) (n int) {
		if err := admin.QueryRowContext(c.Context(), strings.ReplaceAll(query, "@", tailDatabase+".fairlead_")).Scan(&n); err != nil {
			c.Fatalf("%s: %v", query, err)
		}
		return n
	}
	const open = "select (select count(*) from @ready) + (select count(*) from @running) + (select count(*) from @later)"
	began := time.Now()
	for n := count(open); n > 0; n = count(open) {
		if time.Since(began) > patience.Limit {
			c.Fatalf("%d jobs do not end", n)
		}
		<-time.After(50 * time.Millisecond)
	}
	c.stop()
	c.wait.Wait()
	for what, query := range map[string]string{
		"jobs are in lanes that no row names": "select count(*) from @job j left join @lane l on l.id = j.lane where l.id is null",
		"jobs are nowhere":                    "select count(*) from @job j left join @done d on d.id = j.id where d.id is null",
		"jobs have ended that are unknown":    "select count(*) from @done d left join @job j on d.id = j.id where j.id is null",
		"jobs did not succeed":                "select count(*) from @done where outcome <> 1",
	} {
		if n := count(query); n != 0 {
			c.Errorf("%d %s", n, what)
		}
	}
	if drift, err := c.store.Verify(c.Context()); err != nil || len(drift) > 0 {
		c.Errorf("limits have the wrong use: %+v, %v", drift, err)
	}
	for _, id := range c.watch.sure {
		if count(fmt.Sprint("select count(*) from @done where id = ", id)) != 1 {
			c.Errorf("job %d was lost", id)
		}
	}
}

// tailWatch sees what clients are told and what handlers get.
type tailWatch struct {
	t    *testing.T
	runs atomic.Int64

	mu     sync.Mutex
	serial int
	ids    map[int64]int // of jobs by id: which
	fences map[int]int64 // the largest that a job had
	sure   []int64       // jobs that must not be lost
	nodes  map[fairlead.NodeID]bool
}

// tailArgs are what a job says of itself.
type tailArgs struct {
	Serial       int
	Kind, Tenant string
}

func newTailWatch(t *testing.T) *tailWatch {
	return &tailWatch{t: t, ids: map[int64]int{}, fences: map[int]int64{}, nodes: map[fairlead.NodeID]bool{}}
}

// await returns once so many more jobs have run.
func (w *tailWatch) await(more int) {
	w.t.Helper()
	began, from := time.Now(), w.runs.Load()
	for w.runs.Load() < from+int64(more) {
		if time.Since(began) > patience.Limit {
			w.t.Fatalf("%d of %d jobs have run", w.runs.Load()-from, more)
		}
		<-time.After(5 * time.Millisecond)
	}
}

func (w *tailWatch) joined(id fairlead.NodeID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.nodes[id] {
		w.t.Errorf("node %d has joined twice", id)
	}
	w.nodes[id] = true
}

func (w *tailWatch) enqueue(ctx context.Context, client *fairlead.Client, kind, tenant string, sure bool) error {
	w.mu.Lock()
	w.serial++
	args := tailArgs{Serial: w.serial, Kind: kind, Tenant: tenant}
	w.mu.Unlock()
	text, err := json.Marshal(args)
	if err != nil {
		return err
	}
	job := &fairlead.Job{Kind: kind, Tenant: tenant, Args: text}
	if err := client.Enqueue(ctx, job); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.is(job.ID, args.Serial)
	if sure {
		w.sure = append(w.sure, job.ID)
	}
	return nil
}

// is notes which job has an id: no other ever gets it.
func (w *tailWatch) is(id int64, serial int) {
	if was, known := w.ids[id]; known && was != serial {
		w.t.Errorf("the id %d was given to job %d and to job %d", id, was, serial)
	}
	w.ids[id] = serial
}

// work is the handler of all jobs.
func (w *tailWatch) work(_ context.Context, job *fairlead.Job) error {
	w.runs.Add(1)
	var args tailArgs
	if err := json.Unmarshal(job.Args, &args); err != nil {
		w.t.Errorf("the args %s of job %d: %v", job.Args, job.ID, err)
		return nil
	}
	if args.Kind != job.Kind || args.Tenant != job.Tenant {
		w.t.Errorf("job %d of %s and %s runs as %s of %s", job.ID, args.Kind, args.Tenant, job.Kind, job.Tenant)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.is(job.ID, args.Serial)
	if last := w.fences[args.Serial]; job.Fence <= last {
		w.t.Errorf("job %d runs under the fence %d after %d", job.ID, job.Fence, last)
	}
	w.fences[args.Serial] = job.Fence
	return nil
}
