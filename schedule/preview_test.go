package schedule_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/sqlite"
)

// repeating is a store that repeats each transaction, and keeps what was decided in the last.
type repeating struct {
	*sqlite.Store
	decided error
}

func (r *repeating) Act(ctx context.Context, id int64, decide func(schedule.Schedule, schedule.View) (schedule.Plan, error)) ([]schedule.Fire, error) {
	return r.Store.Act(ctx, id, func(s schedule.Schedule, v schedule.View) (plan schedule.Plan, err error) {
		for range 2 {
			plan, r.decided = decide(s, v)
		}
		return plan, r.decided
	})
}

func TestABackfillIsPreviewedOutsideOfTheTransactionThatReadsItsSchedule(t *testing.T) {
	p := newPlanning(t)
	stored := p.put(schedule.Schedule{Name: "s", Every: time.Hour, Job: fairlead.Job{Kind: "k"}})
	store := &repeating{Store: p.store}
	client := schedule.NewClient(store)
	p.now = p.now.Add(24 * time.Hour)
	preview, err := client.PreviewBackfill(t.Context(), stored.ID, schedule.Backfill{From: p.now.Add(-3 * time.Hour), To: p.now})
	if err != nil || len(preview.Instants) != 3 {
		t.Errorf("the instants are %v (%v)", preview, err)
	}
	_, err = client.PreviewBackfill(t.Context(), stored.ID, schedule.Backfill{From: p.now})
	if !errors.Is(err, fairlead.ErrInvalid) || errors.Is(store.decided, fairlead.ErrInvalid) {
		t.Errorf("a span without an end is refused as %v, and in the transaction as %v", err, store.decided)
	}
}

// leaving is a store whose caller goes as soon as it has listed schedules.
type leaving struct {
	*sqlite.Store
	leave context.CancelFunc
}

func (l leaving) Schedules(ctx context.Context, filter schedule.Filter) ([]schedule.Schedule, error) {
	defer l.leave()
	return l.Store.Schedules(ctx, filter)
}

func TestAForecastEndsWhenItsCallerHasGone(t *testing.T) {
	p := newPlanning(t)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	made := schedule.Schedule{Name: "s", Every: time.Hour, Job: fairlead.Job{Kind: "k"}}
	question := schedule.WhatIf{Changes: []schedule.Change{{Schedule: &made}}}
	if _, err := schedule.NewClient(leaving{p.store, leave}).WhatIf(ctx, question); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
