package postgres

import (
	"context"
	"crypto/sha256"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/alert"
	"github.com/fairlead-io/fairlead/driver"
	holds "github.com/fairlead-io/fairlead/hold" // the package has a hold of its own
	"github.com/fairlead-io/fairlead/internal/tier"
)

// Plans are looked at as the server really made them, for statements as they
// are really sent: on large tables without statistics, prepared while the
// tables were empty.
func TestPlansNeverScanLargeTables(t *testing.T) {
	jobs := tier.Size(t, 6000, 30_000, "has larger tables")
	at := migrated.Postgres(t)
	store := open(t, withParams(t, at, "pool_max_conns", "1"), Options{ListenURL: noListening})
	plans := spyOnPlans(t, store, at)
	node, err := store.Join(t.Context(), fairlead.Node{}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	// Autovacuum would make statistics halfway through, on a slow machine.
	exec(t, at, `do $$ declare t text; begin
		for t in select tablename from pg_tables where tablename like 'fairlead\_%' loop
			execute format('alter table %I set (autovacuum_enabled = off)', t);
		end loop; end $$`)
	everyVerb(t, store, node, "empty") // every statement is planned, on empty tables
	for range 3 {
		batch := make([]*fairlead.Job, jobs/3)
		for k := range batch {
			batch[k] = newJob(t, func(j *fairlead.Job) { j.Tenant = fmt.Sprint("tenant ", k%5) })
			if k%2 == 0 {
				batch[k] = newJob(t, func(j *fairlead.Job) { j.Kind = "alone" })
			}
			if k%4 == 1 {
				batch[k].ConcurrencyKey = fmt.Sprint(k % 20)
			}
		}
		if err := store.Enqueue(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
	plans.forget()
	everyVerb(t, store, node, "full")
	t.Run("without statistics", func(t *testing.T) { checkPlans(t, store, plans.seen()) })
	checkRecent(t, store, plans)

	// What ANALYZE finds when all is dead and an old transaction keeps it.
	exec(t, at, "update pg_class set reltuples = 0, relpages = greatest(relpages, 1) where oid in (select indexrelid from pg_index where indrelid::regclass::text like 'fairlead_%') or oid::regclass::text like 'fairlead_%'")
	plans.forget()
	everyVerb(t, store, node, "misled")
	t.Run("with statistics of a moment when nothing was there", func(t *testing.T) { checkPlans(t, store, plans.seen()) })
	checkRecent(t, store, plans)
}

// checkRecent looks at how jobs are found, and counted, that failed lately: by their end.
func checkRecent(t *testing.T, store *Store, plans *planSpy) {
	t.Helper()
	lately := time.Now().Add(-time.Minute).Truncate(alert.Bucket)
	for range 7 {
		for verb, ask := range map[string]func() error{
			"find": func() error {
				_, err := store.Find(t.Context(), fairlead.Filter{States: []fairlead.State{fairlead.Failed}, FinishedFrom: lately})
				return err
			},
			"count": func() error {
				_, err := store.AlertCounts(t.Context(), lately, lately.Add(2*time.Minute))
				return err
			},
		} {
			plans.forget()
			if err := ask(); err != nil {
				t.Fatal(err)
			}
			if seen := strings.Join(plans.seen(), "\n"); !regexp.MustCompile(`Index Cond: .*finished_at >= `).MatchString(seen) {
				t.Errorf("all failures are read to %s the last ones:\n%s", verb, seen)
			}
		}
	}
}

// checkPlans looks for plans that read what they do not need.
func checkPlans(t *testing.T, store *Store, plans []string) {
	t.Helper()
	if len(plans) < 20 {
		t.Fatalf("only %d plans were seen", len(plans))
	}
	// Changes of the limits read all jobs that run or wait, and are rare. So does what
	// removes limits, while there are removed ones.
	// And the next schedules are the first of an index.
	wholesale := []string{store.sql.UsedLanes, store.sql.HoldRunning, store.sql.HoldWaiting, store.sql.ReholdRunning, store.sql.ReholdWaiting, store.sql.ReholdLeft, store.sql.Recount, store.sql.NextFire, store.sql.SchedulesSoonest, store.sql.PruneLimits}
	bad := regexp.MustCompile(`Seq Scan on fairlead_(job|ready|later|done|waiting|attempt|memo|jobkey|parked|admitted|once|audit|token|schedule|cursor|fire|open_fire|batch|part|part_task)`)
	// An index without a condition on its first column, or with one that most rows meet.
	whole := regexp.MustCompile(`Index (Only )?Scan .* on fairlead_(job|ready|running|later|done|waiting|attempt|memo|jobkey|parked|admitted|schedule|cursor|fire|open_fire|batch|part|part_task)\b.*\n\s+(->|CTE|Filter|Index Cond: \(+(solo|job_key IS NOT NULL))`)
	// And one of which only the second column is known.
	second := regexp.MustCompile(`using fairlead_(schedule_tenant_name|fire_schedule_job|fire_schedule_due_source|open_fire)_\w+ on .*\n\s+Index Cond: \(+(name|job|due)|using fairlead_(batch_name_id|batch_tenant_id|part)_\w+ on .*\n\s+Index Cond: \(+(id|number|kind)\b`)
	// And all parts of a batch, to find those with tasks that are held or out.
	parts := regexp.MustCompile(`on fairlead_part\b.*\n\s+Index Cond: .*\n\s+Filter: \(*any_(held|out)( AND|\)*(\n|$))`)
	for _, plan := range plans {
		if slices.ContainsFunc(wholesale, func(sql string) bool { return strings.Contains(plan, sql) }) {
			continue
		}
		if bad.MatchString(plan) || whole.MatchString(plan) || second.MatchString(plan) || parts.MatchString(plan) || strings.Contains(plan, "JIT") {
			t.Errorf("a plan reads a whole table:\n%s", plan)
		}
	}
}

// everyVerb does everything that happens all the time.
func everyVerb(t *testing.T, s *Store, node fairlead.NodeID, keys string) {
	t.Helper()
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	claims := func() {
		t.Helper()
		for _, scope := range []*driver.Scope{{Kinds: []string{"test"}}, {Kinds: []string{"alone"}}} {
			for _, rooms := range []map[string]int{nil, {"test": 7}} {
				claimed, err := s.Claim(ctx, driver.Claim{Node: node, Scope: scope, Max: 40, Rooms: rooms})
				must(err)
				var settlements []fairlead.Settlement
				for i, job := range claimed {
					moves := []fairlead.Move{fairlead.Succeed, fairlead.Succeed, fairlead.Fail, fairlead.Again, fairlead.MoveRelease, fairlead.MoveAwait}
					settlements = append(settlements, fairlead.Settlement{ID: job.ID, Fence: job.Fence, Move: moves[i%len(moves)], FreeKey: i%2 == 0, After: time.Hour})
				}
				_, err = s.Settle(ctx, settlements)
				must(err)
				_, err = s.Settle(ctx, settlements)
				must(err)
			}
		}
	}
	// Often enough: plans may change with the number of executions.
	for round := range 7 {
		key := fmt.Sprint(keys, " ", round)
		first, second := newJob(t), newJob(t, func(j *fairlead.Job) { j.Tenant = "tenant 1" })
		alone, later := newJob(t, func(j *fairlead.Job) { j.Kind = "alone" }), newJob(t, func(j *fairlead.Job) { j.NotBefore = time.Now().Add(time.Hour) })
		must(s.Enqueue(ctx, []*fairlead.Job{first, second, alone, later}))
		must(s.RunNow(ctx, later.ID))
		must(s.Delete(ctx, later.ID))
		must(s.Enqueue(ctx, []*fairlead.Job{newJob(t, func(j *fairlead.Job) { j.Key = key })}))
		gated := make([]*fairlead.Job, 6)
		for i := range gated {
			gated[i] = newJob(t, func(j *fairlead.Job) { j.ConcurrencyKey = "gate" })
		}
		must(s.Enqueue(ctx, gated))
		must(s.SetPriority(ctx, gated[5].ID, 3))
		must(s.Reschedule(ctx, gated[4].ID, time.Now().Add(time.Hour)))
		must(s.RunNow(ctx, gated[4].ID))
		must(s.Delete(ctx, gated[3].ID))
		_, err := s.Explain(ctx, gated[2].ID)
		must(err)
		_, err = s.History(ctx, gated[2].ID)
		must(err)
		_, err = s.HeldBack(ctx, holds.Place{})
		must(err)
		accessVerbs(t, s, key)
		must(s.Cancel(ctx, first.ID, ""))
		must(s.SetPriority(ctx, second.ID, 5))
		must(s.Reschedule(ctx, second.ID, time.Now().Add(-time.Hour)))
		must(s.Reopen(ctx, first.ID))
		claims()
		tenant, err := s.PutTenant(ctx, fairlead.Tenant{Name: "tenant 1", MaxRunning: 500, MinRunning: 2})
		must(err)
		must(s.SetLimit(ctx, fairlead.Limit{Scope: fairlead.LimitGlobal, MaxRunning: 1000, Rate: 1e6, Burst: 1e6}))
		claims()
		_, err = s.HeldBack(ctx, holds.Place{})
		must(err)
		_, err = s.Tenants(ctx, fairlead.TenantFilter{})
		must(err)
		_, err = s.Verify(ctx)
		must(err)
		must(s.DeleteTenant(ctx, tenant.Name))
		must(s.SetLimit(ctx, fairlead.Limit{Scope: fairlead.LimitGlobal}))
		_, err = s.Promote(ctx, 100)
		must(err)
		_, err = s.Reap(ctx, driver.Reap{MaxCrashes: 20, Limit: 100})
		must(err)
		overdue, err := s.Overdue(ctx, 100)
		must(err)
		_, err = s.Expire(ctx, append(overdue, driver.Held{ID: second.ID, Fence: 1}))
		must(err)
		_, err = s.Prune(ctx, driver.Retention{Succeeded: time.Hour, Failed: time.Hour, Cancelled: time.Hour}, 100)
		must(err)
		_, err = s.Get(ctx, second.ID)
		must(err)
		_, err = s.Beat(ctx, driver.Beat{Node: node, Lease: time.Hour})
		must(err)
	}
}

// accessVerbs does what happens with requests of the service.
func accessVerbs(t *testing.T, s *Store, key string) {
	t.Helper()
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	once := fairlead.Once{Caller: "ann", Key: key}
	for range 2 {
		_, err := s.EnqueueOnce(ctx, once, []*fairlead.Job{newJob(t)})
		must(err)
	}
	token, err := s.AddToken(ctx, access.Token{Name: key, Role: access.RoleViewer, Hash: sha256.Sum256([]byte(key))})
	must(err)
	_, err = s.FindToken(ctx, token.Hash)
	must(err)
	must(s.TouchToken(ctx, token.ID))
	must(s.DeleteToken(ctx, token.ID))
	must(s.Audit(ctx, []access.Entry{{Actor: "ann", Action: "CreateJobs"}}))
	_, err = s.Find(ctx, fairlead.Filter{IDs: []int64{1, 2, 3}, From: time.Now().Add(-time.Hour), To: time.Now()})
	must(err)
}

// planSpy collects the plans of all statements of a store's pool.
type planSpy struct {
	mu    sync.Mutex
	plans []string
}

func (p *planSpy) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.plans = nil
}

func (p *planSpy) seen() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.plans
}

// spyOnPlans makes the server send every plan along as a notice.
func spyOnPlans(t *testing.T, s *Store, at string) *planSpy {
	t.Helper()
	spy := &planSpy{}
	config, err := pgxpool.ParseConfig(withParams(t, at, "pool_max_conns", "1"))
	if err != nil {
		t.Fatal(err)
	}
	config.ConnConfig.OnNotice = func(_ *pgconn.PgConn, notice *pgconn.Notice) {
		spy.mu.Lock()
		defer spy.mu.Unlock()
		if strings.Contains(notice.Message, "plan:") {
			spy.plans = append(spy.plans, notice.Message)
		}
	}
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "load 'auto_explain'; set auto_explain.log_min_duration = 0; set client_min_messages = log")
		return err
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err == nil {
		err = pool.Ping(t.Context())
	}
	if err != nil {
		t.Skipf("no auto_explain here: %v", err)
	}
	s.pool.Close()
	s.pool = pool
	return spy
}
