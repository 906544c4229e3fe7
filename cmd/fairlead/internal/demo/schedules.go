package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/httpcall"
	"github.com/fairlead-io/fairlead/schedule"
)

// declaredCalendar returns a calendar with all possible features.
func declaredCalendar() schedule.Calendar {
	return schedule.Calendar{
		Name: calendarName, Description: "Weekends, public holidays and the annual shutdown",
		Weekdays: []time.Weekday{time.Saturday, time.Sunday},
		Dates:    []string{"01-01", "05-01", "12-25", "12-26", "2027-03-26", "2027-03-29"},
		Ranges:   []schedule.DateRange{{From: "2026-12-28", To: "2026-12-31"}, {From: "2027-08-02", To: "2027-08-13"}},
	}
}

// call returns a job that calls the Target.
func call(tenant string, c httpcall.Call) fairlead.Job {
	args, err := json.Marshal(c)
	if err != nil {
		panic(err) // encoding constants cannot fail
	}
	return fairlead.Job{Kind: httpcall.Kind, Tenant: tenant, Args: args}
}

// declaredSchedules returns one schedule of each type that a list should show.
func declaredSchedules() []schedule.Schedule {
	report := json.RawMessage(`{"run":"{{run_id}}","due":"{{due_time}}","rows":["invoices","credits"]}`)
	flaky := call(globex, httpcall.Call{URL: targetURL("/flaky"), Body: json.RawMessage(`{"feed":"prices"}`)})
	flaky.MaxAttempts, flaky.Retry = 3, fairlead.Fixed(2*time.Second)
	once := func(job fairlead.Job) fairlead.Job {
		job.MaxAttempts = 1
		return job
	}
	return []schedule.Schedule{
		{
			Name: "acme-nightly-invoices", Description: "Daily invoices, on business days only",
			Cron: "30 2 * * *", Zone: "Europe/Paris", Calendar: calendarName, CatchUp: schedule.CatchUpCompact,
			Job: call(acme, httpcall.Call{URL: targetURL("/sync"), Body: report}),
		},
		{
			Name: "acme-price-feed", Description: "New prices every ten seconds",
			Every: 10 * time.Second, Job: call(acme, httpcall.Call{URL: targetURL("/sync"), Body: json.RawMessage(`{"feed":"prices"}`)}),
		},
		{
			Name: "acme-warehouse-close", Description: "Closes the warehouse books twice a day",
			Daily: "06:00, 18:00", Zone: "America/New_York", Jitter: time.Minute,
			Job: call(acme, httpcall.Call{URL: targetURL("/slow?seconds=5"), TimeoutSeconds: 30}),
		},
		{
			Name: "globex-stock-sync", Description: "The target accepts the work and reports the result with a callback",
			Every: 30 * time.Second,
			Job:   once(call(globex, httpcall.Call{URL: targetURL("/async"), Async: true, CallbackTimeoutSeconds: 120, Body: json.RawMessage(`{"site":"north"}`)})),
		},
		{
			Name: "globex-partner-hook", Description: "The partner's endpoint fails from time to time",
			Every: 20 * time.Second, AfterFailure: schedule.FailureRetry, Job: flaky,
		},
		{
			Name: "globex-slow-export", Description: "Takes longer than its interval: every other run is skipped",
			Every: 15 * time.Second, Overlap: schedule.OverlapSkip,
			Job: once(call(globex, httpcall.Call{URL: targetURL("/slow?seconds=20"), TimeoutSeconds: 60})),
		},
		{
			Name: "globex-legacy-export", Description: "Replaced by globex-slow-export",
			Cron: "*/5 * * * *", Disabled: true, Reason: "the partner moves the endpoint, change 4711",
			Job: call(globex, httpcall.Call{URL: targetURL("/sync")}),
		},
		{
			Name: "initech-noon-digest", Description: "Noon in London, in summer and winter time",
			Cron: "5 12 * * MON-FRI", Zone: "Europe/London", Job: call(initech, httpcall.Call{URL: targetURL("/sync"), Body: report}),
		},
	}
}

// declareSchedules stores the calendar and the schedules, or restores their declared state.
func (d *Demo) declareSchedules(ctx context.Context) error {
	if _, err := d.schedules.PutCalendar(ctx, declaredCalendar()); err != nil && !errors.Is(err, fairlead.ErrConflict) {
		return fmt.Errorf("demo calendar %q: %w", calendarName, err)
	}
	for _, declared := range declaredSchedules() {
		if _, err := d.schedules.Ensure(ctx, declared); err != nil {
			return fmt.Errorf("demo schedule %q: %w", declared.Name, err)
		}
	}
	return nil
}
