package workers

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/server/internal/overload"
)

// answeredTo returns the context of a caller's request with a response that shares memory.
func answeredTo(t *testing.T, memory *overload.ResponseMemory, caller string) context.Context {
	t.Helper()
	ctx, _, end := memory.Begin(t.Context(), caller)
	t.Cleanup(end)
	return ctx
}

// Workers that share a token lease at the same time, also if each claim takes long.
func TestManyWorkersOfOneTokenLeaseAtTheSameTime(t *testing.T) {
	const fleet = 50
	store, workers, _ := claiming(t)
	var arrived sync.WaitGroup
	arrived.Add(fleet)
	all := make(chan struct{})
	go func() {
		arrived.Wait()
		close(all)
	}()
	store.claim = func(ctx context.Context, claim driver.Claim) ([]*fairlead.Job, error) {
		if claim.Solo {
			return nil, nil
		}
		arrived.Done() // once: none waits for jobs
		select {
		case <-all:
			return nil, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	responses := overload.NewResponseMemory()
	var leases sync.WaitGroup
	for range fleet {
		joined, err := workers.JoinWorker(t.Context(), &fairleadv1.JoinWorkerRequest{Kinds: []string{"k"}, Slots: 3})
		if err != nil {
			t.Fatal(err)
		}
		ctx := answeredTo(t, responses, "fleet")
		leases.Go(func() {
			if _, err := workers.LeaseJobs(ctx, &fairleadv1.LeaseJobsRequest{Id: joined.GetId(), Session: joined.GetSession()}); err != nil {
				t.Error(err)
			}
		})
	}
	leases.Wait()
}

// A lease reserves little before it knows how large the jobs are. If they are larger than the
// free memory it releases them, and leases them once there is memory.
func TestALargeJobWaitsForMemoryWithoutBeingHeld(t *testing.T) {
	claimed, _, _ := claiming(t)
	store := &settling{Store: claimed, settled: make(chan struct{}, 1)}
	workers := New(store, Options{}, nil)
	joined, err := workers.JoinWorker(t.Context(), &fairleadv1.JoinWorkerRequest{Kinds: []string{"large"}, Slots: 3})
	if err != nil {
		t.Fatal(err)
	}
	job := &fairlead.Job{Kind: "large", Args: []byte(`"` + strings.Repeat("x", 700<<10) + `"`)}
	if err := fairlead.NewClient(store).Enqueue(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	responses := overload.NewResponseMemory()
	other, err := overload.Reserve(answeredTo(t, responses, "fleet"), overload.CallerLimit-overload.SmallShare)
	if err != nil {
		t.Fatal(err)
	}
	ctx := answeredTo(t, responses, "fleet")
	leased := make(chan *fairleadv1.LeaseJobsResponse)
	go func() {
		response, err := workers.LeaseJobs(ctx, &fairleadv1.LeaseJobsRequest{Id: joined.GetId(), Session: joined.GetSession()})
		if err != nil {
			t.Error(err)
		}
		leased <- response
	}()
	<-store.settled
	other.Settle(0)
	if got := (<-leased).GetJobs(); len(got) != 1 || got[0].GetId() != job.ID || got[0].GetAttempt() != 1 {
		t.Errorf("leased %v", got)
	}
}
