package postgres

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/storetest"
)

// Two processes start and end jobs under caps that change all the time, and
// a watcher checks the caps at every instant.
func TestCapsHoldAtEveryInstant(t *testing.T) {
	const tenants = 6
	jobs := tier.Size(t, 150, 2000, "storms for longer")
	at := migrated.Postgres(t)
	w := &limitsWorld{T: t, stores: []*Store{open(t, at, Options{}), open(t, at, Options{})}}
	w.must(w.stores[0].SetLimit(t.Context(), fairlead.Limit{Scope: fairlead.LimitGlobal, MaxRunning: 9}))
	for i := 1; i <= tenants; i++ {
		tenant, err := w.stores[0].PutTenant(t.Context(), fairlead.Tenant{Name: fmt.Sprint("tenant ", i), MaxRunning: i})
		w.must(err)
		w.tenants = append(w.tenants, tenant)
	}
	all := make([]*fairlead.Job, jobs)
	for i := range all {
		all[i] = newJob(t, func(j *fairlead.Job) { j.Tenant = w.tenants[i%tenants].Name })
	}
	w.must(w.stores[0].Enqueue(t.Context(), all))

	var workers, others sync.WaitGroup
	w.left.Store(int64(jobs))
	for i := range 8 {
		workers.Go(func() { w.work(w.stores[i%2]) })
	}
	others.Go(w.changeCaps)
	conn := connect(t, at)
	others.Go(func() { w.watch(conn) })
	workers.Wait()
	w.over.Store(true)
	others.Wait()

	drift, err := w.stores[1].Verify(t.Context())
	w.must(err)
	if len(drift) > 0 {
		t.Errorf("counts were wrong: %+v", drift)
	}
	tally, err := w.stores[0].Tally(t.Context(), fairlead.Filter{})
	w.must(err)
	if ended := tally[fairlead.Succeeded] + tally[fairlead.Failed] + tally[fairlead.Cancelled]; ended != int64(jobs) {
		t.Errorf("%d of %d jobs have ended: %v", ended, jobs, tally)
	}
}

type limitsWorld struct {
	*testing.T
	stores  []*Store
	tenants []fairlead.Tenant
	left    atomic.Int64 // jobs that have not ended
	over    atomic.Bool
}

func (w *limitsWorld) must(err error) {
	w.Helper()
	if err != nil {
		w.Error(err)
	}
}

// work claims and settles in all ways until no job is left.
func (w *limitsWorld) work(store *Store) {
	node, err := store.Join(w.Context(), fairlead.Node{}, time.Hour)
	w.must(err)
	for w.left.Load() > 0 && !w.Failed() {
		jobs, err := store.Claim(w.Context(), driver.Claim{Node: node, Scope: &driver.Scope{Kinds: []string{"test"}}, Max: 1 + rand.IntN(5)})
		w.must(err)
		if len(jobs) == 0 {
			time.Sleep(time.Millisecond)
			continue
		}
		settlements := make([]fairlead.Settlement, len(jobs))
		for i, job := range jobs {
			moves := []fairlead.Move{fairlead.Succeed, fairlead.Succeed, fairlead.Succeed, fairlead.Fail, fairlead.Drop, fairlead.Again, fairlead.Snooze, fairlead.MoveRelease, fairlead.MoveAwait}
			settlements[i] = fairlead.Settlement{ID: job.ID, Fence: job.Fence, Move: moves[rand.IntN(len(moves))], FreeKey: rand.IntN(2) == 0}
			if settlements[i].Move == fairlead.MoveAwait {
				settlements[i].After = time.Hour
			}
		}
		_, err = storetest.SettleAll(w.Context(), store, settlements)
		w.must(err)
		for _, s := range settlements {
			w.ended(store, s)
		}
		_, err = store.Promote(w.Context(), 100)
		w.must(err)
	}
}

// ended counts a settlement that was an end, and answers one that waits.
func (w *limitsWorld) ended(store *Store, s fairlead.Settlement) {
	switch s.Move {
	case fairlead.Succeed, fairlead.Fail, fairlead.Drop:
		w.left.Add(-1)
	case fairlead.MoveAwait:
		s.Move, s.After = []fairlead.Move{fairlead.Succeed, fairlead.Fail, fairlead.Again}[rand.IntN(3)], 0
		w.must(store.Resolve(w.Context(), s))
		w.ended(store, s)
	}
}

// changeCaps changes caps, and sets and removes limits while jobs run under
// them. In one round of four tenants have nothing but their own.
func (w *limitsWorld) changeCaps() {
	for round := 0; !w.over.Load(); round++ {
		store := w.stores[round%2]
		i := rand.IntN(len(w.tenants))
		w.tenants[i].MaxRunning = (w.tenants[i].MaxRunning + 3) % (len(w.tenants) + 2) // zero: none
		tenant, err := store.PutTenant(w.Context(), w.tenants[i])
		w.must(err)
		w.tenants[i] = tenant
		w.must(store.SetLimit(w.Context(), fairlead.Limit{Scope: fairlead.LimitKind, Name: "test", MaxRunning: []int{0, 8, 0, 7}[round%4]}))
		w.must(store.SetLimit(w.Context(), fairlead.Limit{Scope: fairlead.LimitGlobal, MaxRunning: []int{9, 9, 0, 9}[round%4]}))
		time.Sleep(time.Duration(rand.IntN(400)) * time.Millisecond)
	}
}

const limitsAtOnce = `
select q.scope || ' ' || q.name, q.cap, q.used - coalesce((select sum(n) from fairlead_quota_delta d where d.quota = q.id), 0),
       (select count(*) from (select lane from fairlead_running union all select lane from fairlead_waiting) r join fairlead_lane l on l.id = r.lane
        where q.scope = 'global' or q.scope = 'kind' and l.kind = q.name or q.scope = 'tenant' and l.tenant = q.name),
       (select version from fairlead_rules)
from fairlead_quota q`

// watch looks at all limits in one snapshot, again and again. Only a cap that
// was lowered may be exceeded, and then by no more than it was. When a cap is removed, jobs that
// another transaction holds just then still count until they end.
func (w *limitsWorld) watch(conn *pgx.Conn) {
	known, excess := int64(0), map[string]int{}
	for looks := 0; !w.over.Load(); looks++ {
		rows, err := conn.Query(w.Context(), limitsAtOnce)
		w.must(err)
		before := known
		now := map[string]int{}
		for rows.Next() {
			var name string
			var limit, counted, found int
			w.must(rows.Scan(&name, &limit, &counted, &found, &known))
			if counted != found && limit > 0 || counted > found {
				w.Errorf("%s counts %d, but %d jobs run or wait under a cap of %d", name, counted, found, limit)
			}
			if limit == 0 || found <= limit {
				continue
			}
			now[name] = found
			if known == before && found > excess[name] {
				w.Errorf("%s: %d jobs run or wait, its cap is %d", name, found, limit)
			}
		}
		w.must(rows.Err())
		excess = now
		time.Sleep(100 * time.Millisecond)
	}
}

func TestNothingIsLeftOfALimitThatWasRemoved(t *testing.T) {
	at := migrated.Postgres(t)
	storetest.RemovedLimits(t, newHarness(t, at, Options{}), func() (rows int) {
		err := connect(t, at).QueryRow(t.Context(), "select (select count(*) from fairlead_quota) + (select count(*) from fairlead_quota_delta)").Scan(&rows)
		if err != nil {
			t.Fatal(err)
		}
		return rows
	})
}

func TestRemovingALimitThatWasNeverSetStoresNothing(t *testing.T) {
	l := newLimitTest(t)
	for name, most := range map[string]int{"limited": 1, "never limited": 0} {
		l.ok(l.store.SetLimit(t.Context(), fairlead.Limit{Scope: fairlead.LimitKind, Name: name, MaxRunning: most}))
	}
	l.ok(l.store.SetLimit(t.Context(), fairlead.Limit{Scope: fairlead.LimitKind, Name: "never limited"})) // whichever was first
	l.wantRows("fairlead_quota", 1)
}
