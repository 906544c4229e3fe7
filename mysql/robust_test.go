package mysql_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/mysql"
	"github.com/fairlead-io/fairlead/storetest"
)

func openStore(t testing.TB, address string, options mysql.Options) *mysql.Store {
	t.Helper()
	store, err := mysql.OpenWith(context.Background(), address, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}

func join(t testing.TB, store storetest.Store) fairlead.NodeID {
	t.Helper()
	node, err := store.Join(context.Background(), fairlead.Node{Name: "node"}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return node
}

// TestTransactionLeftIdle is trap 7: a process that is stopped inside a
// transaction hides what it has locked, until the server ends it.
func TestTransactionLeftIdle(t *testing.T) {
	tier.Long(t, "waits for the server to end an idle transaction")
	const limit = 3 * time.Second // in which a slow machine can claim
	ctx, address := t.Context(), mysql.Migrated.MySQL(t)
	store, stopped := openStore(t, address, mysql.Options{}), openStore(t, address, mysql.Options{IdleLimit: limit})
	job := enqueue(t, stopped, &fairlead.Job{Kind: "a"})
	scope := &driver.Scope{Kinds: []string{"a"}}
	claim := driver.Claim{Node: join(t, store), Scope: scope, Max: 1}
	if err := stopped.LockReadyAndStandStill(ctx, scope); err != nil {
		t.Fatal(err)
	}
	jobs, err := store.Claim(ctx, claim)
	if err != nil || len(jobs) != 0 {
		t.Fatalf("claimed %v, %v, want nothing while the row is locked", jobs, err)
	}
	start := time.Now()
	for len(jobs) == 0 && time.Since(start) < patience.Limit {
		time.Sleep(limit / 20)
		if jobs, err = store.Claim(ctx, claim); err != nil {
			t.Fatal(err)
		}
	}
	if len(jobs) != 1 || jobs[0].ID != job.ID {
		t.Fatalf("the job stayed hidden for %v", time.Since(start))
	}
}

// TestClaimWaitsForPause checks what a claim knows that had to wait for a
// change of the pauses: all that was committed before it went on.
func TestClaimWaitsForPause(t *testing.T) {
	ctx, address := t.Context(), mysql.Migrated.MySQL(t)
	store := openStore(t, address, mysql.Options{})
	enqueue(t, store, &fairlead.Job{Kind: "a"})
	for _, change := range []struct {
		name      string
		statement string
		want      error
	}{
		{"the node died meanwhile", "update fairlead_node set dead = 1", fairlead.ErrLeaseLost},
		{"the lease ran out meanwhile", "update fairlead_node set lease_until = 1", fairlead.ErrLeaseLost},
		{"the queue was paused meanwhile", "insert into fairlead_pause (scope, name) values ('queue', 'default')", nil},
	} {
		t.Run(change.name, func(t *testing.T) {
			node := join(t, store)
			pausing, err := rawDB(t, address, nil).BeginTx(ctx, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer pausing.Rollback() //nolint:errcheck // it is over after the commit
			if _, err := pausing.ExecContext(ctx, "update fairlead_counter set value = value + 1 where name = 'pause'"); err != nil {
				t.Fatal(err)
			}
			answer := make(chan error, 1)
			go func() {
				jobs, err := store.Claim(ctx, driver.Claim{Node: node, Scope: &driver.Scope{Kinds: []string{"a"}}, Max: 1})
				if len(jobs) > 0 {
					err = fmt.Errorf("claimed job %d", jobs[0].ID)
				}
				answer <- err
			}()
			awaitLockWait(t, address, answer)
			mustExecTx(t, pausing, change.statement)
			if err := pausing.Commit(); err != nil {
				t.Fatal(err)
			}
			if err := <-answer; !errors.Is(err, change.want) {
				t.Fatalf("the claim answered %v, want %v", err, change.want)
			}
		})
	}
}

// TestClaimersDoNotDeadlock lets 16 claimers loose on one lane and on many,
// without limits and with some.
func TestClaimersDoNotDeadlock(t *testing.T) {
	tier.Long(t, "counts the deadlocks of the whole server while claims storm hundreds of lanes")
	for _, lanes := range []int{1, 8, 100, 400} {
		for _, limited := range []bool{false, true} {
			t.Run(fmt.Sprint(lanes, " lanes, limited=", limited), func(t *testing.T) {
				const claimers, total = 16, 1200
				address := mysql.Migrated.MySQL(t)
				store, other := openStore(t, address, mysql.Options{}), openStore(t, address, mysql.Options{})
				if limited {
					limitAll(t, store, lanes)
				}
				jobs := make([]*fairlead.Job, total)
				for i := range jobs {
					jobs[i] = &fairlead.Job{Kind: "a", Tenant: fmt.Sprint("tenant ", i%lanes)}
				}
				if err := fairlead.NewClient(store).Enqueue(t.Context(), jobs...); err != nil {
					t.Fatal(err)
				}
				before := deadlocks(t, address)
				claimed := &claims{t: t, times: map[int64]int{}, want: total}
				var all sync.WaitGroup
				for i := range claimers {
					s := []*mysql.Store{store, other}[i%2]
					claim := driver.Claim{Node: join(t, s), Scope: &driver.Scope{Kinds: []string{"a"}}, Max: 7}
					all.Go(func() { claimed.run(s, claim) })
				}
				all.Wait()
				for id, n := range claimed.times {
					if n != 1 {
						t.Errorf("job %d was claimed %d times", id, n)
					}
				}
				if len(claimed.times) != total {
					t.Errorf("%d of %d jobs were claimed", len(claimed.times), total)
				}
				if n := deadlocks(t, address) - before; n > 0 {
					t.Errorf("there were %d deadlocks", n)
				}
			})
		}
	}
}

// limitAll puts jobs under limits of every scope. Of many tenants only some have
// their own, as giving them takes longer than the claims.
func limitAll(t *testing.T, store *mysql.Store, tenants int) {
	t.Helper()
	for _, limit := range []fairlead.Limit{
		{Scope: fairlead.LimitGlobal, MaxRunning: 40},
		{Scope: fairlead.LimitQueue, Name: fairlead.DefaultQueue, MaxRunning: 50},
		{Scope: fairlead.LimitKind, Name: "a", MaxRunning: 60},
	} {
		if err := store.SetLimit(t.Context(), limit); err != nil {
			t.Fatal(err)
		}
	}
	for i := range min(tenants, 30) {
		if _, err := store.PutTenant(t.Context(), fairlead.Tenant{Name: fmt.Sprint("tenant ", i), MaxRunning: 20}); err != nil {
			t.Fatal(err)
		}
	}
}

// claims counts how often each job was claimed.
type claims struct {
	t     *testing.T
	mu    sync.Mutex
	times map[int64]int
	want  int
}

// run claims and settles until all jobs were claimed, or none is left to be.
func (c *claims) run(store *mysql.Store, claim driver.Claim) {
	for vain := 0; vain < 1000 && !c.all(); {
		jobs, err := store.Claim(context.Background(), claim)
		if err != nil {
			c.t.Error(err)
			return
		}
		if len(jobs) == 0 {
			vain++
			time.Sleep(time.Millisecond)
			continue
		}
		c.count(jobs)
		settlements := make([]fairlead.Settlement, len(jobs))
		for n, job := range jobs {
			settlements[n] = fairlead.Settlement{ID: job.ID, Fence: job.Fence, Move: fairlead.Succeed, FreeKey: true}
		}
		if _, err := store.Settle(context.Background(), settlements); err != nil {
			c.t.Error(err)
			return
		}
	}
}

func (c *claims) all() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.times) >= c.want
}

func (c *claims) count(jobs []*fairlead.Job) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, job := range jobs {
		c.times[job.ID]++
	}
}

// A node that cannot reach its database settles later. It must live to do so.
func TestSettlingWithANewLaneDuringAnOutageFails(t *testing.T) {
	store := openStore(t, mysql.Migrated.MySQL(t), mysql.Options{})
	job := claimNew(t, store, &fairlead.Job{Kind: "a"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := store.Settle(ctx, []fairlead.Settlement{{ID: job.ID, Fence: job.Fence, Move: fairlead.Succeed, Replace: &fairlead.Job{Kind: "never seen"}}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("settling answered %v, want %v", err, context.Canceled)
	}
}
