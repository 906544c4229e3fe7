package workers

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
)

// deaf is a store that takes no reports at first.
type deaf struct {
	driver.Store
	isDeaf  bool
	reports [][]driver.Starts
}

func (d *deaf) Report(ctx context.Context, starts []driver.Starts) error {
	if d.isDeaf {
		return errors.New("it does not hear")
	}
	d.reports = append(d.reports, starts)
	return d.Store.Report(ctx, starts)
}

// Statistics of starts come with the beats of workers, and none is lost or told twice.
func TestWhatWorkersStartIsReportedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opened := sqlitetest.Open(t)
		defer opened.Close()
		store := &deaf{Store: opened, isDeaf: true}
		workers := New(store, Options{Lease: time.Minute}, nil)
		joined, err := workers.JoinWorker(t.Context(), &fairleadv1.JoinWorkerRequest{Kinds: []string{"k"}, Slots: 2})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := fairlead.NewClient(store).Enqueue(t.Context(), &fairlead.Job{Kind: "k"}); err != nil {
				t.Fatal(err)
			}
		}
		if leased, err := workers.LeaseJobs(t.Context(), &fairleadv1.LeaseJobsRequest{Id: joined.GetId(), Session: joined.GetSession()}); err != nil || len(leased.GetJobs()) != 2 {
			t.Fatalf("leased %v, %v", leased, err)
		}
		beat := func(after time.Duration) {
			t.Helper()
			time.Sleep(after)
			if _, err := workers.BeatWorker(t.Context(), &fairleadv1.BeatWorkerRequest{Id: joined.GetId(), Session: joined.GetSession()}); err != nil {
				t.Fatal(err)
			}
		}
		beat(time.Second)
		beat(reportEvery)
		store.isDeaf = false
		if beat(time.Second); len(store.reports) != 0 {
			t.Errorf("reported too soon were %v", store.reports)
		}
		beat(reportEvery)
		beat(reportEvery)
		total := 0
		for _, report := range store.reports {
			for _, starts := range report {
				total += starts.Count
			}
		}
		if total != 2 || len(store.reports) != 1 {
			t.Errorf("reported were %+v", store.reports)
		}
	})
}
