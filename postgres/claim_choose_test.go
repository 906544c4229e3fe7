package postgres

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/patience"
)

// limitTest is a store with a node that claims from it.
type limitTest struct {
	*testing.T
	at    string
	store *Store
	node  fairlead.NodeID
	scope *driver.Scope
}

func newLimitTest(t *testing.T) *limitTest {
	at := migrated.Postgres(t)
	l := &limitTest{T: t, at: at, store: open(t, at, Options{}), scope: &driver.Scope{Kinds: []string{"test"}}}
	var err error
	l.node, err = l.store.Join(t.Context(), fairlead.Node{}, time.Hour)
	l.ok(err)
	return l
}

func (l *limitTest) ok(err error) {
	l.Helper()
	if err != nil {
		l.Fatal(err)
	}
}

// declare caps tenants.
func (l *limitTest) declare(limit int, names ...string) {
	l.Helper()
	for _, name := range names {
		_, err := l.store.PutTenant(l.Context(), fairlead.Tenant{Name: name, MaxRunning: limit})
		l.ok(err)
	}
}

func (l *limitTest) enqueue(tenants ...string) {
	l.Helper()
	jobs := make([]*fairlead.Job, len(tenants))
	for i, tenant := range tenants {
		jobs[i] = newJob(l.T, func(j *fairlead.Job) { j.Tenant = tenant })
	}
	l.ok(l.store.Enqueue(l.Context(), jobs))
}

func (l *limitTest) claim(most int) []*fairlead.Job {
	l.Helper()
	jobs, err := l.store.Claim(l.Context(), driver.Claim{Node: l.node, Scope: l.scope, Max: most})
	l.ok(err)
	return jobs
}

// begin starts a transaction of another program.
func (l *limitTest) begin(sql string) pgx.Tx {
	l.Helper()
	tx, err := connect(l.T, l.at).Begin(l.Context())
	l.ok(err)
	_, err = tx.Exec(l.Context(), sql)
	l.ok(err)
	return tx
}

// someoneWaits returns when a statement waits for a lock.
func (l *limitTest) someoneWaits() {
	l.Helper()
	untilSomeoneWaits(l.T, l.at)
}

// untilSomeoneWaits returns when a statement waits for a lock.
func untilSomeoneWaits(t *testing.T, at string) {
	t.Helper()
	until(t, at, "select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()")
}

// until waits for a query to find something.
func until(t *testing.T, at, query string) {
	t.Helper()
	conn := connect(t, at)
	for begun := time.Now(); time.Since(begun) < patience.Limit; time.Sleep(5 * time.Millisecond) {
		found := false
		if err := conn.QueryRow(t.Context(), "select exists ("+query+")").Scan(&found); err != nil {
			t.Fatal(err)
		}
		if found {
			return
		}
	}
	t.Fatalf("this finds nothing: %s", query)
}

// Trap 7, for claims of several round trips.
func TestTheServerEndsClaimsThatAreLeftIdle(t *testing.T) {
	l := newLimitTest(t)
	idle := open(t, l.at, Options{IdleLimit: 50 * time.Millisecond})
	err := idle.inRoundTrips(t.Context(), func(ctx context.Context, trips *roundTrips) error {
		l.ok(trips.first(ctx, call{sql: idle.sql.Pin + idle.sql.ShareLimits + idle.sql.Linger, args: []any{idle.limitsLock}}))
		untilEnded(t, l.at)
		return trips.last(ctx, call{sql: idle.sql.Now})
	})
	if err == nil {
		t.Fatal("the claim survived")
	}
	// With the limits of production: on a slow machine the server would end this too.
	l.ok(l.store.Pause(t.Context(), fairlead.Pause{Scope: fairlead.PauseTenant, Name: "x"}))
}

// untilEnded waits until the server has ended all transactions that sit idle.
func untilEnded(t *testing.T, at string) {
	t.Helper()
	conn := connect(t, at)
	for begun := time.Now(); time.Since(begun) < patience.Limit; time.Sleep(5 * time.Millisecond) {
		var idle bool
		err := conn.QueryRow(t.Context(), "select exists (select from pg_stat_activity where state = 'idle in transaction' and datname = current_database())").Scan(&idle)
		if err != nil {
			t.Fatal(err)
		}
		if !idle {
			return
		}
	}
	t.Fatal("a transaction sits idle and is not ended")
}

func TestLanesBehindFullOnesAreFound(t *testing.T) {
	const tenants = 100
	l := newLimitTest(t)
	names := make([]string, tenants)
	for i := range names {
		names[i] = fmt.Sprint("tenant ", i)
	}
	l.declare(1, names...)
	l.enqueue(names...)
	l.enqueue(names...)
	for i, name := range names {
		if jobs := l.claim(1); len(jobs) != 1 || jobs[0].Tenant != name {
			t.Fatalf("claim %d got %v", i, jobs)
		}
	}
	if jobs := l.claim(1); len(jobs) != 0 {
		t.Fatalf("a full tenant started %v", jobs)
	}
}

func TestATenantThatAnotherClaimIsBusyWithIsNotForgotten(t *testing.T) {
	l := newLimitTest(t)
	l.declare(5, "acme")
	l.enqueue("acme", "free")
	busy := l.begin("select 1 from fairlead_quota for update")
	claimed := make(chan int)
	go func() {
		jobs, err := l.store.Claim(t.Context(), driver.Claim{Node: l.node, Scope: l.scope, Max: 5})
		if err != nil {
			t.Error(err)
		}
		claimed <- len(jobs)
	}()
	l.someoneWaits() // having claimed what is free
	l.ok(busy.Rollback(t.Context()))
	if jobs := <-claimed; jobs != 2 {
		t.Errorf("claimed %d jobs", jobs)
	}
}

// Jobs that another transaction has locked hide nothing but themselves, neither where a cap
// leaves little room nor where there is none.
func TestLockedJobsArePassedOverUnderLimits(t *testing.T) {
	l := newLimitTest(t)
	l.declare(1, "acme")
	l.enqueue("acme", "acme", "acme")
	locked := l.begin("select 1 from fairlead_ready where id in (select id from fairlead_ready order by id limit 2) for update")
	if jobs := l.claim(1); len(jobs) != 1 {
		t.Fatal("the third was not found")
	}
	l.enqueue(slices.Repeat([]string{"free"}, 60)...)
	lockedToo := l.begin("select 1 from fairlead_ready where id in (select id from fairlead_ready order by id offset 2 limit 50) for update")
	if jobs := l.claim(1); len(jobs) != 1 || jobs[0].Tenant != "free" {
		t.Fatalf("claimed %v", jobs)
	}
	l.ok(locked.Rollback(t.Context()))
	l.ok(lockedToo.Rollback(t.Context()))
	if jobs := l.claim(100); len(jobs) != 59 {
		t.Fatalf("claimed %d", len(jobs))
	}
}

// A settlement that waits for a row gives back what the row says then, which
// its own snapshot may be too old to know of.
func TestASettlementThatWaitsGivesBackWhatTheJobHoldsNow(t *testing.T) {
	l := newLimitTest(t)
	l.enqueue("acme", "acme")
	running := l.claim(2)
	reholding := l.begin("update fairlead_running set held = '7 77'")
	done := make(chan error)
	go func() {
		_, err := l.store.Settle(t.Context(), []fairlead.Settlement{
			{ID: running[0].ID, Fence: running[0].Fence, Move: fairlead.Succeed},
			{ID: running[1].ID, Fence: running[1].Fence, Move: fairlead.Fail},
		})
		done <- err
	}()
	l.someoneWaits()
	l.ok(reholding.Commit(t.Context()))
	l.ok(<-done)
	var back string
	l.ok(connect(t, l.at).QueryRow(t.Context(), "select string_agg(format('%s of %s', n, quota), ', ' order by quota) from (select quota, sum(n) as n from fairlead_quota_delta group by quota) d").Scan(&back))
	if back != "2 of 7, 2 of 77" {
		t.Errorf("the jobs gave back %s", back)
	}
}

// A limit that is set while a transaction lets a job wait does not wait for the transaction.
// Once that has ended, the job counts.
func TestALimitCountsAJobWhoseTransactionHasEnded(t *testing.T) {
	l := newLimitTest(t)
	l.enqueue("acme", "acme")
	running := l.claim(2)
	tx := l.begin("select 1")
	_, err := l.store.Tx(tx).Settle(t.Context(), []fairlead.Settlement{{ID: running[0].ID, Fence: running[0].Fence, Move: fairlead.MoveAwait, After: time.Hour}})
	l.ok(err)
	l.ok(l.store.SetLimit(t.Context(), fairlead.Limit{Scope: fairlead.LimitGlobal, MaxRunning: 2}))
	l.ok(tx.Commit(t.Context()))
	var limits []fairlead.LimitUse
	for begun := time.Now(); time.Since(begun) < patience.Limit; {
		_, err := l.store.Promote(t.Context(), 1)
		l.ok(err)
		limits, err = l.store.Limits(t.Context())
		l.ok(err)
		if len(limits) == 1 && limits[0].Running == 2 {
			return
		}
	}
	t.Errorf("the limits are %+v", limits)
}

func TestFreedSlotsDoNotRewindMarks(t *testing.T) {
	l := newLimitTest(t)
	lane := cursorLane{lane: 1}
	l.store.laneCursors.lanes[lane] = &cursorsOfLane{turns: map[int16]*laneCursor{}}
	l.store.notifier.freed()
	l.store.listener.pass(wakes{freed: true})
	if rewinds := l.store.laneCursors.lanes[lane].rewinds; rewinds != 0 {
		t.Errorf("the marks were rewound %d times", rewinds)
	}
}

// What another claim has used up while this one waited for it is not free.
func TestUseIsReadUnderTheLock(t *testing.T) {
	l := newLimitTest(t)
	l.ok(l.store.SetLimit(t.Context(), fairlead.Limit{Scope: fairlead.LimitGlobal, MaxRunning: 2}))
	l.enqueue("acme", "acme")
	other := l.begin("update fairlead_quota set used = 1")
	claimed := make(chan int)
	go func() {
		jobs, err := l.store.Claim(t.Context(), driver.Claim{Node: l.node, Scope: l.scope, Max: 2})
		if err != nil {
			t.Error(err)
		}
		claimed <- len(jobs)
	}()
	l.someoneWaits()
	l.ok(other.Commit(t.Context()))
	if jobs := <-claimed; jobs != 1 {
		t.Errorf("claimed %d jobs, but one slot was free", jobs)
	}
}

// Slots that were given back are counted once, however many claims come after.
func TestASlotIsGivenBackOnce(t *testing.T) {
	l := newLimitTest(t)
	l.ok(l.store.SetLimit(t.Context(), fairlead.Limit{Scope: fairlead.LimitGlobal, MaxRunning: 3}))
	l.enqueue(slices.Repeat([]string{"acme"}, 10)...)
	first := l.claim(3)
	_, err := l.store.Settle(t.Context(), []fairlead.Settlement{{ID: first[0].ID, Fence: first[0].Fence, Move: fairlead.Succeed}})
	l.ok(err)
	for i, want := range []int{1, 0, 0} {
		if jobs := l.claim(3); len(jobs) != want {
			t.Errorf("claim %d after the settlement got %d jobs, not %d", i+1, len(jobs), want)
		}
	}
}

// Lanes under a limit are looked into only if a live node can run their jobs.
func TestLanesThatNobodyCanRunAreNotRead(t *testing.T) {
	l := newLimitTest(t)
	l.ok(l.store.SetLimit(t.Context(), fairlead.Limit{Scope: fairlead.LimitGlobal, MaxRunning: 5}))
	for _, kind := range []string{"test", "rare", "gone"} {
		l.ok(l.store.Enqueue(t.Context(), []*fairlead.Job{newJob(t, func(j *fairlead.Job) { j.Kind = kind })}))
	}
	l.wantStrange()
	able, err := l.store.Join(t.Context(), fairlead.Node{Kinds: []string{"rare"}, Slots: 1}, time.Hour)
	l.ok(err)
	_, err = l.store.Beat(t.Context(), driver.Beat{Node: able, Lease: time.Hour, Idle: 1})
	l.ok(err)
	l.wantStrange("rare")
	l.ok(l.store.Leave(t.Context(), able))
	l.wantStrange()
}

// wantStrange checks of which kinds the lanes are that a claim does not serve
// and still looks into.
func (l *limitTest) wantStrange(kinds ...string) {
	l.Helper()
	c := &claimer{Store: l.store, claim: driver.Claim{Node: l.node, Scope: l.scope, Max: 1}, left: 1, locked: map[int64]bool{}}
	l.ok(l.store.refreshLanes(l.Context(), 0))
	known, err := c.knownLimits(l.Context())
	l.ok(err)
	claim := &limitedClaim{claimer: c, known: known, foreign: known.openLanes(l.scope, c.lanes.Lanes).foreign}
	l.ok(claim.readOtherNodes(l.Context()))
	var found []string
	for _, lane := range claim.foreign {
		found = append(found, lane.Kind)
	}
	if !slices.Equal(found, kinds) {
		l.Errorf("lanes of %v are looked into, not of %v", found, kinds)
	}
}
