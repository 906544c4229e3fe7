package verdict

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
)

func TestAnAnswerIsWhatBelongsToItsMove(t *testing.T) {
	memo := json.RawMessage(`"m"`)
	for move, want := range map[fairlead.Move]fairlead.Settlement{
		fairlead.Succeed: {Output: json.RawMessage(`1`)},
		fairlead.Fail:    {Reason: fairlead.ReasonTimeout, Error: "slow"},
		fairlead.Again:   {Reason: fairlead.ReasonTimeout, Error: "slow", After: time.Second, At: at},
	} {
		want.ID, want.Fence, want.Move, want.Memo, want.FreeKey = 5, 9, move, memo, true
		if got, err := Answer(said(move)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s is (%v)\n     %+v\nwant %+v", move, err, got, want)
		}
	}
	for _, move := range []fairlead.Move{fairlead.Drop, fairlead.Snooze, fairlead.MoveRelease, fairlead.MoveAwait, ""} {
		if _, err := Answer(said(move)); !errors.Is(err, fairlead.ErrInvalid) {
			t.Errorf("%q is an answer: %v", move, err)
		}
	}
}

// answerOf returns an answer in the form that stores compare.
func answerOf(t *testing.T, move fairlead.Move) *fairlead.Settlement {
	t.Helper()
	answer, err := Answer(said(move))
	if err != nil {
		t.Fatal(err)
	}
	return &answer
}

func TestResolve(t *testing.T) {
	succeed, fail, again := answerOf(t, fairlead.Succeed), answerOf(t, fairlead.Fail), answerOf(t, fairlead.Again)
	for _, c := range []struct {
		name   string
		state  JobState
		answer *fairlead.Settlement
		reply  Reply
		err    error
	}{
		{"a waiting job moves", JobState{State: fairlead.Waiting, Deadline: 10, Now: 9}, succeed, Counts, nil},
		{"at the deadline it still counts", JobState{State: fairlead.Waiting, Deadline: 10, Now: 10}, again, Counts, nil},
		{"after the deadline it is refused", JobState{State: fairlead.Waiting, Deadline: 10, Now: 11}, succeed, 0, fairlead.ErrExpired},
		{"one that expired stays so", JobState{State: fairlead.Failed, Reason: fairlead.ReasonDeadline}, fail, 0, fairlead.ErrExpired},
		{"one that runs keeps it", JobState{State: fairlead.Running}, fail, Kept, nil},
		{"the kept one again is fine", JobState{State: fairlead.Running, Answer: answerOf(t, fairlead.Again)}, again, Repeated, nil},
		{"another than the kept one conflicts", JobState{State: fairlead.Running, Answer: fail}, succeed, 0, fairlead.ErrConflict},
		{"the same success again is fine", JobState{State: fairlead.Succeeded, Output: []byte(`1`)}, succeed, Repeated, nil},
		{"another output conflicts", JobState{State: fairlead.Succeeded, Output: []byte(`2`)}, succeed, 0, fairlead.ErrConflict},
		{"the same failure again is fine", JobState{State: fairlead.Failed, Reason: fairlead.ReasonTimeout, Error: "slow"}, fail, Repeated, nil},
		{"another reason conflicts", JobState{State: fairlead.Failed, Reason: fairlead.ReasonError, Error: "slow"}, fail, 0, fairlead.ErrConflict},
		{"another text conflicts", JobState{State: fairlead.Failed, Reason: fairlead.ReasonTimeout, Error: "late"}, fail, 0, fairlead.ErrConflict},
		{"a failure of a success conflicts", JobState{State: fairlead.Succeeded}, fail, 0, fairlead.ErrConflict},
		{"a retry of what has ended conflicts", JobState{State: fairlead.Cancelled, Reason: fairlead.ReasonTimeout, Error: "slow"}, again, 0, fairlead.ErrConflict},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.state.ID, c.state.Fence = 5, 9
			reply, err := c.state.Resolve(c.answer)
			if reply != c.reply || !errors.Is(err, c.err) {
				t.Errorf("got %d, %v; want %d, %v", reply, err, c.reply, c.err)
			}
			for _, fence := range []int64{0, 8} {
				c.state.Fence = fence
				if reply, err := c.state.Resolve(c.answer); reply != Stale || err != nil {
					t.Errorf("under fence %d: got %d, %v", fence, reply, err)
				}
			}
		})
	}
}

func TestAnswersAreTheSameOnlyInAllTheySay(t *testing.T) {
	for what, change := range map[string]func(*fairlead.Settlement){
		"move":     func(s *fairlead.Settlement) { s.Move = fairlead.Fail },
		"finality": func(s *fairlead.Settlement) { s.Final = true },
		"pause":    func(s *fairlead.Settlement) { s.After++ },
		"time":     func(s *fairlead.Settlement) { s.At = s.At.Add(1) },
		"reason":   func(s *fairlead.Settlement) { s.Reason = fairlead.ReasonError },
		"text":     func(s *fairlead.Settlement) { s.Error = "" },
		"output":   func(s *fairlead.Settlement) { s.Output = json.RawMessage(`3`) },
		"memo":     func(s *fairlead.Settlement) { s.Memo = nil },
		"progress": func(s *fairlead.Settlement) { s.Progress = json.RawMessage(`3`) },
	} {
		kept, given := answerOf(t, fairlead.Again), answerOf(t, fairlead.Again)
		if !sameAnswer(kept, given) {
			t.Fatal("an answer is not the same as itself")
		}
		if change(given); sameAnswer(kept, given) {
			t.Errorf("another %s makes no other answer", what)
		}
	}
}

func TestARetryOfARunThatIsOverIsAcceptedIfItEndedTheRun(t *testing.T) {
	again := answerOf(t, fairlead.Again)
	if err := Recorded(again, true, fairlead.ReasonTimeout, "slow"); err != nil {
		t.Error(err)
	}
	if err := Recorded(answerOf(t, fairlead.Fail), true, fairlead.ReasonTimeout, "slow"); err != nil {
		t.Error("the failure that led to it:", err)
	}
	if err := Recorded(again, true, fairlead.ReasonDeadline, "no answer"); !errors.Is(err, fairlead.ErrExpired) {
		t.Error("after the deadline:", err)
	}
	for what, err := range map[string]error{
		"no record":      Recorded(again, false, fairlead.ReasonTimeout, "slow"),
		"another reason": Recorded(again, true, fairlead.ReasonCrash, "slow"),
		"another text":   Recorded(again, true, fairlead.ReasonTimeout, "late"),
		"a success":      Recorded(answerOf(t, fairlead.Succeed), true, "", ""),
		"a final one":    Recorded(&fairlead.Settlement{Move: fairlead.Fail, Final: true, Reason: fairlead.ReasonTimeout, Error: "slow"}, true, fairlead.ReasonTimeout, "slow"),
	} {
		if !errors.Is(err, fairlead.ErrLeaseLost) {
			t.Errorf("%s: got %v", what, err)
		}
	}
}

func TestExtend(t *testing.T) {
	for _, c := range []struct {
		name  string
		state JobState
		want  error
	}{
		{"a waiting job gets more time", JobState{State: fairlead.Waiting, Fence: 9, Deadline: 10, Now: 10}, nil},
		{"one that runs is heard of", JobState{State: fairlead.Running, Fence: 9}, nil},
		{"another run is over", JobState{State: fairlead.Waiting, Fence: 8, Deadline: 10, Now: 11}, fairlead.ErrLeaseLost},
		{"a job that never ran has no run", JobState{State: fairlead.Ready}, fairlead.ErrLeaseLost},
		{"after the deadline it is too late", JobState{State: fairlead.Waiting, Fence: 9, Deadline: 10, Now: 11}, fairlead.ErrExpired},
		{"one that expired is too late", JobState{State: fairlead.Failed, Fence: 9, Reason: fairlead.ReasonDeadline}, fairlead.ErrExpired},
		{"one that was answered early conflicts", JobState{State: fairlead.Running, Fence: 9, Answer: said(fairlead.Fail)}, fairlead.ErrConflict},
		{"one that has ended conflicts", JobState{State: fairlead.Succeeded, Fence: 9}, fairlead.ErrConflict},
	} {
		t.Run(c.name, func(t *testing.T) {
			fence := int64(9)
			if c.state.Fence == 0 {
				fence = 0
			}
			if err := c.state.Extend(fence); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

func TestADeadlineNeverBecomesEarlier(t *testing.T) {
	waiting := JobState{State: fairlead.Waiting, Deadline: 100, Now: 90}
	for more, want := range map[time.Duration]int64{0: 100, 5 * time.Microsecond: 100, 20 * time.Microsecond: 110} {
		if deadline, waits := waiting.Extended(&fairlead.Extension{For: more}); deadline != want || !waits {
			t.Errorf("%v more: the deadline is %d, want %d", more, deadline, want)
		}
	}
	running := JobState{State: fairlead.Running}
	if deadline, waits := running.Extended(&fairlead.Extension{For: time.Hour}); deadline != 0 || waits {
		t.Errorf("a running job has the deadline %d", deadline)
	}
}

func TestAFailureOfAWaitIsTriedAgainIfTheWaitSaysSo(t *testing.T) {
	pause := time.Minute
	final := answerOf(t, fairlead.Fail)
	final.Final = true
	ended := Next{State: fairlead.Failed, Reason: fairlead.ReasonTimeout, Error: "slow", Failed: true, FreeKey: true}
	again := Next{State: fairlead.Ready, Reason: fairlead.ReasonTimeout, Error: "slow", Failed: true, After: pause}
	for _, c := range []struct {
		name   string
		answer *fairlead.Settlement
		retry  *time.Duration
		want   Next
	}{
		{"with a pause", answerOf(t, fairlead.Fail), &pause, again},
		{"without one", answerOf(t, fairlead.Fail), nil, ended},
		{"a final one", final, &pause, ended},
		{"a success", answerOf(t, fairlead.Succeed), &pause, Next{State: fairlead.Succeeded, Output: json.RawMessage(`1`), FreeKey: true}},
		{"one with a pause of its own", answerOf(t, fairlead.Again), &pause, Next{State: fairlead.Ready, Reason: fairlead.ReasonTimeout, Error: "slow", Failed: true, After: time.Second, At: at}},
	} {
		state := JobState{State: fairlead.Waiting, Retry: c.retry}
		if got := state.Apply(c.answer); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s comes to\n     %+v\nwant %+v", c.name, got, c.want)
		}
		wait := said(fairlead.MoveAwait)
		wait.Retry = c.retry
		if got := Apply(Early(wait, c.answer)); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s that is early comes to\n     %+v\nwant %+v", c.name, got, c.want)
		}
	}
}

func TestAMissedDeadlineIsTriedAgainIfTheWaitSaysSo(t *testing.T) {
	pause := time.Minute
	if got := Expire(nil); got.State != fairlead.Failed || got.Reason != fairlead.ReasonDeadline || !got.Failed || !got.FreeKey {
		t.Errorf("without a pause it becomes %+v", got)
	}
	if got := Expire(&pause); got.State != fairlead.Ready || got.Reason != fairlead.ReasonDeadline || !got.Failed || got.FreeKey || got.After != pause {
		t.Errorf("with a pause it becomes %+v", got)
	}
	for _, c := range []struct {
		state JobState
		want  bool
	}{
		{JobState{State: fairlead.Waiting, Fence: 9, Deadline: 10, Now: 11}, true},
		{JobState{State: fairlead.Waiting, Fence: 9, Deadline: 10, Now: 10}, false},
		{JobState{State: fairlead.Waiting, Fence: 8, Deadline: 10, Now: 11}, false},
		{JobState{State: fairlead.Failed, Fence: 9, Reason: fairlead.ReasonDeadline}, false},
	} {
		if got := c.state.Overdue(9); got != c.want {
			t.Errorf("%+v is overdue: %v", c.state, got)
		}
	}
}
