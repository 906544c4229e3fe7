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
