package postgres

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/schedule"
)

// What schedules cost follows what is due, and not how many there are.
func TestPlansNeverScanSchedules(t *testing.T) {
	tier.Long(t, "stores many schedules")
	at := migrated.Postgres(t)
	store := open(t, withParams(t, at, "pool_max_conns", "1"), Options{ListenURL: noListening})
	plans := spyOnPlans(t, store, at)
	node, err := store.Join(t.Context(), fairlead.Node{}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"schedule", "cursor", "fire", "open_fire", "job", "done", "ready", "later"} {
		exec(t, at, "alter table fairlead_"+table+" set unlogged, set (autovacuum_enabled = off)")
	}
	scheduleVerbs(t, store, node, "empty") // every statement is planned, on empty tables
	multiplySchedules(t, at, 30_000, 15_000)
	plans.forget()
	scheduleVerbs(t, store, node, "full")
	t.Run("without statistics", func(t *testing.T) { checkPlans(t, store, plans.seen()) })
	checkSoonest(t, store, plans)

	exec(t, at, "update pg_class set reltuples = 0, relpages = greatest(relpages, 1) where oid in (select indexrelid from pg_index where indrelid::regclass::text like 'fairlead_%') or oid::regclass::text like 'fairlead_%'")
	plans.forget()
	scheduleVerbs(t, store, node, "misled")
	t.Run("with statistics of a moment when nothing was there", func(t *testing.T) { checkPlans(t, store, plans.seen()) })
	checkSoonest(t, store, plans)
}

// checkSoonest looks at how the schedules are found that fire next: as the first of an
// index, of which no more is read than is asked for.
func checkSoonest(t *testing.T, store *Store, plans *planSpy) {
	t.Helper()
	const limit = 20
	first := regexp.MustCompile(`Limit .*\n(\s+->  Result .*\n\s+One-Time Filter: .*\n)?\s+->  Index (Only )?Scan using fairlead_cursor_fire_at_schedule_idx `)
	for range 7 {
		plans.forget()
		found, err := store.Schedules(t.Context(), schedule.Filter{Soonest: true, Limit: limit})
		if err != nil || len(found) != limit {
			t.Fatalf("%d schedules are the soonest: %v", len(found), err)
		}
		if seen := strings.Join(plans.seen(), "\n"); !first.MatchString(seen) || strings.Contains(seen, "Seq Scan") {
			t.Errorf("more is read than the first schedules:\n%s", seen)
		}
	}
}

// multiplySchedules stores many schedules that are like the first one and not due
// for long, some of them with runs that have ended.
func multiplySchedules(t testing.TB, at string, schedules, runs int) {
	t.Helper()
	exec(t, at, "insert into fairlead_calendar (name, version, body) select 'calendar ' || n, n, '{}' from generate_series(1, 300) n")
	exec(t, at, fmt.Sprintf(`
		with made as (
			insert into fairlead_schedule (version, created_at, updated_at, deleted_at, lane, name, tenant, calendar, calendar_seen, body)
			select 1, 1, 1, 0, lane, 'copy ' || n, 'tenant ' || n %% 1000, case n %% 2 when 0 then '' else 'calendar 7' end, case n %% 2 when 0 then 0 else 7 end, body
			from (select * from fairlead_schedule order by id limit 1) s, generate_series(1, %d) n
			returning id
		)
		insert into fairlead_cursor (schedule, due, fire_at, last_job, last_due, last_ended_at, last_number, enabled, skipped, last_trigger, last_state)
		select id, 4e15::bigint + id, 4e15::bigint + id, 0, 0, 0, 0, id %% 100 > 0, false, '', '' from made`, schedules))
	exec(t, at, fmt.Sprintf(`
		with kept as (
			insert into fairlead_job (id, start_by, not_before, created_at, lane, turn, flags)
			select -n, 1, 0, 1, 1, 0, 4 from generate_series(1, %[1]d) n
		)
		insert into fairlead_fire (job, schedule, due, source, number, trigger, skip)
		select -n, (select max(schedule) from fairlead_cursor) - n / 10, n, 0, 1, 'cron', '' from generate_series(1, %[1]d) n`, runs))
}

// scheduleVerbs does everything that happens to schedules.
func scheduleVerbs(t *testing.T, s *Store, node fairlead.NodeID, keys string) {
	t.Helper()
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	act := func(id int64, plan schedule.Plan) []schedule.Fire {
		t.Helper()
		fires, err := s.Act(ctx, id, func(schedule schedule.Schedule, _ schedule.View) (schedule.Plan, error) {
			plan.Cursor = schedule.Cursor
			return plan, nil
		})
		must(err)
		return fires
	}
	for round := range 7 {
		now, name := time.Now(), fmt.Sprint(keys, " ", round)
		calendar, err := s.PutCalendar(ctx, schedule.Calendar{Name: name})
		must(err)
		_, err = s.PutCalendar(ctx, calendar)
		must(err)
		template := newJob(t, func(j *fairlead.Job) { j.Tenant = "tenant 1" })
		sc, err := s.PutSchedule(ctx, schedule.Schedule{Name: name, Calendar: name, Every: time.Hour, Job: *template}, false)
		must(err)
		sc.Cursor = schedule.Cursor{Due: now, FireAt: now.Add(-time.Second)}
		sc, err = s.PutSchedule(ctx, sc, true)
		must(err)
		for _, filter := range []schedule.Filter{
			{}, {After: name}, {IDs: []int64{sc.ID}}, {Names: []string{name}}, {Tenants: []string{"tenant 1", "tenant 2"}, Enabled: new(true)}, {Soonest: true},
		} {
			_, err := s.Schedules(ctx, filter)
			must(err)
		}
		ticked, err := s.Tick(ctx, 100, func(sc schedule.Schedule, _ schedule.View) schedule.Plan {
			return schedule.Plan{Fires: []schedule.PlannedFire{{Due: sc.Due, Trigger: schedule.TriggerCron}}}
		})
		must(err)
		if ticked.Schedules != 1 || ticked.Runs != 1 {
			t.Fatalf("a tick did %+v", ticked)
		}
		jobs, err := s.Claim(ctx, driver.Claim{Node: node, Scope: &driver.Scope{Kinds: []string{"test"}}, Max: 10})
		must(err)
		for _, job := range jobs {
			_, err := s.Settle(ctx, []fairlead.Settlement{{ID: job.ID, Fence: job.Fence, Move: fairlead.Fail}})
			must(err)
		}
		_, err = s.Tick(ctx, 100, func(sc schedule.Schedule, _ schedule.View) schedule.Plan {
			return schedule.Plan{Cursor: sc.Cursor}
		})
		must(err)
		must(s.Reopen(ctx, jobs[0].ID))
		manual := schedule.PlannedFire{Due: now, Trigger: schedule.TriggerManual}
		queued, skipped := manual, manual
		queued.Queued, skipped.Skip = true, schedule.SkipOverlap
		fires := act(sc.ID, schedule.Plan{Fires: []schedule.PlannedFire{manual, queued, queued, skipped}})
		act(sc.ID, schedule.Plan{Cancel: []int64{fires[0].Job}, Admit: []int64{fires[1].Job}})
		must(s.Delete(ctx, fires[1].Job))
		for _, filter := range []schedule.FireFilter{{}, {Schedule: sc.ID}, {Jobs: []int64{fires[0].Job, fires[1].Job}}} {
			_, err := s.Fires(ctx, filter)
			must(err)
		}
		must(s.DeleteSchedule(ctx, sc.ID))
		must(s.DeleteCalendar(ctx, name))
		must(s.Cancel(ctx, jobs[0].ID, ""))
		_, err = s.Tick(ctx, 100, func(sc schedule.Schedule, _ schedule.View) schedule.Plan {
			return schedule.Plan{Cursor: sc.Cursor}
		})
		must(err)
		_, err = s.Prune(ctx, driver.Retention{Cancelled: time.Nanosecond, Skipped: time.Nanosecond}, 100)
		must(err)
	}
}
