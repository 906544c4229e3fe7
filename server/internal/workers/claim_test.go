package workers

import (
	"context"
	"errors"
	"testing"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
)

// claims is a store whose claims the test controls.
type claims struct {
	driver.Store
	claim func(ctx context.Context, claim driver.Claim) ([]*fairlead.Job, error)
}

func (c *claims) Claim(ctx context.Context, claim driver.Claim) ([]*fairlead.Job, error) {
	return c.claim(ctx, claim)
}

// claiming returns a worker on such a store, with a job that is ready.
func claiming(t *testing.T) (*claims, *Service, *fairleadv1.LeaseJobsRequest) {
	t.Helper()
	store := sqlitetest.Open(t)
	t.Cleanup(func() { _ = store.Close() })
	c := &claims{Store: store, claim: store.Claim}
	workers := New(c, Options{}, nil)
	joined, err := workers.JoinWorker(t.Context(), &fairleadv1.JoinWorkerRequest{Kinds: []string{"k"}, Slots: 3})
	if err != nil {
		t.Fatal(err)
	}
	if err := fairlead.NewClient(store).Enqueue(t.Context(), &fairlead.Job{Kind: "k"}); err != nil {
		t.Fatal(err)
	}
	return c, workers, &fairleadv1.LeaseJobsRequest{Id: joined.GetId(), Session: joined.GetSession()}
}

// The worker gets the claimed jobs, even if it cannot get more.
func TestASuspectIsLeasedThoughTheOthersCannotBe(t *testing.T) {
	store, workers, ask := claiming(t)
	suspect := &fairlead.Job{ID: 7, Kind: "k"}
	store.claim = func(_ context.Context, claim driver.Claim) ([]*fairlead.Job, error) {
		if claim.Solo {
			return []*fairlead.Job{suspect}, nil
		}
		return nil, errors.New("the connection broke")
	}
	leased, err := workers.LeaseJobs(t.Context(), ask)
	if err != nil || len(leased.GetJobs()) != 1 || leased.GetJobs()[0].GetId() != 7 {
		t.Errorf("leased %v, %v", leased, err)
	}
	ask.Suspects = noSuspects
	if leased, err := workers.LeaseJobs(t.Context(), ask); err == nil {
		t.Errorf("leased %v, though nothing can be claimed", leased)
	}
	ask.Suspects = onlySuspects
	store.claim = func(context.Context, driver.Claim) ([]*fairlead.Job, error) {
		return nil, errors.New("the connection broke")
	}
	if leased, err := workers.LeaseJobs(t.Context(), ask); err == nil {
		t.Errorf("leased %v, though no suspect can be claimed", leased)
	}
}

// A worker that has gone while its call waited for its turn gets nothing, and one that
// went while jobs were claimed for it gives them back.
func TestNothingIsLeasedToAWorkerThatHasGone(t *testing.T) {
	store, workers, ask := claiming(t)
	claim, asked := store.claim, 0
	ctx, leave := context.WithCancel(t.Context())
	store.claim = func(ctx context.Context, c driver.Claim) ([]*fairlead.Job, error) {
		asked++
		leave()
		return claim(ctx, c)
	}
	ready := func() int64 {
		t.Helper()
		tally, err := store.Tally(t.Context(), fairlead.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		return tally[fairlead.Ready]
	}
	c := workers.crewOf(fairlead.NodeID(ask.GetId()))
	inSession, err := workers.sessions.enter(ctx, ask)
	if err != nil {
		t.Fatal(err)
	}
	if jobs, _, err := workers.lease(inSession, c, ask); err != nil || len(jobs) != 0 || asked == 0 {
		t.Errorf("leased while it goes: %v, %v", jobs, err)
	}
	if n := ready(); n != 1 {
		t.Errorf("%d jobs are ready, want 1", n)
	}
	asked = 0
	if jobs, _, err := workers.lease(inSession, c, ask); !errors.Is(err, context.Canceled) || len(jobs) != 0 || asked != 0 {
		t.Errorf("leased after %d claims when it has gone: %v, %v", asked, jobs, err)
	}
}
