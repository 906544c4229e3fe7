package postgres

import (
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/dispatch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// What is remembered of many lanes must not hide what there is. Each of these
// was wrong once.

// manyLaned is a store with jobs in many lanes.
func manyLaned(t *testing.T) (*limitTest, []*fairlead.Job) {
	l := newLimitTest(t)
	jobs := lanesOfJobs(manyLanes + 50)
	l.ok(fairlead.NewClient(l.store).Enqueue(t.Context(), jobs...))
	return l, jobs
}

// drained is the same after all of them were claimed.
func drained(t *testing.T) *limitTest {
	l, _ := manyLaned(t)
	for len(claimOf(t, l.store, l.node, 500)) > 0 {
		continue
	}
	return l
}

func TestAClaimOfSuspectsDoesNotHideOtherJobs(t *testing.T) {
	l, jobs := manyLaned(t)
	l.ok(l.store.SetLimit(t.Context(), fairlead.Limit{Scope: fairlead.LimitGlobal, MaxRunning: len(jobs) + 1}))
	claimOf(t, l.store, l.node, 10)
	_, err := l.store.Claim(t.Context(), driver.Claim{Node: l.node, Scope: &driver.Scope{Kinds: []string{"a"}}, Max: 1, Solo: true})
	l.ok(err)
	if got := claimOf(t, l.store, l.node, 10); len(got) != 10 {
		t.Errorf("%d of %d jobs were claimed, want 10", len(got), len(jobs)-10)
	}
}

func TestJobsThatOthersTookDoNotHideOthers(t *testing.T) {
	l, _ := manyLaned(t)
	there := open(t, l.at, Options{})
	l.ok(l.store.SetLimit(t.Context(), fairlead.Limit{Scope: fairlead.LimitGlobal, MaxRunning: 102}))
	other, err := there.Join(t.Context(), fairlead.Node{}, time.Hour)
	l.ok(err)
	claimOf(t, l.store, l.node, 1)
	claimOf(t, there, other, 100)
	if got := claimOf(t, l.store, l.node, 10); len(got) != 1 {
		t.Errorf("%d jobs were claimed though one slot was free", len(got))
	}
}

func TestNoRoomIsLeftToJobsOfOthersThatAreGone(t *testing.T) {
	l := drained(t)
	there := open(t, l.at, Options{})
	exec(t, l.at, "delete from fairlead_running")
	other, err := there.Join(t.Context(), fairlead.Node{Kinds: []string{"b"}}, time.Hour)
	l.ok(err)
	_, err = there.Beat(t.Context(), driver.Beat{Node: other, Lease: time.Hour, Idle: 5})
	l.ok(err)
	l.ok(l.store.SetLimit(t.Context(), fairlead.Limit{Scope: fairlead.LimitGlobal, MaxRunning: 1}))
	early := &fairlead.Job{Kind: "b", Tenant: "t3", StartBy: time.Now().Add(-time.Hour)}
	l.ok(fairlead.NewClient(l.store).Enqueue(t.Context(), early, &fairlead.Job{Kind: "a", Tenant: "t7"}))
	if got := claimOf(t, l.store, l.node, 10); len(got) != 0 {
		t.Fatal("the slot was not left to the earlier job")
	}
	got, err := there.Claim(t.Context(), driver.Claim{Node: other, Scope: &driver.Scope{Kinds: []string{"b"}}, Max: 10})
	l.ok(err)
	_, err = there.Settle(t.Context(), []fairlead.Settlement{{ID: got[0].ID, Fence: got[0].Fence, Move: fairlead.Succeed}})
	l.ok(err)
	if got := claimOf(t, l.store, l.node, 10); len(got) != 1 {
		t.Errorf("%d jobs were claimed after the earlier one had ended", len(got))
	}
}

func TestAJobThatWasLockedIsFoundOnceItIsNot(t *testing.T) {
	l := drained(t)
	l.ok(fairlead.NewClient(l.store).Enqueue(t.Context(), &fairlead.Job{Kind: "a", Tenant: "t7"}))
	tx := l.begin("select from fairlead_ready for update")
	if got := claimOf(t, l.store, l.node, 10); len(got) != 0 {
		t.Fatal("a locked job was claimed")
	}
	l.ok(tx.Rollback(t.Context()))
	if got := claimOf(t, l.store, l.node, 10); len(got) != 1 {
		t.Errorf("%d jobs were claimed", len(got))
	}
}

func TestWhatAnEarlierClaimKnowsDoesNotReplaceALaterLook(t *testing.T) {
	h, now, lanes := &laneHeads{}, time.Now(), []openLane{{id: 1}}
	seen := func(version uint64, ids ...int64) []*busyLane {
		lane := &busyLane{version: version}
		lane.ID, lane.All = 1, true
		for _, id := range ids {
			lane.Keys = append(lane.Keys, dispatch.Key{ID: id})
		}
		return []*busyLane{lane}
	}
	look := func(ids ...int64) {
		_, doubts := h.split(lanes, now, nil, nil)
		for _, d := range doubts {
			h.learn(seen(d.version, ids...), now)
		}
	}
	look(1)
	early, doubts := h.split(lanes, now, nil, nil)
	if len(doubts) > 0 {
		t.Fatal("the lane is not known")
	}
	h.touch(1) // job 2 comes
	look(1, 2)
	h.pass(seen(early[0].version, 1), map[int64]bool{1: true})
	if got, doubts := h.split(lanes, now, nil, nil); len(got)+len(doubts) == 0 {
		t.Error("job 2 is overlooked")
	}
}

func TestNewsDuringASurveyIsNotLost(t *testing.T) {
	h, now, lanes := &laneHeads{}, time.Now(), []openLane{{id: 1}, {id: 2}, {id: 3}}
	_, doubts := h.split(lanes, now, nil, nil)
	h.touch(1)                                    // job 1 comes behind the survey's back
	_, later := h.split(lanes[2:], now, nil, nil) // another claim looks into lane 3
	h.clear(doubts, now)
	busy, doubts := h.split(lanes, now, nil, nil)
	if len(busy) != 0 || len(doubts) != 2 || doubts[0].open.id != 1 || doubts[1].open.id != 3 {
		t.Errorf("after the survey %d lanes have jobs and %v are in doubt", len(busy), doubts)
	}
	h.clear(later, now)
	if _, doubts := h.split(lanes[2:], now, nil, nil); len(doubts) != 1 {
		t.Error("what an earlier look saw is trusted")
	}
}

func TestMarksAreUsedAmongManyLanes(t *testing.T) {
	l := drained(t)
	l.store.laneCursors.after, l.store.laneCursors.trail = 100, 0
	var hot int32
	for range 10 {
		jobs := make([]*fairlead.Job, 100)
		for i := range jobs {
			jobs[i] = &fairlead.Job{Kind: "a", Tenant: "t0"}
		}
		l.ok(fairlead.NewClient(l.store).Enqueue(t.Context(), jobs...))
		for n := 0; n < len(jobs); {
			n += len(claimOf(t, l.store, l.node, 50))
		}
	}
	for _, lane := range l.store.lanes.Known() {
		if lane.Tenant == "t0" {
			hot = lane.ID
		}
	}
	if o := l.store.laneCursors.begin(cursorLane{hot, false}, time.Now()); o.whole() {
		t.Error("after 1000 jobs a look into the lane begins at its front")
	}
}

func TestLanesThatExistUseUpNoIDs(t *testing.T) {
	l := newLimitTest(t)
	for range 5 {
		l.ok(fairlead.NewClient(open(t, l.at, Options{})).Enqueue(t.Context(), lanesOfJobs(100)...))
	}
	job := &fairlead.Job{Kind: "a", Tenant: "new"}
	l.ok(fairlead.NewClient(l.store).Enqueue(t.Context(), job))
	if id, _ := l.store.lanes.ID(sqlstore.KeyOf(job)); id > 110 {
		t.Errorf("the 101st lane has id %d", id)
	}
}
