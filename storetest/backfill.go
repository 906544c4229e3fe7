package storetest

import (
	"sync/atomic"
	"time"

	"github.com/fairlead-io/fairlead/schedule"
)

// testBackfill is about runs of instants that have passed.
func testBackfill(c *chapter) {
	// hourly is a schedule with three full hours behind it, of which the last had a run by
	// the clock.
	hourly := func(f *fixture) (schedule.Schedule, schedule.Backfill) {
		f.Helper()
		f.Advance(f.now().Truncate(time.Hour).Add(4 * time.Hour).Sub(f.now()))
		s := f.plan("hourly", func(s *schedule.Schedule) { s.Every, s.Daily, s.Cron = 0, "", "0 * * * *" })
		f.act(s, schedule.Plan{Fires: []schedule.PlannedFire{byClock(f.now().Add(-time.Hour))}})
		return s, schedule.Backfill{From: f.now().Add(-3 * time.Hour), To: f.now()}
	}
	backfill := func(f *fixture, s schedule.Schedule, b schedule.Backfill, runs, passedOver int) {
		f.Helper()
		preview, err := schedule.NewClient(f.store).PreviewBackfill(f.ctx(), s.ID, b)
		f.ok(err)
		f.equal("the instants to come", len(preview.Instants), runs)
		f.equal("the instants to be passed over", preview.PassedOver, passedOver)
		done, err := schedule.NewClient(f.store).Backfill(f.ctx(), s.ID, b)
		f.ok(err)
		f.equal("the runs", len(done.Runs), runs)
		f.equal("the instants passed over", done.PassedOver, passedOver)
	}
	c.test("a backfill passes over instants that have a run, whatever made it", func(f *fixture) {
		s, span := hourly(f)
		manual := byHand(span.From)
		manual.Skip = schedule.SkipOverlap
		f.act(s, schedule.Plan{Fires: []schedule.PlannedFire{manual}})
		backfill(f, s, span, 1, 2)
		backfill(f, s, span, 0, 3)
	})
	c.test("a backfill makes runs again if it is asked to", func(f *fixture) {
		s, span := hourly(f)
		span.Again = true
		backfill(f, s, span, 3, 0)
		backfill(f, s, span, 3, 0)
	})
	c.test("of two backfills of a span at once, each instant gets one run", func(f *fixture) {
		s, span := hourly(f)
		var made, passedOver atomic.Int64
		errs := f.rivals(6, func(_ int, store Store) error {
			done, err := schedule.NewClient(store).Backfill(f.ctx(), s.ID, span)
			made.Add(int64(len(done.Runs)))
			passedOver.Add(int64(done.PassedOver))
			return err
		})
		for _, err := range errs {
			f.ok(err)
		}
		f.equal("the runs", made.Load(), int64(2))
		f.equal("the instants passed over", passedOver.Load(), int64(6*3-2))
	})
}
