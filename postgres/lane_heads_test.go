package postgres

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/patience"
)

// lanesOfJobs are jobs of so many tenants, a few of each.
func lanesOfJobs(tenants int) []*fairlead.Job {
	random, now := rand.New(rand.NewPCG(1, 2)), time.Now().Add(-time.Hour)
	var jobs []*fairlead.Job
	for i := range tenants * 3 {
		jobs = append(jobs, &fairlead.Job{
			Kind: "a", Tenant: fmt.Sprint("t", i%tenants), Priority: random.IntN(3), StartBy: now.Add(time.Duration(random.IntN(500)) * time.Second),
		})
	}
	return jobs
}

// claimOf claims from all tenants.
func claimOf(t *testing.T, s *Store, node fairlead.NodeID, most int) []*fairlead.Job {
	t.Helper()
	jobs, err := s.Claim(t.Context(), driver.Claim{Node: node, Scope: &driver.Scope{Kinds: []string{"a"}}, Max: most})
	if err != nil {
		t.Fatal(err)
	}
	return jobs
}

func TestManyLanesAreClaimedInOrder(t *testing.T) {
	for _, capped := range []bool{false, true} {
		t.Run(fmt.Sprint("capped ", capped), func(t *testing.T) {
			l := newLimitTest(t)
			s, node := l.store, l.node
			jobs := lanesOfJobs(manyLanes + 50)
			if err := fairlead.NewClient(s).Enqueue(t.Context(), jobs...); err != nil {
				t.Fatal(err)
			}
			if capped {
				if err := s.SetLimit(t.Context(), fairlead.Limit{Scope: fairlead.LimitGlobal, MaxRunning: len(jobs) + 1}); err != nil {
					t.Fatal(err)
				}
			}
			slices.SortFunc(jobs, byOrder)
			for len(jobs) > 0 {
				got := claimOf(t, s, node, 37)
				for i, job := range got {
					if job.ID != jobs[i].ID {
						t.Fatalf("with %d left job %d came, want %d", len(jobs), job.ID, jobs[i].ID)
					}
				}
				if len(got) != min(37, len(jobs)) {
					t.Fatalf("%d jobs of %d were claimed", len(got), len(jobs))
				}
				jobs = jobs[len(got):]
			}
		})
	}
}

func TestNewsOfALaneAmongManyIsHeard(t *testing.T) {
	l := newLimitTest(t)
	here, node, elsewhere := l.store, l.node, open(t, l.at, Options{})
	if err := fairlead.NewClient(here).Enqueue(t.Context(), lanesOfJobs(manyLanes+50)...); err != nil {
		t.Fatal(err)
	}
	for len(claimOf(t, here, node, 500)) > 0 {
		continue
	}
	job := &fairlead.Job{Kind: "a", Tenant: "t7"}
	if err := fairlead.NewClient(here).Enqueue(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	if got := claimOf(t, here, node, 10); len(got) != 1 || got[0].ID != job.ID {
		t.Fatalf("of this process's own news %v was claimed", got)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience.Limit)
	defer cancel()
	// The store does not listen: it trusts what it saw of the lane for a while.
	if err := fairlead.NewClient(elsewhere).Enqueue(ctx, &fairlead.Job{Kind: "a", Tenant: "t7"}); err != nil {
		t.Fatal(err)
	}
	for len(claimOf(t, here, node, 10)) == 0 {
		if ctx.Err() != nil {
			t.Fatal("what another process enqueued is not found")
		}
	}
}

// What one process remembers of lanes is gone when another has claimed it.
func TestTwoProcessesClaimFromManyLanesInTurn(t *testing.T) {
	l := newLimitTest(t)
	stores := []*Store{l.store, open(t, l.at, Options{})}
	other, err := stores[1].Join(t.Context(), fairlead.Node{}, time.Hour)
	l.ok(err)
	nodes := []fairlead.NodeID{l.node, other}
	jobs := lanesOfJobs(manyLanes + 50)
	if err := fairlead.NewClient(l.store).Enqueue(t.Context(), jobs...); err != nil {
		t.Fatal(err)
	}
	seen := map[int64]bool{}
	for turn := 0; len(seen) < len(jobs); turn++ {
		got := claimOf(t, stores[turn%2], nodes[turn%2], 37)
		if want := min(37, len(jobs)-len(seen)); len(got) != want {
			t.Fatalf("claim %d brought %d jobs, want %d", turn, len(got), want)
		}
		for _, job := range got {
			if seen[job.ID] {
				t.Fatalf("job %d was claimed twice", job.ID)
			}
			seen[job.ID] = true
		}
	}
}
