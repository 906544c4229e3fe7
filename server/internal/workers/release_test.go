package workers

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/patience"
)

// settling is a store whose first settlements fail or are held.
type settling struct {
	driver.Store
	failures atomic.Int32  // settlements that are still to fail
	held     atomic.Int32  // number of settlements to hold after that
	settled  chan struct{} // gets a value after each that succeeds
}

func (s *settling) Settle(ctx context.Context, settlements []fairlead.Settlement) ([]fairlead.Settled, error) {
	if s.failures.Add(-1) >= 0 {
		return nil, errors.New("the connection broke")
	}
	if s.held.Add(-1) >= 0 {
		settled := make([]fairlead.Settled, len(settlements))
		for i := range settled {
			settled[i] = fairlead.SettledHeld
		}
		return settled, nil
	}
	settled, err := s.Store.Settle(ctx, settlements)
	s.settled <- struct{}{}
	return settled, err
}

// A job that was claimed but does not fit into the response is released again, also if the
// database is unavailable at first: the worker lives and does not know the job.
func TestAJobThatDidNotReachItsWorkerIsReleasedAfterAFailure(t *testing.T) {
	claimed, _, _ := claiming(t)
	store := &settling{Store: claimed, settled: make(chan struct{}, 1)}
	workers := New(store, Options{Poll: time.Millisecond}, nil)
	joined, err := workers.JoinWorker(t.Context(), &fairleadv1.JoinWorkerRequest{Kinds: []string{"large"}, Slots: 3})
	if err != nil {
		t.Fatal(err)
	}
	client := fairlead.NewClient(store)
	args := []byte(`"` + strings.Repeat("x", 700<<10) + `"`)
	jobs := []*fairlead.Job{{Kind: "large", Args: args}, {Kind: "large", Args: args}}
	if err := client.Enqueue(t.Context(), jobs...); err != nil {
		t.Fatal(err)
	}
	store.failures.Store(3)
	store.held.Store(2)
	leased, err := workers.LeaseJobs(t.Context(), &fairleadv1.LeaseJobsRequest{Id: joined.GetId(), Session: joined.GetSession()})
	if err != nil || len(leased.GetJobs()) != 1 || leased.GetJobs()[0].GetId() != jobs[0].ID {
		t.Fatalf("leased %v, %v", leased, err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		workers.RepeatReleases(ctx)
	}()
	select {
	case <-store.settled:
	case <-time.After(patience.Limit):
		t.Error("the release was not repeated")
	}
	stop()
	<-ended
	if job, err := client.Get(t.Context(), jobs[1].ID); err != nil || job.State != fairlead.Ready || job.Attempt != 0 {
		t.Errorf("the second job is %+v: %v", job, err)
	}
}
