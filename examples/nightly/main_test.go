package main

import (
	"bufio"
	"context"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/fairleadtest"
	"github.com/fairlead-io/fairlead/schedule"
)

// Months of nights, including those in which clocks change, pass in a moment.
func TestAReportIsMadeEveryNightOfTheMonthsInWhichClocksChange(t *testing.T) {
	berlin, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	for _, month := range []struct {
		month   time.Month
		changed string // the night in which clocks change
		quiet   []int  // days without a report
	}{
		{time.March, "2030-03-31 03:00 CEST", []int{4, 11, 18, 25}},
		{time.October, "2030-10-27 02:30 CEST", []int{3, 7, 14, 21, 28}},
	} {
		t.Run(month.month.String(), func(t *testing.T) {
			store, clock := fairleadtest.SQLite(t)
			schedules, mux, nights := schedule.NewClient(store), fairlead.NewMux(), []string(nil)
			first := time.Date(2030, month.month, 1, 0, 0, 0, 0, berlin)
			clock.Advance(first.Sub(clock.Now()))
			if _, err := declare(t.Context(), schedules); err != nil {
				t.Fatal(err)
			}
			handle(mux, schedules, func(_ context.Context, night time.Time, _ Sales) error {
				if late := clock.Now().Sub(night); late != 0 {
					t.Errorf("the report of %v is %v late", night, late)
				}
				nights = append(nights, night.In(berlin).Format("2006-01-02 15:04 MST"))
				return nil
			})
			fairleadtest.NewOn(t, store, clock, mux).RunFor(first.AddDate(0, 1, 0).Sub(first))
			if want := 31 - len(month.quiet); len(nights) != want || !slices.Contains(nights, month.changed) {
				t.Errorf("there are %d reports, not %d with that of %s: %v", len(nights), want, month.changed, nights)
			}
			for _, day := range month.quiet {
				date := first.AddDate(0, 0, day-1).Format("2006-01-02")
				if slices.ContainsFunc(nights, func(night string) bool { return strings.HasPrefix(night, date) }) {
					t.Errorf("a report was made on %s", date)
				}
			}
		})
	}
}

// No node in this test handles reports, so the first night's report does not end.
func TestNoReportIsMadeWhileTheOneBeforeIsNotDone(t *testing.T) {
	node := fairleadtest.New(t, fairlead.NewMux()) // the time is Wednesday, 2 January 2030
	nightly, err := declare(t.Context(), node.Schedules)
	if err != nil {
		t.Fatal(err)
	}
	node.RunFor(2 * 24 * time.Hour)
	fires, err := node.Schedules.Fires(t.Context(), schedule.FireFilter{Schedule: nightly.ID})
	if err != nil || len(fires) != 2 || fires[0].Skip != schedule.SkipOverlap || fires[1].Skip != "" {
		t.Errorf("the runs are %+v: %v", fires, err)
	}
}

func TestTheProgramShowsTheNextNightsAndMakesAReportOnRequest(t *testing.T) {
	reader, writer := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, filepath.Join(t.TempDir(), "nightly.db"), true, writer)
		_ = writer.Close()
	}()
	next := 0
	for lines := bufio.NewScanner(reader); lines.Scan(); {
		switch kind, _, _ := strings.Cut(lines.Text(), ":"); kind {
		case "next":
			next++
		case "report":
			stop()
		}
	}
	stop()
	if err := <-ended; err != nil || next != 5 {
		t.Errorf("the program showed %d nights and ended with %v", next, err)
	}
}
