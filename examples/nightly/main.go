// Command nightly makes a report every night: at 02:30 by the clocks of Berlin, not on days
// that a calendar leaves out, never two at a time, and once for nights that were missed.
//
//	go run ./examples/nightly
//
// It prints the next nights and then waits for them, in the file nightly.db. With -now it
// makes one report at once, as a person would ask for it. Ctrl-C ends it.
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

// Sales says what is reported.
type Sales struct{ Region string }

// Report is the kind of job that makes a report.
var Report = fairlead.NewKind[Sales]("nightly.report")

// zone is where the nights are.
const zone = "Europe/Berlin"

// nights is the schedule. When clocks go forward there is no 02:30: the report is made at
// 03:00 then. When they go back there are two: the first one counts.
func nights() schedule.Schedule {
	return schedule.Schedule{
		Name: "nightly-sales", Cron: "30 2 * * *", Zone: zone, Calendar: "quiet",
		Job:     *Report.Job(Sales{Region: "north"}),
		Overlap: schedule.OverlapSkip,    // none is begun while the one before is being made, or tried again
		CatchUp: schedule.CatchUpCompact, // after an outage one report is made, of the last night
	}
}

// quiet is the days without a report: Mondays, because nothing is sold on Sundays, and
// holidays.
func quiet() schedule.Calendar {
	return schedule.Calendar{
		Name: "quiet", Weekdays: []time.Weekday{time.Monday}, Dates: []string{"01-01", "05-01", "10-03", "12-25", "12-26"},
	}
}

// declare brings the database to what the program wants, however many nodes start at once.
func declare(ctx context.Context, schedules *schedule.Client) (schedule.Schedule, error) {
	if _, err := schedules.EnsureCalendar(ctx, quiet()); err != nil {
		return schedule.Schedule{}, err
	}
	ensured, err := schedules.Ensure(ctx, nights())
	return ensured.Schedule, err
}

// handle says how a report is made. A job that no schedule made belongs to no night, and fails.
func handle(mux *fairlead.Mux, schedules *schedule.Client, write func(ctx context.Context, night time.Time, s Sales) error) {
	Report.HandleWith(mux, fairlead.HandlerOptions{MaxAttempts: 3, Timeout: 6 * time.Hour},
		func(ctx context.Context, job *fairlead.Job, s Sales) error {
			fire, err := schedules.FireOf(ctx, job.ID) // its night, however late or often the job runs
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

// run is a node until ctx ends.
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
