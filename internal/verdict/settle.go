package verdict

import (
	"encoding/json"
	"time"

	"github.com/fairlead-io/fairlead"
)

// Next is a job's next state. Stores apply it without making any decisions.
type Next struct {
	// State is Succeeded, Failed or Cancelled if the job ends, and Waiting if it waits for
	// an answer. Ready means that it waits for another run: Where returns the exact state,
	// once the store knows the time and the gate.
	State  fairlead.State
	Reason fairlead.Reason // reason of the end, and of the run if it is recorded
	Error  string          // error of the end and of the run
	Output json.RawMessage // output of a success

	Failed bool // the run is recorded and counts as a failure
	Unused bool // the run does not count: its attempt number is reused
	Begun  bool // for an Unused run: its handler had begun, so the job stays marked as started

	After time.Duration // delay until the next run is due or the answer must arrive
	At    time.Time     // time at which the next run is due, instead of After

	Retry *time.Duration // for a wait: the pause before another run if the wait fails; nil ends the job

	FreeKey bool // the job ends, and may have a key or a place at a gate to release
}

// Settle decides what happens to a running job after its handler has returned. wish is the
// reason of a request to stop the job, or nil. A stop request does not change a success or a
// failure, but it ends any job that would otherwise continue.
func Settle(s *fairlead.Settlement, wish *string) (Next, fairlead.Settled) {
	if wish != nil && s.Move != fairlead.Succeed && s.Move != fairlead.Fail {
		return Cancel(*wish), fairlead.SettledCancelled
	}
	return Apply(s), fairlead.SettledAsAsked
}

// Apply returns a job's next state after a settlement or an answer. The job must be running or
// waiting, without a request to stop. CheckMoves must have rejected unknown moves.
func Apply(s *fairlead.Settlement) Next {
	switch s.Move {
	case fairlead.Succeed:
		return Next{State: fairlead.Succeeded, Output: s.Output, FreeKey: s.FreeKey}
	case fairlead.Fail:
		return Next{State: fairlead.Failed, Reason: s.Reason, Error: s.Error, Failed: true, FreeKey: s.FreeKey}
	case fairlead.Drop:
		return Next{State: fairlead.Cancelled, Reason: s.Reason, Error: s.Error, FreeKey: s.FreeKey}
	case fairlead.Again:
		return Next{State: fairlead.Ready, Reason: s.Reason, Error: s.Error, Failed: true, After: s.After, At: s.At}
	case fairlead.Snooze:
		return Next{State: fairlead.Ready, After: s.After, At: s.At}
	case fairlead.MoveAwait:
		return Next{State: fairlead.Waiting, After: s.After, Retry: s.Retry}
	default: // MoveRelease
		return Next{State: fairlead.Ready, Unused: true, Begun: !s.Unstarted}
	}
}

// GoesOn reports whether the job continues after a settlement, that is, waits for another run
// or for an answer. It does not consider stop requests.
func GoesOn(s *fairlead.Settlement) bool { return !Apply(s).State.Final() }

// Waits reports whether a settlement makes its job wait for an answer.
func Waits(s *fairlead.Settlement) bool { return s.Move == fairlead.MoveAwait }

// Plain reports whether a settlement is a success and nothing else: it has no data to store,
// and no key or place to release. It can then be combined with other settlements.
func Plain(s *fairlead.Settlement) bool {
	return Succeeds(s) && !s.FreeKey && len(s.Output) == 0 && len(s.Memo) == 0 && len(s.Progress) == 0
}

// Succeeds reports whether a settlement ends its job as succeeded without enqueuing a
// replacement.
func Succeeds(s *fairlead.Settlement) bool { return s.Move == fairlead.Succeed && s.Replace == nil }

// Replaces reports whether a settlement ends its job and enqueues a replacement.
func Replaces(s *fairlead.Settlement) bool { return s.Move == fairlead.Succeed && s.Replace != nil }

// Refused returns the settlement that takes effect if a job's replacement cannot be stored.
// The job fails, because its work has not been done.
func Refused(s *fairlead.Settlement, refusal error) fairlead.Settlement {
	failed := *s
	failed.Move, failed.Output, failed.Replace = fairlead.Fail, nil, nil
	failed.Reason, failed.Error = fairlead.ReasonError, "its replacement was refused: "+refusal.Error()
	return failed
}

// Early returns the settlement that takes effect if an answer arrived before the job waited
// for it. If s would make the job wait, Early returns the answer. The answer's memo and
// progress take precedence over those in s. Early returns any other settlement unchanged, and
// also returns s unchanged if answer is nil.
func Early(s, answer *fairlead.Settlement) *fairlead.Settlement {
	if !Waits(s) || answer == nil {
		return s
	}
	early := *retried(answer, s.Retry)
	early.ID, early.Fence, early.FreeKey = s.ID, s.Fence, true
	if early.Memo == nil {
		early.Memo = s.Memo
	}
	if early.Progress == nil {
		early.Progress = s.Progress
	}
	return &early
}

// Current reports whether a settlement applies to a job's current run: the job is running,
// under the settlement's fence. If Current returns false, call Missed.
func Current(s *fairlead.Settlement, state fairlead.State, fence int64) bool {
	return state == fairlead.Running && fence == s.Fence
}

// Missed returns the result of a settlement whose job was not running under the settlement's
// fence. end is the state in which the job ended under this fence, or empty if it did not. If
// the settlement can have caused this end, Missed assumes that it did and that its response
// was lost. In a caller's transaction, the settlement is always lost. Otherwise, the caller's
// own changes in the transaction would be committed twice.
func Missed(s *fairlead.Settlement, end fairlead.State, callers bool) fairlead.Settled {
	if callers || s.Fence == 0 || !mayHaveLedTo(s.Move, end) { // a job that never ran has no fence
		return fairlead.SettledLost
	}
	return fairlead.SettledAsAsked
}

// mayHaveLedTo reports whether a settlement with this move can have ended a job in a state.
// Only a success makes a job succeed: otherwise its handler has completed the job in a
// transaction and failed afterwards. A settlement that wanted to wait was answered.
func mayHaveLedTo(move fairlead.Move, end fairlead.State) bool {
	return end.Final() && (end != fairlead.Succeeded || move == fairlead.Succeed || move == fairlead.MoveAwait)
}
