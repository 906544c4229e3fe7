package schedule_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/sqlite"
)

type ReportArgs struct {
	Topic string
}

// Report is the kind of the jobs that the schedules of the examples start.
var Report = fairlead.NewKind[ReportArgs]("report")

// Declare a schedule each time the program starts. Ensure creates the schedule, or updates
// it if its declaration has changed.
func ExampleClient_Ensure() {
	ctx := context.Background()
	store, err := sqlite.Open(ctx, ":memory:")
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	schedules := schedule.NewClient(store)

	nightly := schedule.Schedule{
		Name: "nightly", Cron: "0 3 * * *", Zone: "Europe/Paris",
		Job: *Report.Job(ReportArgs{Topic: "sales"}),
	}
	ensured, err := schedules.Ensure(ctx, nightly)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("created:", ensured.Created)

	nightly.Cron = "30 4 * * *" // a new version of the program
	ensured, err = schedules.Ensure(ctx, nightly)
	if err != nil {
		log.Fatal(err)
	}
	for _, change := range ensured.Changed {
		fmt.Println(change)
	}
	// Output:
	// created: true
	// cron: "0 0 3 * * *" → "0 30 4 * * *"
}

// List the next instants of a schedule before storing it.
func ExampleClient_Preview() {
	ctx := context.Background()
	store, err := sqlite.Open(ctx, ":memory:")
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	schedules := schedule.NewClient(store)

	instants, err := schedules.Preview(ctx, schedule.Schedule{
		Name: "billing", Cron: "0 9 1,15 * *", Zone: "Asia/Tokyo",
		StartsAt: time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC),
		Job:      *Report.Job(ReportArgs{Topic: "billing"}),
	}, 3)
	if err != nil {
		log.Fatal(err)
	}
	for _, due := range instants {
		fmt.Println(due.Format(time.RFC3339))
	}
	// Output:
	// 2040-01-01T09:00:00+09:00
	// 2040-01-15T09:00:00+09:00
	// 2040-02-01T09:00:00+09:00
}

// Start a run now, with args that replace those of the template.
func ExampleClient_Trigger() {
	ctx := context.Background()
	store, err := sqlite.Open(ctx, ":memory:")
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	schedules := schedule.NewClient(store)
	nightly, err := schedules.Ensure(ctx, schedule.Schedule{
		Name: "nightly", Cron: "0 3 * * *", Job: *Report.Job(ReportArgs{Topic: "sales"}),
	})
	if err != nil {
		log.Fatal(err)
	}

	run, err := schedules.Trigger(ctx, nightly.ID, []byte(`{"Topic":"stock"}`))
	if err != nil {
		log.Fatal(err)
	}
	job, err := fairlead.NewClient(store).Get(ctx, run.Job)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(run.Trigger, job.State, string(job.Args))
	// Output:
	// manual ready {"Topic":"stock"}
}

// Start the missing runs of three days in the past.
func ExampleClient_Backfill() {
	ctx := context.Background()
	store, err := sqlite.Open(ctx, ":memory:")
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	schedules := schedule.NewClient(store)
	nightly, err := schedules.Ensure(ctx, schedule.Schedule{
		Name: "nightly", Cron: "0 3 * * *", Job: *Report.Job(ReportArgs{Topic: "sales"}),
	})
	if err != nil {
		log.Fatal(err)
	}

	done, err := schedules.Backfill(ctx, nightly.ID, schedule.Backfill{
		From:   time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC),
		To:     time.Date(2026, 3, 4, 0, 0, 0, 0, time.UTC),
		Serial: true,
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, run := range done.Runs {
		fmt.Println(run.Due.Format(time.DateTime))
	}
	// Output:
	// 2026-03-01 03:00:00
	// 2026-03-02 03:00:00
	// 2026-03-03 03:00:00
}

// Exclude weekends and holidays.
func ExampleClient_EnsureCalendar() {
	ctx := context.Background()
	store, err := sqlite.Open(ctx, ":memory:")
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	schedules := schedule.NewClient(store)

	_, err = schedules.EnsureCalendar(ctx, schedule.Calendar{
		Name:     "office",
		Weekdays: []time.Weekday{time.Saturday, time.Sunday},
		Dates:    []string{"01-01", "12-25"}, // every year
	})
	if err != nil {
		log.Fatal(err)
	}
	instants, err := schedules.Preview(ctx, schedule.Schedule{
		Name: "office-hours", Daily: "08:00", Calendar: "office",
		StartsAt: time.Date(2041, 12, 23, 0, 0, 0, 0, time.UTC),
		Job:      *Report.Job(ReportArgs{Topic: "stock"}),
	}, 3)
	if err != nil {
		log.Fatal(err)
	}
	for _, due := range instants {
		fmt.Println(due.Format("Monday, 2 January"))
	}
	// Output:
	// Monday, 23 December
	// Tuesday, 24 December
	// Thursday, 26 December
}

// Disable a schedule with a reason that the console and the API show.
func ExampleClient_Disable() {
	ctx := context.Background()
	store, err := sqlite.Open(ctx, ":memory:")
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	schedules := schedule.NewClient(store)
	nightly, err := schedules.Ensure(ctx, schedule.Schedule{
		Name: "nightly", Cron: "0 3 * * *", Job: *Report.Job(ReportArgs{Topic: "sales"}),
	})
	if err != nil {
		log.Fatal(err)
	}

	stored, err := schedules.Disable(ctx, nightly.ID, "the warehouse is being moved")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(stored.Disabled, stored.Reason)
	// Output:
	// true the warehouse is being moved
}
