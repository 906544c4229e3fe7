package mysql_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/mysql"
)

// tailStore opens a store that is closed when the test ends.
func tailStore(t *testing.T, address string) *mysql.Store {
	t.Helper()
	store, err := mysql.Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}

func enqueueOne(t *testing.T, store *mysql.Store, change ...func(*fairlead.Job)) *fairlead.Job {
	t.Helper()
	job := &fairlead.Job{Kind: "a"}
	for _, f := range change {
		f(job)
	}
	if err := fairlead.NewClient(store).Enqueue(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	return job
}

var tailScope = &driver.Scope{Kinds: []string{"a"}}

func claimOne(t *testing.T, store *mysql.Store, node fairlead.NodeID) *fairlead.Job {
	t.Helper()
	jobs, err := store.Claim(t.Context(), driver.Claim{Node: node, Scope: tailScope, Max: 1})
	if err != nil || len(jobs) != 1 {
		t.Fatalf("claimed %v, %v", jobs, err)
	}
	return jobs[0]
}

func joinOne(t *testing.T, store *mysql.Store) fairlead.NodeID {
	t.Helper()
	node, err := store.Join(t.Context(), fairlead.Node{Kinds: []string{"a"}, Slots: 1}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return node
}

func serverNumber(t *testing.T, db *sql.DB) (number int64) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), "select number from fairlead_server").Scan(&number); err != nil {
		t.Fatal(err)
	}
	return number
}

// Who stores and claims looks at lanes, and waits for no transaction that has them locked.
func TestLanesThatAreLockedHinderNobody(t *testing.T) {
	address := mysql.Migrated.MySQL(t)
	store := tailStore(t, address)
	node := joinOne(t, store)
	enqueueOne(t, store)
	locker, err := rawDB(t, address, nil).BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = locker.Rollback() }()
	mustExecTx(t, locker, "update fairlead_lane set retired_at = 0")
	mustExecTx(t, locker, "select id from fairlead_lane for update")
	client := fairlead.NewClient(store)
	for what, job := range map[string]*fairlead.Job{
		"a job": {Kind: "a"}, "a job for later": {Kind: "a", NotBefore: time.Now().Add(time.Hour)}, "a job with a key": {Kind: "a", Key: "k"},
	} {
		unhindered(t, address, what, func(ctx context.Context) error { return client.Enqueue(ctx, job) })
	}
	unhindered(t, address, "a claim", func(ctx context.Context) error {
		_, err := store.Claim(ctx, driver.Claim{Node: node, Scope: tailScope, Max: 2})
		return err
	})
}

// A caller's transaction, which may be open for long and at any isolation level,
// locks no lane and no gap between lanes.
func TestACallersTransactionHindersNobodyAtLanes(t *testing.T) {
	address := mysql.Migrated.MySQL(t)
	store := tailStore(t, address)
	db := rawDB(t, address, map[string]string{"autocommit": "1"})
	enqueueOne(t, store)
	tx, err := db.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelSerializable})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	mustExec(t, db, "delete from fairlead_lane") // the store has to make it again
	jobs := []*fairlead.Job{{Kind: "a"}, {Kind: "a", Key: "k"}}
	if err := fairlead.NormalizeJobs(jobs); err != nil {
		t.Fatal(err)
	}
	if err := store.Tx(tx).Enqueue(t.Context(), jobs); err != nil {
		t.Fatal(err)
	}
	unhindered(t, address, "lanes are changed and made", func(ctx context.Context) error {
		_, err := db.ExecContext(ctx, "update fairlead_lane set retired_at = 0")
		other := &fairlead.Job{Kind: "b"}
		return errors.Join(err, fairlead.NewClient(store).Enqueue(ctx, other))
	})
}

func TestIDsGoOnAboveThoseThatTheDatabaseForgot(t *testing.T) {
	address := mysql.Migrated.MySQL(t)
	first, second := tailStore(t, address), tailStore(t, address)
	db := rawDB(t, address, map[string]string{"autocommit": "1"})
	known := map[int64]bool{enqueueOne(t, first).ID: true, enqueueOne(t, first).ID: true}
	mustExec(t, db, "update fairlead_counter set value = 0 where name = 'job'")
	before := serverNumber(t, db)
	for _, store := range []*mysql.Store{second, first, second, first} { // the second is given what the first had
		for what, change := range map[string]func(*fairlead.Job){
			"plain": func(*fairlead.Job) {}, "later": func(job *fairlead.Job) { job.NotBefore = time.Now().Add(time.Hour) },
		} {
			job := enqueueOne(t, store, change)
			if known[job.ID] {
				t.Errorf("%s: the id %d was given out twice", what, job.ID)
			}
			known[job.ID] = true
		}
	}
	if serverNumber(t, db) == before {
		t.Error("the other processes are not told")
	}
}

func TestFencesGoOnAboveThoseThatTheDatabaseForgot(t *testing.T) {
	address := mysql.Migrated.MySQL(t)
	store := tailStore(t, address)
	db := rawDB(t, address, map[string]string{"autocommit": "1"})
	node := joinOne(t, store)
	enqueueOne(t, store)
	enqueueOne(t, store)
	first := claimOne(t, store, node)
	mustExec(t, db, "truncate fairlead_fence")
	if second := claimOne(t, store, node); second.Fence <= first.Fence {
		t.Errorf("the fence %d follows %d", second.Fence, first.Fence)
	}
}

func TestANodeWhoseLastBeatIsForgottenHasLostItsLease(t *testing.T) {
	address := mysql.Migrated.MySQL(t)
	for what, act := range map[string]func(store *mysql.Store, node fairlead.NodeID) error{
		"beat": func(store *mysql.Store, node fairlead.NodeID) error {
			_, err := store.Beat(t.Context(), driver.Beat{Node: node, Lease: time.Hour})
			return err
		},
		"claim": func(store *mysql.Store, node fairlead.NodeID) error {
			_, err := store.Claim(t.Context(), driver.Claim{Node: node, Scope: tailScope, Max: 1})
			return err
		},
	} {
		t.Run(what, func(t *testing.T) {
			store := tailStore(t, address)
			db := rawDB(t, address, map[string]string{"autocommit": "1"})
			node := joinOne(t, store)
			if _, err := store.Beat(t.Context(), driver.Beat{Node: node, Lease: time.Hour}); err != nil {
				t.Fatal(err)
			}
			before, job := serverNumber(t, db), enqueueOne(t, store)
			mustExec(t, db, "update fairlead_node set last_beat = last_beat - 1 where id = ?", node)
			if err := act(store, node); !errors.Is(err, fairlead.ErrLeaseLost) {
				t.Errorf("it ended with %v", err)
			}
			if serverNumber(t, db) == before {
				t.Error("the other processes are not told")
			}
			if again := joinOne(t, store); again < node+1000 {
				t.Errorf("it joins as %d after %d", again, node)
			}
			if next := enqueueOne(t, store); next.ID < job.ID+1e8 {
				t.Errorf("job %d follows %d", next.ID, job.ID)
			}
		})
	}
}

// A standby may be read by a process that was not there when it was promoted.
func TestAStandbyCanBeReadUntilItIsPromoted(t *testing.T) {
	tier.Long(t, "starts a server of its own")
	server := tailServer(t)
	admin := adminOf(t, server)
	job := enqueueOne(t, tailStore(t, tailURL(server.Addr())))
	mustExec(t, admin, "update "+tailDatabase+".fairlead_server set name = 'another 5'")
	mustExec(t, admin, "set global read_only = 1")
	store := tailStore(t, tailURL(server.Addr()))
	if _, err := store.Get(t.Context(), job.ID); err != nil {
		t.Fatal(err)
	}
	if err := fairlead.NewClient(store).Enqueue(t.Context(), &fairlead.Job{Kind: "a"}); !errors.Is(err, fairlead.ErrUnavailable) {
		t.Errorf("it stores jobs: %v", err)
	}
	mustExec(t, admin, "set global read_only = 0")
	if next := enqueueOne(t, store); next.ID < job.ID+1e8 {
		t.Errorf("job %d follows %d, which another server may have given out too", next.ID, job.ID)
	}
}

// After a failover the clock may be behind that of the lost server, and so behind fences.
func TestFencesGoOnAboveThoseOfAServerWhoseClockWasAhead(t *testing.T) {
	address := mysql.Migrated.MySQL(t)
	db := rawDB(t, address, map[string]string{"autocommit": "1"})
	stores := []*mysql.Store{tailStore(t, address), tailStore(t, address)}
	nodes, last := map[*mysql.Store]fairlead.NodeID{}, map[*mysql.Store]int64{}
	mustExec(t, db, "replace into fairlead_fence (node, id) values (0, (unix_timestamp() + 3600) * 1000000)")
	for _, store := range stores {
		nodes[store] = joinOne(t, store)
		enqueueOne(t, store)
		last[store] = claimOne(t, store, nodes[store]).Fence
	}
	mustExec(t, db, "truncate fairlead_fence")
	numbers := map[int64]bool{}
	for range 3 {
		for _, store := range stores {
			enqueueOne(t, store)
			fence := claimOne(t, store, nodes[store]).Fence
			if fence <= last[store] {
				t.Errorf("the fence %d follows %d", fence, last[store])
			}
			last[store], numbers[serverNumber(t, db)] = fence, true
		}
	}
	if len(numbers) > 1 {
		t.Errorf("%d servers were counted for one loss", len(numbers))
	}
}
