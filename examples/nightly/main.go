// Command nightly creates a report every night: at 02:30 in Berlin, except on days excluded
// by a calendar, never two at a time, and only once after an outage of several nights.
//
//	go run ./examples/nightly
//
// It prints the next nights and then waits for them, in the file nightly.db. With -now it
// creates one report immediately, as if triggered by a user. Press Ctrl-C to end it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/sqlite"
)

// Sales specifies the content of a report.
type Sales struct{ Region string }

// Report is the kind of job that creates a report.
var Report = fairlead.NewKind[Sales]("nightly.report")

// zone is the time zone of the schedule.
const zone = "Europe/Berlin"

// nights returns the schedule. When clocks are set forward, 02:30 does not exist and the
// report is created at 03:00. When they are set back, 02:30 occurs twice and the first one
// counts.
func nights() schedule.Schedule {
	return schedule.Schedule{
		Name: "nightly-sales", Cron: "30 2 * * *", Zone: zone, Calendar: "quiet",
		Job:     *Report.Job(Sales{Region: "north"}),
		Overlap: schedule.OverlapSkip,    // no run starts while the previous one is running or waiting for a retry
		CatchUp: schedule.CatchUpCompact, // after an outage, only one report is created, for the last night
	}
}

// quiet returns the calendar of days without a report: holidays, and Mondays, because
// nothing is sold on Sundays.
func quiet() schedule.Calendar {
	return schedule.Calendar{
		Name: "quiet", Weekdays: []time.Weekday{time.Monday}, Dates: []string{"01-01", "05-01", "10-03", "12-25", "12-26"},
	}
}

// declare stores the calendar and the schedule. Any number of nodes may call it at the same
// time.
func declare(ctx context.Context, schedules *schedule.Client) (schedule.Schedule, error) {
	if _, err := schedules.EnsureCalendar(ctx, quiet()); err != nil {
		return schedule.Schedule{}, err
	}
	ensured, err := schedules.Ensure(ctx, nights())
	return ensured.Schedule, err
}

// handle registers the handler that creates a report. A job without a schedule belongs to
// no night, and fails.
func handle(mux *fairlead.Mux, schedules *schedule.Client, write func(ctx context.Context, night time.Time, s Sales) error) {
	Report.HandleWith(mux, fairlead.HandlerOptions{MaxAttempts: 3, Timeout: 6 * time.Hour},
		func(ctx context.Context, job *fairlead.Job, s Sales) error {
			fire, err := schedules.FireOf(ctx, job.ID) // the job's night, regardless of delays and retries
			if errors.Is(err, fairlead.ErrNotFound) {
				return fairlead.Fatal(err)
			}
			if err != nil {
				return err
			}
			return write(ctx, fire.Due, s)
		})
}

func main() {
	now := flag.Bool("now", false, "make a report at once")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, "nightly.db", *now, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// run runs a node until ctx ends.
func run(ctx context.Context, file string, now bool, out io.Writer) error {
	berlin, err := time.LoadLocation(zone)
	if err != nil {
		return err
	}
	store, err := sqlite.Open(ctx, file)
	if err != nil {
		return err
	}
	defer store.Close()
	schedules := schedule.NewClient(store)
	nightly, err := declare(ctx, schedules)
	if err != nil {
		return err
	}
	next, err := schedules.Preview(ctx, nightly, 5)
	if err != nil {
		return err
	}
	for _, due := range next {
		fmt.Fprintln(out, "next:", due.In(berlin).Format("Mon 2006-01-02 15:04 MST"))
	}
	if now {
		if _, err := schedules.Trigger(ctx, nightly.ID, nil); err != nil {
			return err
		}
	}
	mux := fairlead.NewMux()
	handle(mux, schedules, func(_ context.Context, night time.Time, s Sales) error {
		fmt.Fprintf(out, "report: %s, the night of %s\n", s.Region, night.In(berlin).Format("Mon 2006-01-02"))
		return nil
	})
	return engine.Run(ctx, store, mux, engine.Options{})
}
