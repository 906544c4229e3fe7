package verdict

import (
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

func TestTakeBack(t *testing.T) {
	wish := "unwanted"
	crashed := Loss{RunReason: fairlead.ReasonCrash, RunError: "node 7 died", Crashes: 3}
	heard := time.Date(2026, 11, 17, 16, 23, 26, 999_999_000, time.UTC)
	dated := Loss{RunReason: fairlead.ReasonCrash, RunError: "node 7 died; it was last heard of 2026-11-17T16:23:26Z", Crashes: 3}
	lost := Loss{RunReason: fairlead.ReasonLeaseLost, RunError: "node 7 lost its lease but stayed alive", Crashes: 2}
	late := Loss{RunReason: fairlead.ReasonLeaseLost, RunError: "node 7 was marked dead before its claim committed; the job did not start", Crashes: 2}
	for _, c := range []struct {
		name   string
		orphan Orphan
		most   int
		loss   Loss
		next   Next
		counts driver.Reaped
	}{
		{"it runs again", Orphan{}, 4, crashed, Next{State: fairlead.Ready}, driver.Reaped{Jobs: 1}},
		{"the crash that reaches the most poisons it", Orphan{}, 3, crashed, Next{State: fairlead.Failed, Reason: fairlead.ReasonPoison, Error: "it was running during 3 crashes without progress", FreeKey: true}, driver.Reaped{Poisoned: 1}},
		{"a wish ends it whatever its crashes", Orphan{Wish: &wish, CancelOnCrash: true}, 2, crashed, Cancel(wish), driver.Reaped{Cancelled: 1}},
		{"its own choice ends it whatever its crashes", Orphan{CancelOnCrash: true}, 2, crashed, Next{State: fairlead.Cancelled, Reason: fairlead.ReasonCrash, Error: "node 7 died", FreeKey: true}, driver.Reaped{Cancelled: 1}},
		{"its crash says when the node was last heard of", Orphan{Heard: heard}, 4, dated, Next{State: fairlead.Ready}, driver.Reaped{Jobs: 1}},
		{"a node that lived has not crashed", Orphan{Lived: true}, 1, lost, Next{State: fairlead.Ready}, driver.Reaped{Jobs: 1}},
		{"a wish ends it though its node lived", Orphan{Lived: true, Wish: &wish}, 2, lost, Cancel(wish), driver.Reaped{Cancelled: 1}},
		{"a late claim is no crash", Orphan{Late: true, Heard: heard}, 1, late, Next{State: fairlead.Ready}, driver.Reaped{Jobs: 1}},
		{"a late claim is no crash of a node that lived", Orphan{Late: true, Lived: true}, 1, late, Next{State: fairlead.Ready}, driver.Reaped{Jobs: 1}},
		{"its own choice does not end a job that did not start", Orphan{Late: true, CancelOnCrash: true}, 2, late, Next{State: fairlead.Ready}, driver.Reaped{Jobs: 1}},
		{"a wish ends a job that did not start", Orphan{Late: true, Wish: &wish}, 2, late, Cancel(wish), driver.Reaped{Cancelled: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.orphan.Node, c.orphan.Crashes = 7, 2
			c.loss.Next = c.next
			c.loss.Revocable = c.next.State == fairlead.Ready && !c.orphan.Lived && !c.orphan.Late
			got := TakeBack(c.orphan, c.most)
			if !reflect.DeepEqual(got, c.loss) {
				t.Errorf("got  %+v\nwant %+v", got, c.loss)
			}
			var counts driver.Reaped
			if got.Count(&counts); counts != c.counts {
				t.Errorf("it counts as %+v, want %+v", counts, c.counts)
			}
		})
	}
}

func TestASuspectHasCrashedOftenEnough(t *testing.T) {
	if Suspect(driver.SoloAfter-1) || !Suspect(driver.SoloAfter) || !Suspect(driver.SoloAfter+1) {
		t.Error("suspects are not those with SoloAfter crashes")
	}
	if Uncrashed(2) != 1 || Uncrashed(0) != 0 {
		t.Error("a crash that is taken back does not count one less")
	}
}

func TestActionsAreForbiddenByTheStateOfTheJob(t *testing.T) {
	all := slices.Concat(live, ended)
	for action, allowed := range map[fairlead.Op][]fairlead.State{
		fairlead.OpCancel:      {fairlead.Scheduled, fairlead.Parked, fairlead.Ready, fairlead.Running, fairlead.Waiting},
		fairlead.OpReopen:      {fairlead.Failed, fairlead.Cancelled},
		fairlead.OpReschedule:  {fairlead.Scheduled, fairlead.Parked, fairlead.Ready},
		fairlead.OpRunNow:      {fairlead.Scheduled, fairlead.Parked, fairlead.Ready},
		fairlead.OpSetPriority: {fairlead.Scheduled, fairlead.Parked, fairlead.Ready, fairlead.Running, fairlead.Waiting},
		fairlead.OpDelete:      {fairlead.Scheduled, fairlead.Parked, fairlead.Ready, fairlead.Succeeded, fairlead.Failed, fairlead.Cancelled, fairlead.Skipped},
	} {
		for _, state := range all {
			err := Permit(action, 5, state)
			if (err == nil) != slices.Contains(allowed, state) || err != nil && !errors.Is(err, fairlead.ErrConflict) {
				t.Errorf("%s a %s job: %v", action, state, err)
			}
		}
	}
}

func TestAJobWaitsWhereItsTimeAndItsGateSay(t *testing.T) {
	for _, c := range []struct {
		due, gated, admitted bool
		want                 fairlead.State
	}{
		{false, false, false, fairlead.Scheduled},
		{false, true, true, fairlead.Scheduled},
		{true, false, false, fairlead.Ready},
		{true, true, false, fairlead.Parked},
		{true, true, true, fairlead.Ready},
	} {
		if got := Where(c.due, c.gated, c.admitted); got != c.want {
			t.Errorf("due %v, gated %v, admitted %v: %s, want %s", c.due, c.gated, c.admitted, got, c.want)
		}
	}
}

func TestStartByMovesAlongIfItWasTheDueTime(t *testing.T) {
	for was, want := range map[Times]Times{
		{StartBy: 5, NotBefore: 5, CreatedAt: 1}: {StartBy: 9, NotBefore: 9, CreatedAt: 1},
		{StartBy: 1, NotBefore: 0, CreatedAt: 1}: {StartBy: 9, NotBefore: 9, CreatedAt: 1},
		{StartBy: 6, NotBefore: 5, CreatedAt: 1}: {StartBy: 6, NotBefore: 9, CreatedAt: 1},
		{StartBy: 1, NotBefore: 5, CreatedAt: 1}: {StartBy: 1, NotBefore: 9, CreatedAt: 1},
	} {
		if got := was.MeantFor(9); got != want {
			t.Errorf("%+v becomes %+v, want %+v", was, got, want)
		}
	}
	if got, changed := (Times{StartBy: 5, NotBefore: 5}).RunNow(4); !changed || got != (Times{StartBy: 4, NotBefore: 4}) {
		t.Errorf("one that was not due has the times %+v", got)
	}
	if _, changed := (Times{StartBy: 5, NotBefore: 5}).RunNow(5); changed {
		t.Error("one that backs off is meant for another time")
	}
}
