package storetest

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/fairlead-io/fairlead/schedule"
)

// testBackfill covers runs for past instants.
func testBackfill(c *chapter) {
	// hourly stores a schedule with three full hours behind it. The last one had a scheduled
	// run.
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
	c.test("a large backfill makes its runs in several transactions, as if in one", func(f *fixture) {
		f.Advance(time.Hour)
		s := f.plan("each second", func(s *schedule.Schedule) { s.Every, s.Daily, s.Cron = 0, "", "* * * * * *" })
		const runs = 2*schedule.RunsAtOnce + 100
		end := f.now().Truncate(time.Second)
		span := schedule.Backfill{From: end.Add(-runs * time.Second), To: end, Serial: true, Newest: true}
		store := &breaking{Store: f.store, after: schedule.RunsAtOnce}
		if _, err := schedule.NewClient(store).Backfill(f.ctx(), s.ID, span); !errors.Is(err, errBroken) {
			f.Fatalf("got %v", err)
		}
		store.after = runs
		done, err := schedule.NewClient(store).Backfill(f.ctx(), s.ID, span)
		f.ok(err)
		f.equal("the most runs of a transaction", store.most, schedule.RunsAtOnce)
		f.equal("the instants passed over", done.PassedOver, schedule.RunsAtOnce)
		f.equal("the runs", len(done.Runs), runs-schedule.RunsAtOnce)
		first, one, other, last := f.get(jobOf(done.Runs[0])), f.get(jobOf(done.Runs[schedule.RunsAtOnce-1])), f.get(jobOf(done.Runs[schedule.RunsAtOnce])), f.get(jobOf(done.Runs[len(done.Runs)-1]))
		f.equal("the order of the runs", first.StartBy.After(one.StartBy) && one.StartBy.After(other.StartBy) && other.StartBy.After(last.StartBy), true)
		f.equal("what the last waits for", last.ConcurrencyKey, first.ConcurrencyKey)
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

var errBroken = errors.New("the connection is broken")

// breaking is a store whose connection breaks after a number of runs.
type breaking struct {
	schedule.Store
	after, made, most int
}

func (b *breaking) Act(ctx context.Context, id int64, decide func(schedule.Schedule, schedule.View) (schedule.Plan, error)) ([]schedule.Fire, error) {
	if b.made >= b.after {
		return nil, errBroken
	}
	fires, err := b.Store.Act(ctx, id, decide)
	b.made, b.most = b.made+len(fires), max(b.most, len(fires))
	return fires, err
}
