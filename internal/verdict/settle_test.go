package verdict

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
)

var at = time.Date(2031, 2, 3, 4, 5, 6, 0, time.UTC)

// said returns a settlement with all fields that any move can have.
func said(move fairlead.Move) *fairlead.Settlement {
	return &fairlead.Settlement{
		ID: 5, Fence: 9, Move: move, After: time.Second, At: at, Output: json.RawMessage(`1`), Reason: fairlead.ReasonTimeout, Error: "slow",
		Memo: json.RawMessage(`"m"`), FreeKey: true,
	}
}

func TestASettlementTakesWhatBelongsToItsMove(t *testing.T) {
	for move, want := range map[fairlead.Move]Next{
		fairlead.Succeed:     {State: fairlead.Succeeded, Output: json.RawMessage(`1`), FreeKey: true},
		fairlead.Fail:        {State: fairlead.Failed, Reason: fairlead.ReasonTimeout, Error: "slow", Failed: true, FreeKey: true},
		fairlead.Drop:        {State: fairlead.Cancelled, Reason: fairlead.ReasonTimeout, Error: "slow", FreeKey: true},
		fairlead.Again:       {State: fairlead.Ready, Reason: fairlead.ReasonTimeout, Error: "slow", Failed: true, After: time.Second, At: at},
		fairlead.Snooze:      {State: fairlead.Ready, After: time.Second, At: at},
		fairlead.MoveRelease: {State: fairlead.Ready, Unused: true, Begun: true},
		fairlead.MoveAwait:   {State: fairlead.Waiting, After: time.Second},
	} {
		got, settled := Settle(said(move), nil)
		if !reflect.DeepEqual(got, want) || settled != fairlead.SettledAsAsked {
			t.Errorf("%s comes to\n     %+v, %d\nwant %+v", move, got, settled, want)
		}
	}
}

func TestAWishEndsWhatWouldGoOnAndWhatIsDropped(t *testing.T) {
	wish, asked := "unwanted", map[fairlead.Move]bool{fairlead.Succeed: true, fairlead.Fail: true}
	for _, move := range moves {
		next, settled := Settle(said(move), &wish)
		if asked[move] != (settled == fairlead.SettledAsAsked) {
			t.Errorf("%s of a job that was asked to stop is settled as %d", move, settled)
		}
		if want := Cancel(wish); !asked[move] && !reflect.DeepEqual(next, want) {
			t.Errorf("%s of a job that was asked to stop comes to\n     %+v\nwant %+v", move, next, want)
		}
	}
}

func TestAnUnknownMoveIsRefusedWithAllOthers(t *testing.T) {
	var all []fairlead.Settlement
	for _, move := range moves {
		all = append(all, *said(move))
	}
	if err := CheckMoves(all); err != nil {
		t.Error(err)
	}
	err := CheckMoves(append(all, *said("vanish")))
	want := `invalid: move: is "vanish" for job 5; it must be succeed, fail, drop, again, snooze, release or await`
	if !errors.Is(err, fairlead.ErrInvalid) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestAnEarlyAnswerCountsInsteadOfAWishToWait(t *testing.T) {
	answer := &fairlead.Settlement{Move: fairlead.Fail, Reason: fairlead.ReasonError, Error: "no", Progress: json.RawMessage(`2`)}
	asked := said(fairlead.MoveAwait)
	asked.Progress = json.RawMessage(`1`)
	want := fairlead.Settlement{
		ID: 5, Fence: 9, Move: fairlead.Fail, Reason: fairlead.ReasonError, Error: "no", FreeKey: true,
		Memo: json.RawMessage(`"m"`), Progress: json.RawMessage(`2`),
	}
	if got := Early(asked, answer); !reflect.DeepEqual(*got, want) {
		t.Errorf("it counts as\n     %+v\nwant %+v", *got, want)
	}
	if got := Early(asked, nil); got != asked {
		t.Errorf("without an answer it counts as %+v", *got)
	}
	for _, move := range moves {
		if other := said(move); move != fairlead.MoveAwait && Early(other, answer) != other {
			t.Errorf("an answer counts instead of %s", move)
		}
	}
}

func TestOnlyARunningJobOfTheFenceIsMoved(t *testing.T) {
	for _, state := range append(live, ended...) {
		for _, fence := range []int64{8, 9, 10} {
			want := state == fairlead.Running && fence == 9
			if got := Current(said(fairlead.Succeed), state, fence); got != want {
				t.Errorf("a %s job of fence %d is moved: %v", state, fence, got)
			}
		}
	}
}

func TestARepeatedSettlementIsOkUnlessAnotherEndedTheJob(t *testing.T) {
	states := []fairlead.State{"", fairlead.Ready, fairlead.Running, fairlead.Waiting, fairlead.Succeeded, fairlead.Failed, fairlead.Cancelled, fairlead.Skipped}
	for _, move := range moves {
		for _, end := range states {
			ok := end.Final() && (end != fairlead.Succeeded || move == fairlead.Succeed || move == fairlead.MoveAwait)
			if got := Missed(said(move), end, false); (got == fairlead.SettledAsAsked) != ok {
				t.Errorf("%s of a job that its fence left %q is settled as %d", move, end, got)
			}
			if got := Missed(said(move), end, true); got != fairlead.SettledLost {
				t.Errorf("%s counts again in a caller's transaction: %d", move, got)
			}
		}
	}
	never := said(fairlead.Succeed)
	never.Fence = 0
	if got := Missed(never, fairlead.Succeeded, false); got != fairlead.SettledLost {
		t.Errorf("a settlement without a fence is settled as %d", got)
	}
}

func TestARefusedReplacementFailsItsJob(t *testing.T) {
	asked := said(fairlead.Succeed)
	asked.Replace = &fairlead.Job{}
	if !Replaces(asked) || Succeeds(asked) || Plain(asked) {
		t.Error("a success that enqueues another job counts as a mere success")
	}
	for _, move := range moves {
		if other := said(move); move != fairlead.Succeed {
			if other.Replace = asked.Replace; Replaces(other) {
				t.Errorf("%s enqueues another job", move)
			}
		}
	}
	refusal := fmt.Errorf("key taken: %w", fairlead.ErrConflict)
	failed := Refused(asked, refusal)
	want := Next{State: fairlead.Failed, Reason: fairlead.ReasonError, Error: "its replacement was refused: key taken: conflict", Failed: true, FreeKey: true}
	if got := Apply(&failed); !reflect.DeepEqual(got, want) || failed.Replace != nil || asked.Replace == nil {
		t.Errorf("it comes to\n     %+v\nwant %+v", got, want)
	}
	if !RefusesReplacement(refusal) || !RefusesReplacement(fairlead.ErrInvalid) || RefusesReplacement(fairlead.ErrUnavailable) || RefusesReplacement(nil) {
		t.Error("what refuses a replacement is not what can never be stored")
	}
}

func TestAPlainSuccessBringsNothing(t *testing.T) {
	if !Plain(&fairlead.Settlement{Move: fairlead.Succeed}) {
		t.Error("a mere success is not plain")
	}
	for what, s := range map[string]fairlead.Settlement{
		"a failure":  {Move: fairlead.Fail},
		"a key":      {Move: fairlead.Succeed, FreeKey: true},
		"an output":  {Move: fairlead.Succeed, Output: json.RawMessage(`1`)},
		"a memo":     {Move: fairlead.Succeed, Memo: json.RawMessage(`1`)},
		"a progress": {Move: fairlead.Succeed, Progress: json.RawMessage(`1`)},
	} {
		if Plain(&s) {
			t.Errorf("%s is plain", what)
		}
	}
}
