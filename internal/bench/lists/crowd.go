package lists

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// A Crowd fills a store with very many jobs of 1,000 tenants and 200 kinds. The oldest jobs are
// ready, and no node runs their kind. SQL creates the jobs.
type Crowd struct {
	URL   string // of a database without jobs
	Store Store
	Jobs  int // default: 1,000,000
}

const (
	// StuckQueue and StuckKind contain the oldest 6 % of all jobs. All of them are ready.
	StuckQueue, StuckKind = "ux", "ux.render"
	// LoneTenant has a single job, a ready one that is nearly as old as the stuck jobs.
	LoneTenant = "lone"

	crowdTenants, crowdKinds = 1000, 200
	crowdDays                = 10
)

// Fill stores the jobs.
func (c Crowd) Fill(ctx context.Context) (err error) {
	into, err := openBulk(ctx, c.URL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, into.Close()) }()
	now, err := c.Store.Now(ctx)
	if err != nil {
		return err
	}
	lanes := newTable(into, "lane", "id queue tenant kind")
	for i := range 2 * crowdTenants { // two kinds for each tenant
		kind := (i/2 + i%2*crowdKinds/2) % crowdKinds
		if err := lanes.add(ctx, i+1, fmt.Sprint("queue-", kind%4), fmt.Sprint("tenant-", i/2), fmt.Sprint("kind-", kind)); err != nil {
			return err
		}
	}
	if err := errors.Join(
		lanes.add(ctx, 2*crowdTenants+1, StuckQueue, "tenant-0", StuckKind),
		lanes.add(ctx, 2*crowdTenants+2, "queue-1", LoneTenant, "kind-1"), lanes.flush(ctx),
	); err != nil {
		return err
	}
	jobs := cmp.Or(c.Jobs, 1_000_000)
	for _, statement := range c.statements(jobs, now) {
		if err := into.exec(ctx, statement); err != nil {
			return fmt.Errorf("%w: %s", err, statement)
		}
	}
	if err := into.afterJobs(ctx, int64(jobs/1000+1)*1000); err != nil {
		return err
	}
	return into.look(ctx)
}

// statements returns the SQL that creates the jobs: first their states and times, then the rows.
func (c Crowd) statements(jobs int, now time.Time) []string {
	series := seriesOf(jobs)
	if strings.HasPrefix(c.URL, "postgres") {
		series = fmt.Sprintf("with series as (select generate_series(1::bigint, %d) as i)", jobs)
	}
	spacing := crowdDays * 24 * time.Hour.Microseconds() / int64(jobs)
	// State of a job that is not stuck, by its position among a thousand.
	state := "case when i % 1000 < 870 then 'succeeded' when i % 1000 < 920 then 'failed' when i % 1000 < 925 then 'cancelled' when i % 1000 < 927 then 'skipped'" +
		" when i % 1000 < 960 then 'ready' when i % 1000 < 985 then 'scheduled' when i % 1000 < 995 then 'parked' when i % 1000 < 999 then 'waiting' else 'running' end"
	stuck := jobs * 6 / 100
	all := []string{
		"create table stock (i bigint, lane integer, state varchar(10), at bigint)",
		fmt.Sprintf("insert into stock %s select i, case when i <= %d then %d when i = %d then %d else 1 + (i * 7919) %% %d end, case when i <= %d then 'ready' else %s end, %d - (%d - i) * %d from series",
			series, stuck, 2*crowdTenants+1, stuck+1, 2*crowdTenants+2, 2*crowdTenants, stuck+1, state, sqlstore.Micros(now), jobs, spacing),
		"job (id, lane, turn, start_by, not_before, created_at, flags, args, gate) select i, lane, 0, at, 0, at, 0, '{}', case when state = 'parked' then i % 50 end from stock",
		"ready (lane, solo, turn, start_by, id, attempt, failures, crashes) select lane, 0, 0, at, i, 0, 0, 0 from stock where state = 'ready'",
		fmt.Sprintf("later (id, lane, not_before, attempt, failures, crashes) select i, lane, at + %d, 0, 0, 0 from stock where state = 'scheduled'", 2*crowdDays*24*time.Hour.Microseconds()),
		"parked (gate, turn, start_by, id, lane, attempt, failures, crashes) select i % 50, 0, at, i, lane, 0, 0, 0 from stock where state = 'parked'",
		"running (id, fence, node, lane, started_at, attempt, failures, crashes) select i, i, 1, lane, at, 1, 0, 0 from stock where state = 'running'",
		fmt.Sprintf("waiting (id, fence, node, lane, started_at, deadline, attempt, failures, crashes) select i, i, 1, lane, at, at + %d, 1, 0, 0 from stock where state = 'waiting'", 2*crowdDays*24*time.Hour.Microseconds()),
		// Most failures have one of two causes. A thousand consecutive jobs have a third one.
		fmt.Sprintf("done (id, lane, outcome, reason, fence, node, started_at, finished_at, error, attempt, failures, crashes)"+
			" select i, lane, case state when 'succeeded' then 1 when 'failed' then 2 when 'cancelled' then 3 else 4 end, case when state = 'failed' then 'error' end, i, 1, at, at + 1000,"+
			" case when state <> 'failed' then null when i > %d and i <= %d then 'the card of the customer was refused' when i %% 3 = 0 then 'target answered 503' else 'no route to host' end, 1, 0, 0"+
			" from stock where state in ('succeeded', 'failed', 'cancelled', 'skipped')", jobs-jobs/20-1000, jobs-jobs/20),
		"id_mark (id, marked_at, latest) select i, at, at from stock where i % 1000 = 1",
		"drop table stock",
	}
	for i := 2; i < len(all)-1; i++ {
		all[i] = "insert into " + prefix + all[i]
	}
	return all
}

// seriesOf returns a common table expression with the numbers from 1 to n. MariaDB limits recursive
// ones to a thousand.
func seriesOf(n int) string {
	from, number := "digits d0", "1 + d0.d"
	for digit, weight := 1, 10; weight < n; digit, weight = digit+1, 10*weight {
		from += fmt.Sprintf(", digits d%d", digit)
		number += fmt.Sprintf(" + %d * d%d.d", weight, digit)
	}
	digits := "select 0 as d union all select 1 union all select 2 union all select 3 union all select 4 union all select 5 union all select 6 union all select 7 union all select 8 union all select 9"
	return fmt.Sprintf("with digits as (%s), series as (select %s as i from %s where %s <= %d)", digits, number, from, number, n)
}
