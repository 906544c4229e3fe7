package workers

import (
	"context"
	"testing"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/sqlite"
)

// storeWithHeldJob is a store in which an open transaction holds one job.
type storeWithHeldJob struct {
	*sqlite.Store
	held  int64
	tries int // delay before the transaction ends; zero = stays open
}

func (s *storeWithHeldJob) Settle(ctx context.Context, settlements []fairlead.Settlement) ([]fairlead.Settled, error) {
	var all []fairlead.Settled
	for i, settlement := range settlements {
		if settlement.ID == s.held {
			all = append(all, fairlead.SettledHeld)
			if s.tries--; s.tries == 0 {
				s.held = 0
			}
			continue
		}
		settled, err := s.Store.Settle(ctx, settlements[i:i+1])
		if err != nil {
			return nil, err
		}
		all = append(all, settled...)
	}
	return all, nil
}

func TestAWorkerHearsOfAHeldJobIfItKnowsThatAnswer(t *testing.T) {
	store := &storeWithHeldJob{Store: sqlitetest.Open(t)}
	defer store.Close()
	workers := New(store, Options{}, nil)
	ctx := t.Context()
	joined, err := workers.JoinWorker(ctx, &fairleadv1.JoinWorkerRequest{Kinds: []string{"k"}, Slots: 2})
	if err != nil {
		t.Fatal(err)
	}
	if err := fairlead.NewClient(store).Enqueue(ctx, &fairlead.Job{Kind: "k"}, &fairlead.Job{Kind: "k"}); err != nil {
		t.Fatal(err)
	}
	leased, err := workers.LeaseJobs(ctx, &fairleadv1.LeaseJobsRequest{Id: joined.GetId(), Session: joined.GetSession()})
	if err != nil || len(leased.GetJobs()) != 2 {
		t.Fatalf("leased %v, %v", leased, err)
	}
	store.held = leased.GetJobs()[1].GetId()
	request := &fairleadv1.SettleJobsRequest{Id: joined.GetId(), Session: joined.GetSession()}
	for _, job := range leased.GetJobs() {
		request.Settlements = append(request.Settlements, &fairleadv1.RunEnd{Id: job.GetId(), Fence: job.GetFence(), Outcome: outcomeSucceed})
	}
	results := func() (results []string) {
		t.Helper()
		settled, err := workers.SettleJobs(ctx, request)
		if err != nil {
			t.Fatal(err)
		}
		for _, ended := range settled.GetResults() {
			results = append(results, ended.GetResult())
		}
		return results
	}
	request.TakesHeld = true
	if got := results(); got[0] != resultAsAsked || got[1] != resultHeld {
		t.Errorf("the results are %v", got)
	}
	// Another worker would take calls that fail for a refusal, and let the job fail.
	request.TakesHeld, store.tries = false, 3
	if got := results(); got[0] != resultAsAsked || got[1] != resultAsAsked {
		t.Errorf("the results for a worker that does not know the answer are %v", got)
	}
}
