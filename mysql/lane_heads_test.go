package mysql

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// openWithNode opens a store with a node in it.
func openWithNode(t *testing.T, address string) (*Store, fairlead.NodeID) {
	t.Helper()
	s, err := Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	node, err := s.Join(t.Context(), fairlead.Node{Name: "test"}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return s, node
}

// lanesOfJobs are jobs of many tenants, a few of each.
func lanesOfJobs() []*fairlead.Job {
	const tenants = manyLanes + 50
	random, now := rand.New(rand.NewPCG(1, 2)), time.Now().Add(-time.Hour)
	var jobs []*fairlead.Job
	for i := range tenants * 3 {
		jobs = append(jobs, &fairlead.Job{
			Kind: "a", Tenant: fmt.Sprint("t", i%tenants), Priority: random.IntN(3), StartBy: now.Add(time.Duration(random.IntN(500)) * time.Second),
		})
	}
	return jobs
}

// byOrder orders jobs as claims do.
func byOrder(a, b *fairlead.Job) int {
	return cmp.Or(cmp.Compare(b.Priority, a.Priority), a.StartBy.Compare(b.StartBy), cmp.Compare(a.ID, b.ID))
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
			s, node := openWithNode(t, Migrated.MySQL(t))
			jobs := lanesOfJobs()
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
	address := Migrated.MySQL(t)
	here, node := openWithNode(t, address)
	elsewhere, _ := openWithNode(t, address)
	if err := fairlead.NewClient(here).Enqueue(t.Context(), lanesOfJobs()...); err != nil {
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
	if err := fairlead.NewClient(elsewhere).Enqueue(ctx, &fairlead.Job{Kind: "a", Tenant: "t8"}); err != nil {
		t.Fatal(err)
	}
	for len(claimOf(t, here, node, 10)) == 0 {
		if ctx.Err() != nil {
			t.Fatal("what another process enqueued is not found")
		}
	}
	wakes := make(chan driver.Wake, 100)
	go func() {
		defer close(wakes)
		_ = here.Listen(ctx, &driver.Scope{Kinds: []string{"a"}}, func(w driver.Wake) { wakes <- w })
	}()
	for range 4 { // that it listens, and what was missed before
		<-wakes
	}
	if got := claimOf(t, here, node, 10); len(got) > 0 {
		t.Fatalf("%v was claimed of nothing", got)
	}
	if err := fairlead.NewClient(elsewhere).Enqueue(ctx, &fairlead.Job{Kind: "a", Tenant: "t9"}); err != nil {
		t.Fatal(err)
	}
	for w := range wakes {
		if w == driver.WakeWork {
			break
		}
	}
	if got := claimOf(t, here, node, 10); len(got) != 1 {
		t.Fatalf("of the news that was heard %v was claimed", got)
	}
}

// A node that has little room for a kind does not look into all lanes of it.
func TestManyLanesOfAKindWithLittleRoom(t *testing.T) {
	s, node := openWithNode(t, Migrated.MySQL(t))
	jobs := lanesOfJobs()
	for i, job := range jobs {
		job.Kind = []string{"a", "b", "c"}[i%3]
	}
	if err := fairlead.NewClient(s).Enqueue(t.Context(), jobs...); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(jobs, byOrder)
	claim := driver.Claim{Node: node, Scope: &driver.Scope{Kinds: []string{"a", "b", "c"}}, Max: 60, Rooms: map[string]int{"a": 5, "b": 0}}
	for len(jobs) > 0 {
		rooms := map[string]int{"a": 5, "c": 60}
		var want, left []int64
		var rest []*fairlead.Job
		for _, job := range jobs {
			if len(want) < claim.Max && rooms[job.Kind] > 0 {
				rooms[job.Kind]--
				want = append(want, job.ID)
			} else {
				rest = append(rest, job)
			}
		}
		got, err := s.Claim(t.Context(), claim)
		if err != nil {
			t.Fatal(err)
		}
		for _, job := range got {
			left = append(left, job.ID)
		}
		if !slices.Equal(left, want) {
			t.Fatalf("claimed %v, want %v", left, want)
		}
		if jobs = rest; len(want) == 0 {
			break
		}
	}
}

// What a tenant is promised goes first, wherever its lane stands in the queue.
func TestPromisesAmongManyLanes(t *testing.T) {
	s, node := openWithNode(t, Migrated.MySQL(t))
	jobs := lanesOfJobs()
	for _, job := range jobs {
		if job.Tenant == "t200" {
			job.Priority, job.StartBy = 0, time.Now().Add(time.Hour)
		}
	}
	if err := fairlead.NewClient(s).Enqueue(t.Context(), jobs...); err != nil {
		t.Fatal(err)
	}
	if _, err := s.PutTenant(t.Context(), fairlead.Tenant{Name: "t200", MinRunning: 2}); err != nil {
		t.Fatal(err)
	}
	if err := s.SetLimit(t.Context(), fairlead.Limit{Scope: fairlead.LimitGlobal, MaxRunning: 5}); err != nil {
		t.Fatal(err)
	}
	promised := 0
	got := claimOf(t, s, node, 20)
	for _, job := range got {
		if job.Tenant == "t200" {
			promised++
		}
	}
	if len(got) != 5 || promised != 2 {
		t.Errorf("%d jobs were claimed, %d of them promised", len(got), promised)
	}
	if more := claimOf(t, s, node, 20); len(more) > 0 {
		t.Errorf("%d jobs were claimed beyond the limit", len(more))
	}
}

func TestSuspectsAmongManyLanes(t *testing.T) {
	s, node := openWithNode(t, Migrated.MySQL(t))
	jobs := lanesOfJobs()
	if err := fairlead.NewClient(s).Enqueue(t.Context(), jobs...); err != nil {
		t.Fatal(err)
	}
	suspect := jobs[100].ID
	lane, _ := s.lanes.ID(sqlstore.KeyOf(jobs[100]))
	if _, err := s.db.ExecContext(t.Context(), "update "+s.expand("ready")+" set solo = 1, crashes = 3 where lane = ? and id = ?", lane, suspect); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		got, err := s.Claim(t.Context(), driver.Claim{Node: node, Scope: &driver.Scope{Kinds: []string{"a"}}, Max: 1, Solo: true})
		if err != nil {
			t.Fatal(err)
		}
		if suspect != 0 && (len(got) != 1 || got[0].ID != suspect) || suspect == 0 && len(got) > 0 {
			t.Fatalf("claimed %v", got)
		}
		suspect = 0
	}
	if n := len(claimOf(t, s, node, len(jobs))); n != len(jobs)-1 {
		t.Errorf("%d jobs were claimed", n)
	}
}
