package dispatch

import (
	"fmt"
	"maps"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/fairlead-io/fairlead/internal/tier"
)

// cluster is nodes that know of each other's starts only by what they write.
type cluster struct {
	nodes   []*backlog
	written map[int]map[counted]int64
	bucket  int64
}

func newCluster(nodes ...*backlog) *cluster {
	return &cluster{nodes: nodes, written: map[int]map[counted]int64{}, bucket: 100}
}

// second lets every node claim some times, and then read and write.
func (c *cluster) second(t *testing.T, claims, most int, sum map[string]int) {
	t.Helper()
	for range claims {
		for _, node := range c.nodes {
			for p, n := range node.claim(t, most) {
				sum[p.Tenant] += n
			}
		}
	}
	for i, node := range c.nodes {
		var others []Count
		for j, counts := range c.written {
			if i == j {
				continue
			}
			for key, n := range counts {
				if key.bucket >= c.bucket-1 {
					others = c.add(others, key, n)
				}
			}
		}
		node.pastStarts.Refresh(c.bucket, others, func(_, tenant string) Party { return c.party(tenant) })
		counts := node.pastStarts.Unread()
		if c.written[i] == nil {
			c.written[i] = map[counted]int64{}
		}
		for _, count := range counts {
			c.written[i][counted{count.Scope, count.Tenant, count.Bucket}] = count.Started
		}
		node.pastStarts.Written(counts)
	}
}

// add sums what several nodes have started.
func (c *cluster) add(sums []Count, key counted, n int64) []Count {
	for i := range sums {
		if sums[i].Tenant == key.tenant && sums[i].Bucket == key.bucket {
			sums[i].Started += n
			sums[i].Nodes++
			return sums
		}
	}
	return append(sums, Count{Scope: key.scope, Tenant: key.tenant, Bucket: key.bucket, Started: n, Nodes: 1})
}

func (c *cluster) party(tenant string) Party {
	for _, node := range c.nodes {
		for p := range node.lanes {
			if p.Tenant == tenant {
				return p
			}
		}
	}
	return alone(tenant, 1)
}

func wantPart(t *testing.T, sum map[string]int, tenant string, want float64) {
	t.Helper()
	all := 0
	for _, n := range sum {
		all += n
	}
	if part := float64(sum[tenant]) / float64(all); math.Abs(part-want) > 0.05 {
		t.Errorf("%s got %.3f of %d starts, want %.3f: %v", tenant, part, all, want, sum)
	}
}

func TestNodesWithTheSameLanesKeepTheSharesInEverySecond(t *testing.T) {
	heavy, light := alone("heavy", 3), alone("light", 1)
	c := newCluster(newBacklog(heavy, light), newBacklog(heavy, light), newBacklog(heavy, light), newBacklog(heavy, light))
	for range 10 {
		sum := map[string]int{}
		c.second(t, 4, 25, sum)
		wantPart(t, sum, "heavy", 0.75)
	}
}

func TestANodeMakesUpForWhatOthersStartOfATenantThatOnlyTheyCanRun(t *testing.T) {
	wide, narrow := alone("wide", 1), alone("narrow", 1)
	// Three nodes of the four run only jobs of one of the tenants.
	c := newCluster(newBacklog(wide), newBacklog(wide), newBacklog(wide), newBacklog(wide, narrow))
	for range 30 {
		c.second(t, 4, 10, map[string]int{})
	}
	sum := map[string]int{}
	c.nodes = c.nodes[3:]
	for range 5 {
		for p, n := range c.nodes[0].claim(t, 10) {
			sum[p.Tenant] += n
		}
	}
	wantPart(t, sum, "narrow", 1)
}

func TestNodesThatAreUnequalEvenOutWithoutOvershooting(t *testing.T) {
	wide, narrow := alone("wide", 1), alone("narrow", 1)
	c := newCluster(newBacklog(wide), newBacklog(wide, narrow), newBacklog(wide, narrow), newBacklog(wide, narrow))
	for i := range 40 {
		sum := map[string]int{}
		c.second(t, 4, 10, sum)
		if i >= 20 {
			t.Run(fmt.Sprint("second ", i), func(t *testing.T) { wantPart(t, sum, "narrow", 0.5) })
		}
	}
}

func TestWhatATenantIsAheadByIsForgottenAfterAMinute(t *testing.T) {
	busy, quiet := alone("busy", 1), alone("quiet", 1)
	b := newBacklog(busy, quiet)
	b.pastStarts.Refresh(100, nil, nil)
	b.pastStarts.Refresh(100, []Count{{Tenant: "busy", Bucket: 100, Started: 1000, Nodes: 1}}, func(_, _ string) Party { return busy })
	wantStarts(t, b.claim(t, 100), map[Party]int{quiet: 100})
	b.pastStarts.Refresh(107, nil, nil)
	wantStarts(t, b.claim(t, 100), map[Party]int{busy: 50, quiet: 50})
}

func TestWhatWasCountedBeforeTheClockWasReadBelongsToThePresentBucket(t *testing.T) {
	b := newBacklog(alone("a", 1))
	b.claim(t, 3)
	b.pastStarts.Refresh(42, nil, nil)
	counts := b.pastStarts.Unread()
	if len(counts) != 1 || counts[0].Bucket != 42 || counts[0].Started != 3 {
		t.Fatalf("unread are %+v", counts)
	}
	b.claim(t, 2)
	b.pastStarts.Written(counts)
	if counts = b.pastStarts.Unread(); len(counts) != 1 || counts[0].Started != 5 {
		t.Errorf("unread are %+v after more was started", counts)
	}
}

func TestATenantWhoseNextJobsWereNotReadKeepsWhatItIsBehindBy(t *testing.T) {
	pastStarts, first, second := NewPastStarts(), alone("first", 1), alone("second", 1)
	keys := map[Party]int64{first: 0, second: 1000}
	sum := map[Party]int{}
	for range 20 { // of each lane only where it begins is known
		shares := pastStarts.Open()
		a, b := &Lane{ID: 1, Share: shares.Of(first), From: Key{ID: keys[first]}}, &Lane{ID: 2, Share: shares.Of(second), From: Key{ID: keys[second]}}
		picks, err := ChooseReading([]*Lane{a, b}, Ask{Max: 1}, func(lane *Lane) error {
			lane.Keys = append(lane.Keys, lane.From.Next())
			return nil
		})
		if err != nil || len(picks) != 1 {
			t.Fatalf("picked %v, %v", picks, err)
		}
		party := picks[0].Lane.Share.party
		keys[party]++
		sum[party]++
		picks[0].Lane.Keys = nil
		shares.Close([]*Lane{a, b}, map[Party]int{party: 1})
	}
	wantStarts(t, sum, map[Party]int{first: 10, second: 10})
}

func TestAClaimThatLooksAtFewLanesTakesNothingFromTheOthers(t *testing.T) {
	behind, ahead := alone("behind", 1), alone("ahead", 1)
	b := newBacklog(behind, ahead)
	b.claimTimes(t, 2, 10)
	for range 10 {
		b.pastStarts.Open().Charge(map[Party]int{ahead: 1})
	}
	wantStarts(t, b.claim(t, 30), map[Party]int{behind: 20, ahead: 10})
}

// What a claim takes must not depend on how claims are cut: who asks what starts next does
// not know how many slots become free at once.
func TestClaimsOneAfterTheOtherTakeWhatOneTakes(t *testing.T) {
	t.Attr(tier.LongAttr, "rapid draws five times as many cases")
	rapid.Check(t, func(t *rapid.T) {
		var parties []Party
		for i := range rapid.IntRange(1, 6).Draw(t, "tenants") {
			p := alone(fmt.Sprint(i), rapid.IntRange(1, 30).Draw(t, "weight"))
			if rapid.Bool().Draw(t, "child") {
				p.Family, p.FamilyWeight = "parent", 7
			}
			parties = append(parties, p)
		}
		whole, cut := newBacklog(parties...), newBacklog(parties...)
		for range rapid.IntRange(1, 5).Draw(t, "claims") {
			most, refreshed := rapid.IntRange(1, 60).Draw(t, "max"), rapid.Bool().Draw(t, "refreshed")
			sum := map[Party]int{}
			for left := most; left > 0; {
				n := rapid.IntRange(1, left).Draw(t, "part")
				for p, got := range cut.claim(t, n) {
					sum[p] += got
				}
				left -= n
			}
			if got := whole.claim(t, most); !maps.Equal(got, sum) {
				t.Fatalf("one claim gave %v, several %v", got, sum)
			}
			if refreshed {
				whole.pastStarts.Refresh(7, nil, nil)
				cut.pastStarts.Refresh(7, nil, nil)
			}
		}
	})
}
