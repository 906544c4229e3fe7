package bulk_test

import (
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/bulk"
	"github.com/fairlead-io/fairlead/fairleadtest"
)

func TestAfterTheClockWasSetBackNoJobIsLeftOutSilently(t *testing.T) {
	store, clock := fairleadtest.SQLite(t)
	mux := fairlead.NewMux()
	bulk.Register(mux, store)
	node := fairleadtest.NewOn(t, store, clock, mux)
	enqueue := func() (id int64) {
		job := &fairlead.Job{Kind: "unheard"}
		if err := node.Client.Enqueue(t.Context(), job); err != nil {
			t.Fatal(err)
		}
		return job.ID
	}
	ahead := enqueue()
	clock.Advance(-time.Hour)
	before := enqueue()
	clock.Advance(time.Second)
	bulks := bulk.NewClient(store)
	b, err := bulks.Start(t.Context(), bulk.Bulk{Action: bulk.Cancel, Filter: fairlead.Filter{Kinds: []string{"unheard"}}})
	if err != nil {
		t.Fatal(err)
	}
	clock.Advance(time.Second)
	after := enqueue()
	node.Drain()
	if b, err = bulks.Get(t.Context(), b.ID); err != nil || b.State != bulk.Completed || b.Done != 1 || b.Missed != 1 {
		t.Errorf("the bulk is %+v (%v)", b, err)
	}
	misses, err := bulks.Misses(t.Context(), b.ID, bulk.MissFilter{})
	if err != nil || len(misses) != 1 || misses[0].Job != ahead || !strings.Contains(misses[0].Why, "the database's clock was set back") {
		t.Errorf("it missed %v (%v), not job %d", misses, err, ahead)
	}
	for id, want := range map[int64]fairlead.State{ahead: fairlead.Ready, before: fairlead.Cancelled, after: fairlead.Ready} {
		if job, err := node.Client.Get(t.Context(), id); err != nil || job.State != want {
			t.Errorf("job %d is %+v (%v), not %s", id, job, err, want)
		}
	}
}
