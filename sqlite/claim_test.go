package sqlite_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/sqlite"
)

// TestClaimsAreExactWhateverOthersDo: a store remembers the first jobs of lanes,
// and has to notice what its own verbs, other processes and callers'
// transactions do to them.
func TestClaimsAreExactWhateverOthersDo(t *testing.T) {
	for name, limit := range map[string]fairlead.Limit{
		"without limits":              {Scope: fairlead.LimitGlobal},
		"with a cap that never binds": {Scope: fairlead.LimitGlobal, MaxRunning: 1000},
	} {
		t.Run(name, func(t *testing.T) { checkClaims(t, limit) })
	}
}

func checkClaims(t *testing.T, limit fairlead.Limit) {
	const seed = 7
	random := rand.New(rand.NewPCG(seed, seed))
	clock := newClock()
	options := sqlite.Options{Clock: clock.Now, Synchronous: "off"}
	file := filepath.Join(t.TempDir(), "jobs.db")
	stores := []*sqlite.Store{open(t, file, options), open(t, file, options)}
	must(t, stores[0].SetLimit(t.Context(), limit))
	node, err := stores[0].Join(asNode(t), fairlead.Node{}, 1000*time.Hour)
	must(t, err)
	scope := &driver.Scope{Kinds: []string{"a", "b"}}

	newJobs := func() []*fairlead.Job {
		jobs := make([]*fairlead.Job, 1+random.IntN(4))
		for i := range jobs {
			jobs[i] = &fairlead.Job{Kind: []string{"a", "b", "c"}[random.IntN(3)], Tenant: fmt.Sprint(random.IntN(12)), Priority: random.IntN(3)}
			if random.IntN(4) == 0 {
				jobs[i].NotBefore = clock.Now().Add(time.Duration(random.IntN(5)) * time.Second)
			}
		}
		must(t, fairlead.NormalizeJobs(jobs))
		return jobs
	}
	someReady := func() int64 {
		ready, err := stores[0].Find(t.Context(), fairlead.Filter{States: []fairlead.State{fairlead.Ready}})
		must(t, err)
		if len(ready) == 0 {
			return 0
		}
		return ready[random.IntN(len(ready))].ID
	}
	for range tier.Size(t, 250, 1500, "plays for longer") {
		s := stores[random.IntN(len(stores))]
		clock.Advance(time.Duration(random.IntN(2000)) * time.Millisecond)
		id := int64(0)
		if random.IntN(4) == 0 {
			id = someReady()
		}
		switch what := random.IntN(8); {
		case id != 0 && what < 2:
			must(t, s.Cancel(t.Context(), id, ""))
		case id != 0 && what < 5:
			must(t, s.SetPriority(t.Context(), id, random.IntN(3)))
		case id != 0:
			must(t, s.Reschedule(t.Context(), id, clock.Now().Add(time.Second)))
		case what < 3:
			must(t, s.Enqueue(t.Context(), newJobs()))
		case what < 4:
			tx := begin(t, s.DB(), s)
			must(t, tx.Tx.Enqueue(t.Context(), newJobs()))
			end := []func() error{tx.Commit, tx.Rollback}[random.IntN(2)]
			must(t, end())
		case what < 5:
			_, err := s.Promote(t.Context(), 100)
			must(t, err)
		default:
			claim := driver.Claim{Node: node, Scope: scope, Max: 1 + random.IntN(6)}
			if random.IntN(2) == 0 {
				claim.Rooms = map[string]int{"a": random.IntN(3)}
			}
			checkClaim(t, s, claim)
		}
	}
}

// TestClaimMissesWhatACallerReplaced: a job that is remembered as ready may be
// replaced by one that is not, in a transaction on the very connection of the
// store.
func TestClaimMissesWhatACallerReplaced(t *testing.T) {
	for name, file := range map[string]string{"in a file": filepath.Join(t.TempDir(), "jobs.db"), "in memory": ":memory:"} {
		t.Run(name, func(t *testing.T) {
			s := open(t, file, sqlite.Options{})
			node, err := s.Join(t.Context(), fairlead.Node{}, time.Hour)
			must(t, err)
			var jobs []*fairlead.Job
			for i := range 6 {
				jobs = append(jobs, &fairlead.Job{Kind: "a", Tenant: fmt.Sprint(i % 2), Key: fmt.Sprint(i)})
			}
			must(t, fairlead.NormalizeJobs(jobs))
			must(t, s.Enqueue(t.Context(), jobs))
			claim := driver.Claim{Node: node, Scope: &driver.Scope{Kinds: []string{"a"}}, Max: 2}
			_, err = s.Claim(t.Context(), claim)
			must(t, err)

			tx := begin(t, s.DB(), s)
			later := []*fairlead.Job{{Kind: "a", Tenant: "1", Key: "3", OnDuplicate: fairlead.ReplaceDuplicate, NotBefore: time.Now().Add(time.Hour)}}
			must(t, fairlead.NormalizeJobs(later))
			must(t, tx.Tx.Enqueue(t.Context(), later))
			must(t, tx.Commit())
			claim.Max = 10
			claimed, err := s.Claim(t.Context(), claim)
			must(t, err)
			if len(claimed) != 3 {
				t.Errorf("claimed %d jobs, want the 3 that are left", len(claimed))
			}
		})
	}
}

// asNode lets all stores speak for one node.
func asNode(t *testing.T) context.Context { return driver.AsNode(t.Context(), "of all stores") }

// checkClaim claims and compares with a plain look at the table.
func checkClaim(t *testing.T, s *sqlite.Store, claim driver.Claim) {
	t.Helper()
	rows, err := s.DB().QueryContext(t.Context(),
		"select r.id, l.kind from fairlead_ready r join fairlead_lane l on l.id = r.lane where l.kind in ('a', 'b') order by r.turn, r.start_by, r.id")
	must(t, err)
	defer func() { _ = rows.Close() }()
	var want, got []int64
	taken := map[string]int{}
	for rows.Next() && len(want) < claim.Max {
		var id int64
		var kind string
		must(t, rows.Scan(&id, &kind))
		if room, bounded := claim.Rooms[kind]; bounded && taken[kind] >= room {
			continue
		}
		taken[kind]++
		want = append(want, id)
	}
	must(t, rows.Err())
	must(t, rows.Close())
	jobs, err := s.Claim(asNode(t), claim)
	must(t, err)
	var settlements []fairlead.Settlement
	for i, job := range jobs {
		got = append(got, job.ID)
		move := []fairlead.Move{fairlead.Succeed, fairlead.MoveRelease, fairlead.Again}[i%3]
		settlements = append(settlements, fairlead.Settlement{ID: job.ID, Fence: job.Fence, Move: move, After: time.Second})
	}
	if !slices.Equal(got, want) {
		t.Fatalf("claimed %v, want %v", got, want)
	}
	_, err = s.Settle(t.Context(), settlements)
	must(t, err)
}
