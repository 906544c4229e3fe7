package dispatch

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fairlead-io/fairlead/internal/tier"
)

// backlog is lanes of parties with more jobs than are ever taken.
type backlog struct {
	pastStarts *PastStarts
	lanes      map[Party]*Lane
	nextID     int64
}

const manyJobs = 5000

func newBacklog(parties ...Party) *backlog {
	b := &backlog{pastStarts: NewPastStarts(), lanes: map[Party]*Lane{}}
	for i, p := range parties {
		b.add(p, int64(i))
	}
	return b
}

// add gives a party a lane whose jobs are acceptable from a certain time.
func (b *backlog) add(p Party, startBy int64) *Lane {
	lane := &Lane{ID: int32(len(b.lanes) + 1), All: true}
	for range manyJobs {
		b.nextID++
		lane.Keys = append(lane.Keys, Key{StartBy: startBy, ID: b.nextID})
	}
	b.lanes[p] = lane
	return lane
}

// claim takes jobs and returns how many each party got.
func (b *backlog) claim(t interface{ Fatalf(string, ...any) }, most int) map[Party]int {
	shares := b.pastStarts.Open()
	var lanes []*Lane
	for p, lane := range b.lanes {
		lane.Share = shares.Of(p)
		lanes = append(lanes, lane)
	}
	slices.SortFunc(lanes, func(a, b *Lane) int { return int(a.ID - b.ID) })
	picks, toRead := Choose(lanes, Ask{Max: most})
	if len(toRead) > 0 {
		t.Fatalf("asked for %v, and all is known", toRead)
	}
	got, taken := map[Party]int{}, map[*Lane]map[Key]bool{}
	for _, pick := range picks {
		got[pick.Lane.Share.party]++
		if taken[pick.Lane] == nil {
			taken[pick.Lane] = map[Key]bool{}
		}
		taken[pick.Lane][pick.Key] = true
	}
	for lane, keys := range taken {
		lane.Keys = slices.DeleteFunc(lane.Keys, func(k Key) bool { return keys[k] })
	}
	shares.Close(lanes, got)
	return got
}

func alone(tenant string, weight int) Party {
	return Party{Tenant: tenant, Family: tenant, Weight: weight, FamilyWeight: weight}
}

func child(family string, familyWeight int, tenant string, weight int) Party {
	return Party{Tenant: tenant, Family: family, Weight: weight, FamilyWeight: familyWeight}
}

func (b *backlog) claimTimes(t *testing.T, times, most int) map[Party]int {
	t.Helper()
	sum := map[Party]int{}
	for range times {
		for p, n := range b.claim(t, most) {
			sum[p] += n
		}
	}
	return sum
}

func wantStarts(t *testing.T, got, want map[Party]int) {
	t.Helper()
	for p, n := range want {
		if got[p] != n {
			t.Errorf("%s got %d starts, want %d", p.Tenant, got[p], n)
		}
	}
}

func TestTenantsShareStartsByWeight(t *testing.T) {
	t.Attr(tier.LongAttr, "rapid draws five times as many cases")
	rapid.Check(t, func(t *rapid.T) {
		var parties []Party
		whole := 0
		for i := range rapid.IntRange(1, 5).Draw(t, "tenants") {
			weight := rapid.IntRange(1, 9).Draw(t, "weight")
			parties = append(parties, alone(fmt.Sprint(i), weight))
			whole += weight
		}
		b, sum, all := newBacklog(parties...), map[Party]int{}, 0
		for all < 400 {
			most := rapid.IntRange(1, 50).Draw(t, "max")
			for p, n := range b.claim(t, most) {
				sum[p] += n
			}
			all += most
			if rapid.Bool().Draw(t, "refresh") {
				b.pastStarts.Refresh(7, nil, nil)
			}
		}
		for _, p := range parties {
			exact := float64(all*p.Weight) / float64(whole)
			// A tenant is behind by less than a start of each other tenant's.
			if off := math.Abs(float64(sum[p]) - exact); off > 1+float64(p.Weight)*float64(len(parties)) {
				t.Fatalf("tenant %s of weight %d got %d of %d starts, want %.1f", p.Tenant, p.Weight, sum[p], all, exact)
			}
		}
	})
}

func TestParentsShareBeforeTheirTenants(t *testing.T) {
	solo := alone("solo", 1)
	a, b := child("top", 3, "a", 2), child("top", 3, "b", 1)
	wantStarts(t, newBacklog(solo, a, b).claimTimes(t, 12, 10), map[Party]int{solo: 30, a: 60, b: 30})
}

func TestPriorityGoesBeforeShares(t *testing.T) {
	light, heavy := alone("light", 1), alone("heavy", 9)
	b := newBacklog(light, heavy)
	for i := range b.lanes[light].Keys[:20] {
		b.lanes[light].Keys[i].Turn = -1
	}
	wantStarts(t, b.claim(t, 20), map[Party]int{light: 20})
	wantStarts(t, b.claim(t, 20), map[Party]int{heavy: 20})
}

func TestAShareThatIsNotUsedGoesToTheOthers(t *testing.T) {
	few, many, more := alone("few", 8), alone("many", 3), alone("more", 1)
	b := newBacklog(few, many, more)
	b.lanes[few].Keys = b.lanes[few].Keys[:5]
	wantStarts(t, b.claim(t, 45), map[Party]int{few: 5, many: 30, more: 10})
}

func TestCapsHoldBeforeShares(t *testing.T) {
	capped, free := alone("capped", 9), alone("free", 1)
	b := newBacklog(capped, free)
	b.lanes[capped].Limits = []*Limit{{Cap: 2}}
	wantStarts(t, b.claim(t, 20), map[Party]int{capped: 2, free: 18})
}

func TestMinimumsHoldBeforeShares(t *testing.T) {
	promised, heavy := alone("promised", 1), alone("heavy", 99)
	b := newBacklog(promised, heavy)
	minimum := &Limit{Min: 8}
	b.lanes[promised].Limits, b.lanes[promised].Tenant = []*Limit{minimum}, minimum
	wantStarts(t, b.claim(t, 10), map[Party]int{promised: 8, heavy: 2})
}

func TestATenantThatComesBackHasSavedNothingUp(t *testing.T) {
	stays, returns := alone("stays", 1), alone("returns", 1)
	b := newBacklog(stays, returns)
	wantStarts(t, b.claimTimes(t, 10, 10), map[Party]int{stays: 50, returns: 50})
	away := b.lanes[returns]
	delete(b.lanes, returns)
	b.claimTimes(t, 20, 10)
	b.pastStarts.Refresh(7, nil, nil)
	b.claimTimes(t, 20, 10)
	b.lanes[returns] = away
	wantStarts(t, b.claimTimes(t, 10, 10), map[Party]int{stays: 50, returns: 50})
}

func TestATenantThatWasAtItsCapHasSavedNothingUp(t *testing.T) {
	capped, free := alone("capped", 1), alone("free", 1)
	b := newBacklog(capped, free)
	limit := &Limit{Cap: 1, Used: 1}
	b.lanes[capped].Limits = []*Limit{limit}
	b.claimTimes(t, 20, 10)
	b.pastStarts.Refresh(7, nil, nil)
	b.claimTimes(t, 20, 10)
	limit.Cap, limit.Used = 0, 0
	wantStarts(t, b.claimTimes(t, 10, 10), map[Party]int{capped: 50, free: 50})
}

func TestAFairScopeTakesTurnsWithOtherLanesByTheKeyOfItsNextJob(t *testing.T) {
	shares := NewPastStarts().Open()
	fair := &Lane{ID: 1, All: true, Share: shares.Of(alone("a", 1)), Keys: []Key{{StartBy: 1, ID: 1}, {StartBy: 4, ID: 4}}}
	plain := &Lane{ID: 2, All: true, Keys: []Key{{StartBy: 2, ID: 2}, {StartBy: 3, ID: 3}}}
	picks, _ := Choose([]*Lane{fair, plain}, Ask{Max: 4})
	var ids []int64
	for _, pick := range picks {
		ids = append(ids, pick.ID)
	}
	if !slices.Equal(ids, []int64{1, 2, 3, 4}) {
		t.Errorf("chose %v", ids)
	}
}

func TestALaneOfAFairScopeIsReadBeforeItsTenantIsPassedOver(t *testing.T) {
	shares := NewPastStarts().Open()
	known := &Lane{ID: 1, All: true, Share: shares.Of(alone("a", 1)), Keys: []Key{{StartBy: 1, ID: 1}, {StartBy: 1, ID: 2}}}
	unread := &Lane{ID: 2, Share: shares.Of(alone("b", 1)), From: Key{StartBy: 9}}
	lanes := []*Lane{known, unread}
	if picks, toRead := Choose(lanes, Ask{Max: 2}); len(picks) > 0 || len(toRead) != 1 || toRead[0] != unread {
		t.Fatalf("picked %v and asked for %v", picks, toRead)
	}
	unread.Keys, unread.All = []Key{{StartBy: 9, ID: 9}}, true
	if picks, _ := Choose(lanes, Ask{Max: 2}); len(picks) != 2 || picks[0].ID != 1 || picks[1].ID != 9 {
		t.Errorf("picked %v", picks)
	}
}

func TestWhatIsLeftToOtherNodesCountsForTheShare(t *testing.T) {
	shares := NewPastStarts().Open()
	foreign := &Lane{ID: 1, All: true, Share: shares.Of(alone("a", 1)), Others: &Others{Idle: 9}, Keys: []Key{{ID: 1}, {ID: 2}, {ID: 3}}}
	own := &Lane{ID: 2, All: true, Share: shares.Of(alone("a", 1)), Keys: []Key{{ID: 4}, {ID: 5}}}
	other := &Lane{ID: 3, All: true, Share: shares.Of(alone("b", 1)), Keys: []Key{{ID: 6}, {ID: 7}, {ID: 8}}}
	picks, _ := Choose([]*Lane{foreign, own, other}, Ask{Max: 3})
	for _, pick := range picks {
		if pick.Lane != other {
			t.Errorf("took job %d of a tenant whose share other nodes use", pick.ID)
		}
	}
}

func TestRestsChangeNothingAboutWhatIsChosen(t *testing.T) {
	t.Attr(tier.LongAttr, "rapid draws five times as many cases")
	rapid.Check(t, func(t *rapid.T) {
		shares := NewPastStarts().Open()
		var lanes []*Lane
		id := int64(0)
		for i := range rapid.IntRange(1, 12).Draw(t, "tenants") {
			p := alone(fmt.Sprint("tenant ", i), rapid.IntRange(1, 4).Draw(t, "weight"))
			if parent := rapid.IntRange(0, 3).Draw(t, "parent"); parent > 0 {
				p.Family, p.FamilyWeight = fmt.Sprint("parent ", parent), parent
			}
			p.Scope = rapid.SampledFrom([]string{"", "queue"}).Draw(t, "scope")
			share := shares.Of(p)
			share.Had = startCost * float64(rapid.IntRange(0, 3).Draw(t, "had"))
			share.Of.Had = startCost * float64(rapid.IntRange(0, 3).Draw(t, "family had"))
			lane := &Lane{ID: int32(i + 1), All: true, Share: share}
			for range rapid.IntRange(1, 4).Draw(t, "jobs") {
				id++
				lane.Keys = append(lane.Keys, Key{Turn: int16(rapid.IntRange(0, 1).Draw(t, "turn")), StartBy: rapid.Int64Range(0, 3).Draw(t, "start by"), ID: id})
			}
			slices.SortFunc(lane.Keys, Key.Compare)
			lanes = append(lanes, lane)
		}
		ask := Ask{Max: rapid.IntRange(1, 12).Draw(t, "max")}
		want, _ := Choose(lanes, ask)
		slices.SortStableFunc(lanes, func(a, b *Lane) int { return ByShare(a.Share, a.Keys[0], b.Share, b.Keys[0]) })
		read, rests := rapid.IntRange(0, len(lanes)).Draw(t, "read"), Rests{}
		for _, lane := range lanes[:read] {
			rests.Read(lane.Share)
		}
		for _, lane := range lanes[read:] {
			rests.Add(lane.Share, lane.Keys[0])
		}
		got, toRead := Choose(rests.Append(lanes[:read:read]), ask)
		if len(toRead) == 0 && !slices.Equal(got, want) {
			t.Fatalf("chose %v, want %v", got, want)
		}
		if len(toRead) > 0 && read == len(lanes) {
			t.Fatalf("asked for %v, and all is known", toRead)
		}
	})
}

func TestARestIsAskedForWhenTheChoiceReachesIt(t *testing.T) {
	shares := NewPastStarts().Open()
	lane := func(id int32, tenant string) *Lane {
		return &Lane{ID: id, All: true, Share: shares.Of(alone(tenant, 1)), Keys: []Key{{StartBy: 1, ID: int64(id)}, {StartBy: 2, ID: int64(id) + 100}}}
	}
	first, second, third := lane(1, "a"), lane(2, "b"), lane(3, "c")
	rests := Rests{}
	rests.Add(second.Share, second.Keys[0])
	rests.Add(third.Share, third.Keys[0])
	if picks, toRead := Choose(rests.Append([]*Lane{first}), Ask{Max: 1}); len(picks) != 1 || len(toRead) != 0 {
		t.Errorf("picked %v and asked for %v", picks, toRead)
	}
	_, toRead := Choose(rests.Append([]*Lane{first}), Ask{Max: 2})
	if len(toRead) != 1 || !rests.Has(toRead[0]) || rests.Has(first) {
		t.Fatalf("asked for %v", toRead)
	}
	picks, _ := Choose([]*Lane{first, second, third}, Ask{Max: 4})
	var ids []int64
	for _, pick := range picks {
		ids = append(ids, pick.ID)
	}
	if !slices.Equal(ids, []int64{1, 2, 3, 101}) {
		t.Errorf("chose %v", ids)
	}
}

func TestTheRestOfAFamilyIsAskedForIfATenantOfItMayHaveHadLess(t *testing.T) {
	shares := NewPastStarts().Open()
	child := func(name string, had float64) *Share {
		share := shares.Of(Party{Tenant: name, Family: "parent", Weight: 1, FamilyWeight: 1})
		share.Had = had * startCost
		return share
	}
	for had, asked := range map[float64]bool{0: true, 2: false} {
		read := &Lane{ID: 1, All: true, Share: child("read", 1), Keys: []Key{{ID: 1}}}
		rests := Rests{}
		rests.Read(read.Share)
		rests.Add(child("left out", had), Key{ID: 2})
		picks, toRead := Choose(rests.Append([]*Lane{read}), Ask{Max: 1})
		if (len(toRead) == 1 && rests.Has(toRead[0])) != asked || (len(picks) == 1) == asked {
			t.Errorf("beside one that has had %v it picked %v and asked for %v", had, picks, toRead)
		}
	}
}

func TestALaneThatIsReadOnDoesNotAskForTheRest(t *testing.T) {
	shares := NewPastStarts().Open()
	short := &Lane{ID: 1, Share: shares.Of(alone("a", 9)), Keys: []Key{{ID: 1}}}
	rests := Rests{}
	b := shares.Of(alone("b", 1))
	b.Of.Had = 5 * startCost
	rests.Add(b, Key{ID: 2})
	if _, toRead := Choose(rests.Append([]*Lane{short}), Ask{Max: 2}); len(toRead) != 1 || toRead[0] != short {
		t.Errorf("asked for %v", toRead)
	}
}
