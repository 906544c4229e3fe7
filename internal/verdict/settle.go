package verdict

import (
	"encoding/json"
	"time"

	"github.com/fairlead-io/fairlead"
)

// Next is what becomes of a job. Stores carry it out; they do not decide.
type Next struct {
	// State is Succeeded, Failed or Cancelled if the job ends and Waiting if it waits
	// for an answer. Ready means that it waits for another run: Where says in which
	// state, once the store knows the time and the gate.
	State  fairlead.State
	Reason fairlead.Reason // of the end, and of the run if that is recorded
	Error  string          // likewise
	Output json.RawMessage // of a success

	Failed bool // the run is recorded and counts as a failure
	Unused bool // the run does not count: its attempt number is used again
	Begun  bool // of an Unused run: its handler had begun, so the job stays marked as started

	After time.Duration // until the next run is due, or the answer
	At    time.Time     // when the next run is due, instead of After

	Retry *time.Duration // of a wait: the pause before another run if the wait fails; nil: that ends the job

	FreeKey bool // the job may have a key or a place at a gate to give back; it ends
}

// Settle decides what becomes of a running job whose handler has decided. wish is why
// the job was asked to stop, nil if it was not. A success and a failure keep their true
// outcome; a wish ends every job that would go on otherwise.
func Settle(s *fairlead.Settlement, wish *string) (Next, fairlead.Settled) {
	if wish != nil && s.Move != fairlead.Succeed && s.Move != fairlead.Fail {
		return Cancel(*wish), fairlead.SettledCancelled
	}
	return Apply(s), fairlead.SettledAsAsked
}

// Apply is what a settlement, or an answer, makes of a running or waiting job that was
// not asked to stop. CheckMoves has refused unknown moves.
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

// GoesOn reports whether a settlement lets the job go on: it waits for another run or for
// an answer unless it was asked to stop.
func GoesOn(s *fairlead.Settlement) bool { return !Apply(s).State.Final() }

// Waits reports whether a settlement wants its job to wait for an answer.
func Waits(s *fairlead.Settlement) bool { return s.Move == fairlead.MoveAwait }

// Plain reports whether a settlement is a success and nothing more: it brings nothing to
// keep and gives nothing back, and so can be made together with others of its fence.
func Plain(s *fairlead.Settlement) bool {
	return Succeeds(s) && !s.FreeKey && len(s.Output) == 0 && len(s.Memo) == 0 && len(s.Progress) == 0
}

// Succeeds reports whether a settlement ends its job as succeeded and enqueues no other.
func Succeeds(s *fairlead.Settlement) bool { return s.Move == fairlead.Succeed && s.Replace == nil }

// Replaces reports whether another job is enqueued with the end of this one.
func Replaces(s *fairlead.Settlement) bool { return s.Move == fairlead.Succeed && s.Replace != nil }

// Refused is the settlement that counts instead of one whose replacement cannot be
// stored: the job has not done what it meant to do, and fails.
func Refused(s *fairlead.Settlement, refusal error) fairlead.Settlement {
	failed := *s
	failed.Move, failed.Output, failed.Replace = fairlead.Fail, nil, nil
	failed.Reason, failed.Error = fairlead.ReasonError, "its replacement was refused: "+refusal.Error()
	return failed
}

// Early is the settlement that counts when an answer came before it: the answer instead
// of a wish to wait for it, with what the handler keeps unless the answer says otherwise.
// Any other settlement stays as it is. answer is nil if none came.
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

// Current reports whether a settlement speaks for the run that a job is in: it is running
// under the settlement's fence. Otherwise Missed answers.
func Current(s *fairlead.Settlement, state fairlead.State, fence int64) bool {
	return state == fairlead.Running && fence == s.Fence
}

// Missed answers a settlement that found its job not running under its fence. end is the
// state in which this fence ended the job, empty if it did not. Then it was this very
// settlement, whose answer was lost, unless another must have ended the job. In a
// caller's transaction it does not count again, or what the caller did beside it would
// be committed twice.
func Missed(s *fairlead.Settlement, end fairlead.State, callers bool) fairlead.Settled {
	if callers || s.Fence == 0 || !mayHaveLedTo(s.Move, end) { // a job that never ran has no fence
		return fairlead.SettledLost
	}
	return fairlead.SettledAsAsked
}

// mayHaveLedTo reports whether a job can have ended in a state because of a settlement
// with this move. Only a success makes a job succeed: otherwise its handler has completed
// it in a transaction and failed afterwards. (One that wanted to wait was answered.)
func mayHaveLedTo(move fairlead.Move, end fairlead.State) bool {
	return end.Final() && (end != fairlead.Succeeded || move == fairlead.Succeed || move == fairlead.MoveAwait)
}
