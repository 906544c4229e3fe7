package mysql_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/mysql"
	"github.com/fairlead-io/fairlead/storetest"
)

const (
	stormTenants = 6
	stormGlobal  = 9
)

// TestLimitsHoldInAStorm lets many claim and settle jobs under caps that change
// meanwhile, and looks again and again whether any cap is exceeded.
func TestLimitsHoldInAStorm(t *testing.T) {
	const workers = 8
	total := tier.Size(t, 60, 800, "storms for longer")
	ctx, address := t.Context(), mysql.Migrated.MySQL(t)
	stores := []*mysql.Store{openStore(t, address, mysql.Options{}), openStore(t, address, mysql.Options{})}
	storm := &storm{T: t, stores: stores, callers: rawDB(t, address, nil)}
	storm.begin(total)

	stop, done := context.WithCancel(ctx)
	var watchers, all sync.WaitGroup
	watchers.Go(func() { storm.changeCaps(stop) })
	watchers.Go(func() { storm.check(stop, rawDB(t, address, nil)) })
	for i := range workers {
		all.Go(func() { storm.work(stores[i%2], rand.New(rand.NewPCG(uint64(i), 7)), int64(total)) })
	}
	all.Wait()
	done()
	watchers.Wait()
	tally, err := stores[0].Tally(ctx, fairlead.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	if ended := tally[fairlead.Succeeded] + tally[fairlead.Failed] + tally[fairlead.Cancelled]; ended != int64(total) {
		t.Errorf("%d of %d jobs ended: %v", ended, total, tally)
	}
	drift, err := stores[1].Verify(ctx)
	if err != nil || len(drift) > 0 {
		t.Errorf("the counts are wrong: %+v, %v", drift, err)
	}
	t.Logf("%d checks", storm.checks)
}

// TestSlotsOfManyThatEndAtOnce ends jobs of one fence together, some of which
// count against limits and some not, in a process that knows of the limits, in
// one that does not, and in a caller's transaction.
func TestSlotsOfManyThatEndAtOnce(t *testing.T) {
	const lanes, each = 4, 20
	ctx := t.Context()
	for _, who := range []string{"who claimed", "another process", "a caller"} {
		t.Run(who, func(t *testing.T) {
			address := mysql.Migrated.MySQL(t)
			store, other := openStore(t, address, mysql.Options{}), openStore(t, address, mysql.Options{})
			for i := 1; i < lanes; i++ { // the first has no limit
				if _, err := store.PutTenant(ctx, fairlead.Tenant{Name: stormTenant(i), MaxRunning: 2 * each}); err != nil {
					t.Fatal(err)
				}
			}
			var jobs []*fairlead.Job
			for i := range lanes * each {
				jobs = append(jobs, &fairlead.Job{Kind: "a", Tenant: stormTenant(i % lanes)})
			}
			if err := fairlead.NewClient(store).Enqueue(ctx, jobs...); err != nil {
				t.Fatal(err)
			}
			claimed, err := store.Claim(ctx, driver.Claim{Node: join(t, store), Scope: &driver.Scope{Kinds: []string{"a"}}, Max: len(jobs)})
			if err != nil || len(claimed) != len(jobs) {
				t.Fatalf("claimed %d jobs, %v", len(claimed), err)
			}
			settlements := make([]fairlead.Settlement, len(claimed))
			for i, job := range claimed {
				settlements[i] = fairlead.Settlement{ID: job.ID, Fence: job.Fence, Move: fairlead.Succeed}
			}
			switch half := settlements[:len(jobs)/2]; who {
			case "who claimed":
				settle(t, store, half...)
			case "another process":
				settle(t, other, half...)
			default:
				storm := &storm{T: t, callers: rawDB(t, address, nil)}
				if err := storm.settleInTx(other, half); err != nil {
					t.Fatal(err)
				}
			}
			limits, err := other.Limits(ctx)
			if err != nil || len(limits) != lanes-1 {
				t.Fatalf("the limits are %+v, %v", limits, err)
			}
			for _, limit := range limits {
				if limit.Running != each/2 {
					t.Errorf("%d jobs of %s count, want %d", limit.Running, limit.Name, each/2)
				}
			}
			if drift, err := store.Verify(ctx); err != nil || len(drift) > 0 {
				t.Errorf("the counts are wrong: %+v, %v", drift, err)
			}
		})
	}
}

// storm is jobs of some tenants with caps, and those who run them.
type storm struct {
	*testing.T
	stores  []*mysql.Store
	callers *sql.DB
	checks  int
}

func stormTenant(i int) string { return fmt.Sprint("tenant ", i) }

// begin sets the caps and enqueues the jobs.
func (s *storm) begin(total int) {
	s.Helper()
	ctx := context.Background()
	if err := s.stores[0].SetLimit(ctx, fairlead.Limit{Scope: fairlead.LimitGlobal, MaxRunning: stormGlobal}); err != nil {
		s.Fatal(err)
	}
	for i := 1; i <= stormTenants; i++ {
		if _, err := s.stores[0].PutTenant(ctx, fairlead.Tenant{Name: stormTenant(i), MaxRunning: i}); err != nil {
			s.Fatal(err)
		}
	}
	jobs := make([]*fairlead.Job, total)
	for i := range jobs {
		jobs[i] = &fairlead.Job{Kind: "a", Tenant: stormTenant(1 + i%stormTenants)}
	}
	if err := fairlead.NewClient(s.stores[0]).Enqueue(ctx, jobs...); err != nil {
		s.Fatal(err)
	}
}

// changeCaps raises and lowers the caps of every second tenant, and lets a limit
// come and go under which all jobs are.
func (s *storm) changeCaps(ctx context.Context) {
	for n := 0; ctx.Err() == nil; n++ {
		store := s.stores[n%2]
		name := stormTenant(1 + 2*(n%3))
		tenants, err := store.Tenants(context.Background(), fairlead.TenantFilter{Names: []string{name}})
		if err == nil {
			tenant := tenants[0]
			tenant.MaxRunning = 1 + 2*(n%3) + n%2*2
			_, err = store.PutTenant(context.Background(), tenant)
		}
		if err == nil {
			err = store.SetLimit(context.Background(), fairlead.Limit{Scope: fairlead.LimitQueue, Name: fairlead.DefaultQueue, MaxRunning: n % 2 * 100})
		}
		if err != nil {
			s.Error(err)
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// work claims and settles until all jobs have ended.
func (s *storm) work(store *mysql.Store, random *rand.Rand, total int64) {
	ctx := context.Background()
	claim := driver.Claim{Node: join(s.T, store), Scope: &driver.Scope{Kinds: []string{"a"}}, Max: 4}
	for {
		jobs, err := store.Claim(ctx, claim)
		if err != nil {
			s.Error(err)
			return
		}
		if len(jobs) == 0 {
			tally, err := store.Tally(ctx, fairlead.Filter{States: []fairlead.State{fairlead.Succeeded, fairlead.Failed, fairlead.Cancelled}})
			if err != nil || tally[fairlead.Succeeded]+tally[fairlead.Failed]+tally[fairlead.Cancelled] == total {
				return
			}
			time.Sleep(2 * time.Millisecond)
			continue
		}
		if err := s.settle(store, random, jobs); err != nil {
			s.Error(err)
			return
		}
	}
}

// settle moves jobs on, each as chance has it; now and then in a caller's
// transaction.
func (s *storm) settle(store *mysql.Store, random *rand.Rand, jobs []*fairlead.Job) error {
	ctx := context.Background()
	settlements := make([]fairlead.Settlement, len(jobs))
	for i, job := range jobs {
		moves := []fairlead.Move{fairlead.Succeed, fairlead.Succeed, fairlead.Succeed, fairlead.Fail, fairlead.Drop, fairlead.Again, fairlead.Snooze, fairlead.MoveRelease, fairlead.MoveAwait}
		settlements[i] = fairlead.Settlement{ID: job.ID, Fence: job.Fence, Move: moves[random.IntN(len(moves))], FreeKey: random.IntN(2) == 0}
		if settlements[i].Move == fairlead.MoveAwait {
			settlements[i].After = time.Hour
		}
	}
	if random.IntN(4) == 0 {
		if err := s.settleInTx(store, settlements); err != nil {
			return err
		}
	} else if _, err := storetest.SettleAll(ctx, store, settlements); err != nil {
		return err
	}
	for _, settlement := range settlements {
		if settlement.Move != fairlead.MoveAwait {
			continue
		}
		var err error
		if random.IntN(2) == 0 {
			err = store.Cancel(ctx, settlement.ID, "")
		} else {
			err = store.Resolve(ctx, fairlead.Settlement{ID: settlement.ID, Fence: settlement.Fence, Move: fairlead.Again, FreeKey: true})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// settleInTx settles in a transaction at REPEATABLE READ, which is rolled back,
// and then in another one.
func (s *storm) settleInTx(store *mysql.Store, settlements []fairlead.Settlement) error {
	for _, commit := range []bool{false, true} {
		tx, err := s.callers.BeginTx(context.Background(), nil)
		if err != nil {
			return err
		}
		_, err = store.Tx(tx).Settle(context.Background(), settlements)
		if err == nil && commit {
			err = tx.Commit()
		}
		if err := errors.Join(err, ignoreDone(tx.Rollback())); err != nil {
			return err
		}
	}
	return nil
}

func ignoreDone(err error) error {
	if errors.Is(err, sql.ErrTxDone) {
		return nil
	}
	return err
}

// check looks at snapshots: no cap is exceeded, and every count is right.
func (s *storm) check(ctx context.Context, db *sql.DB) {
	for ctx.Err() == nil {
		if err := s.checkSnapshot(db); err != nil {
			s.Error(err)
			return
		}
		s.checks++
		time.Sleep(100 * time.Millisecond)
	}
}

// checkSnapshot looks between claims. A snapshot of MariaDB that is taken while two
// of them commit may show the second, and so the count that both made, without the
// jobs of the first.
func (s *storm) checkSnapshot(db *sql.DB) error {
	tx, err := db.BeginTx(context.Background(), &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // it only reads
	var version int64
	if err := tx.QueryRowContext(context.Background(), "select value from fairlead_counter where name = 'pause' for update").Scan(&version); err != nil {
		return err
	}
	found, jobs, err := countHolders(tx)
	if err != nil {
		return err
	}
	if jobs > stormGlobal {
		return fmt.Errorf("%d jobs run, %d may", jobs, stormGlobal)
	}
	rows, err := tx.QueryContext(context.Background(), `select q.id, q.scope, q.name, q.cap, q.used - coalesce(sum(d.n), 0)
		from fairlead_quota q left join fairlead_quota_delta d on d.quota = q.id group by q.id`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id, most, counted int
		var scope, name string
		if err := rows.Scan(&id, &scope, &name, &most, &counted); err != nil {
			return err
		}
		if counted != found[id] {
			return fmt.Errorf("%s %q counts %d jobs, there are %d", scope, name, counted, found[id])
		}
		var i int
		if n, _ := fmt.Sscanf(name, "tenant %d", &i); n == 1 && i%2 == 1 {
			most = i + 2 // it was lowered perhaps: then what ran may go on
		}
		if scope != string(fairlead.LimitQueue) && found[id] > most {
			return fmt.Errorf("%d jobs of %s %q run, %d may", found[id], scope, name, most)
		}
	}
	return rows.Err()
}

// countHolders counts the jobs that count against each limit, and all.
func countHolders(tx *sql.Tx) (found map[int]int, jobs int, err error) {
	rows, err := tx.QueryContext(context.Background(), `select coalesce(h.members, ''), count(*)
		from (select held from fairlead_running union all select held from fairlead_waiting) p
		left join fairlead_holdset h on h.id = p.held group by h.members`)
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	found = map[int]int{}
	for rows.Next() {
		var members string
		var n int
		if err := rows.Scan(&members, &n); err != nil {
			return nil, 0, err
		}
		jobs += n
		for _, word := range strings.Fields(members) {
			limit, err := strconv.Atoi(word)
			if err != nil {
				return nil, 0, err
			}
			found[limit] += n
		}
	}
	return found, jobs, rows.Err()
}

func TestNothingIsLeftOfALimitThatWasRemoved(t *testing.T) {
	address := mysql.Migrated.MySQL(t)
	db := rawDB(t, address, map[string]string{"autocommit": "1"})
	storetest.RemovedLimits(t, newHarness(t, address, mysql.Options{}, nil), func() (rows int) {
		err := db.QueryRowContext(t.Context(),
			"select (select count(*) from fairlead_quota) + (select count(*) from fairlead_quota_delta) + (select count(*) from fairlead_holdset)").Scan(&rows)
		if err != nil {
			t.Fatal(err)
		}
		return rows
	})
}
