package server

import (
	"context"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
)

func TestACountAmongIDsStopsAtItsBound(t *testing.T) {
	store := sqlitetest.Open(t)
	defer store.Close()
	jobs := make([]*fairlead.Job, 2*idsPerCount+500)
	for i := range jobs {
		jobs[i] = &fairlead.Job{Kind: "noop"}
	}
	service := NewJobs(store, nil)
	if err := service.client.Enqueue(t.Context(), jobs...); err != nil {
		t.Fatal(err)
	}
	ids := idsOf(jobs)
	made := func(_ context.Context, below int64, size int) ([]int64, int64, error) { // its pages are named by how many ids were before
		rest := ids[below:]
		if len(rest) <= size {
			return rest, 0, nil
		}
		return rest[:size], below + int64(size), nil
	}
	ready, failed := []fairlead.State{fairlead.Ready}, []fairlead.State{fairlead.Failed}
	for _, c := range []struct {
		states []fairlead.State
		atMost int64
		want   int64
		more   bool
	}{
		{ready, 1, leastIDs, true},
		{ready, idsPerCount, idsPerCount, true},
		{ready, idsPerCount + 1, 2 * idsPerCount, true},
		{ready, 2*idsPerCount + 1, 2*idsPerCount + 500, false},
		{ready, 10 * idsPerCount, 2*idsPerCount + 500, false},
		{failed, idsPerCount, 0, true}, // it has looked at twice as many
		{failed, 2 * idsPerCount, 0, false},
	} {
		count, err := service.tallyAmong(t.Context(), made, fairlead.Filter{States: c.states}, c.atMost)
		if err != nil || count.Total() != c.want || count.More != c.more {
			t.Errorf("at most %d that are %v: %v, %v", c.atMost, c.states, count, err)
		}
	}
	none := func(context.Context, int64, int) ([]int64, int64, error) { return nil, 0, nil }
	if count, err := service.tallyAmong(t.Context(), none, fairlead.Filter{}, 1); err != nil || count.Total() != 0 || count.More {
		t.Errorf("among no ids: %v, %v", count, err)
	}
	if page, err := service.findAmong(t.Context(), none, fairlead.Filter{}); err != nil || len(page.Jobs) != 0 {
		t.Errorf("among no ids %d jobs are found: %v", len(page.Jobs), err)
	}
}
