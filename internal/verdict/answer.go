package verdict

import (
	"bytes"
	"errors"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// Answer validates an answer for a waiting job and keeps only the fields that apply to the
// answer's move. It returns ErrInvalid if the move is not a valid answer.
func Answer(given *fairlead.Settlement) (fairlead.Settlement, error) {
	if err := checkAnswer(given); err != nil {
		return fairlead.Settlement{}, err
	}
	answer := fairlead.Settlement{
		ID: given.ID, Fence: given.Fence, Move: given.Move, Memo: given.Memo, Progress: given.Progress, FreeKey: true,
	}
	switch given.Move {
	case fairlead.Succeed:
		answer.Output = given.Output
	case fairlead.Fail:
		answer.Final, answer.Reason, answer.Error = given.Final, given.Reason, given.Error
	case fairlead.Again:
		answer.After, answer.At = given.After, given.At
		answer.Reason, answer.Error = given.Reason, given.Error
	}
	return answer, nil
}

// JobState is a job's state at the time when an answer or an extension arrives. It is read
// from the job's locked row.
type JobState struct {
	ID    int64
	State fairlead.State
	Fence int64 // fence of the current run or the run that ended the job, else 0

	Deadline, Now int64                // while waiting, in microseconds
	Retry         *time.Duration       // while waiting: the pause set by the Await
	Answer        *fairlead.Settlement // while running: an answer that came early

	Reason fairlead.Reason // reason of the end
	Error  string
	Output []byte
}

// Reply is the result of an answer that was not rejected.
type Reply int

// Values of Reply.
const (
	Counts   Reply = iota // the job makes the answer's move
	Kept                  // the answer is stored until the job waits
	Repeated              // the answer has already taken effect
	Stale                 // its run has ended; Recorded reports whether this answer ended it
)

// Resolve decides what to do with an answer. It returns ErrExpired if the deadline has passed,
// and ErrConflict if the job already has a different answer.
func (at *JobState) Resolve(answer *fairlead.Settlement) (Reply, error) {
	switch {
	case at.Fence != answer.Fence || at.Fence == 0: // a job that never ran has no fence
		return Stale, nil
	case at.late():
		return 0, deadlinePassed(at.ID)
	case at.State == fairlead.Waiting:
		return Counts, nil
	case at.State == fairlead.Running && at.Answer == nil:
		return Kept, nil
	case at.State == fairlead.Running && sameAnswer(at.Answer, answer), at.endedBy(answer):
		return Repeated, nil
	}
	return 0, answeredDifferently(at.ID)
}

// Apply returns the waiting job's next state after an accepted answer.
func (at *JobState) Apply(answer *fairlead.Settlement) Next { return Apply(retried(answer, at.Retry)) }

// retried returns the effective answer: if the wait has a retry pause, a failure that is
// not final becomes a retry.
func retried(answer *fairlead.Settlement, retry *time.Duration) *fairlead.Settlement {
	if answer.Move != fairlead.Fail || answer.Final || retry == nil {
		return answer
	}
	again := *answer
	again.Move, again.After, again.At = fairlead.Again, *retry, time.Time{}
	return &again
}

// late reports whether the deadline of the job has passed. An answer exactly at the
// deadline is still accepted.
func (at *JobState) late() bool {
	return at.State == fairlead.Waiting && at.Now > at.Deadline || at.State == fairlead.Failed && at.Reason == fairlead.ReasonDeadline
}

// endedBy reports whether the job ended as an answer specifies.
func (at *JobState) endedBy(answer *fairlead.Settlement) bool {
	end := Apply(answer)
	return at.State.Final() && at.State == end.State && at.Reason == end.Reason && at.Error == end.Error && bytes.Equal(at.Output, end.Output)
}

func sameAnswer(a, b *fairlead.Settlement) bool {
	return a.Move == b.Move && a.Final == b.Final && a.After == b.After && a.At.Equal(b.At) && a.Reason == b.Reason && a.Error == b.Error &&
		bytes.Equal(a.Output, b.Output) && bytes.Equal(a.Memo, b.Memo) && bytes.Equal(a.Progress, b.Progress)
}

// Recorded checks an answer whose run has already ended. found, reason and text come from the
// record of that run in the job's history. Recorded accepts the answer if it repeats the one
// that ended the run with a retry, even if the job has since started another run or ended. It
// returns ErrExpired if the deadline ended the run, and ErrLeaseLost otherwise.
func Recorded(answer *fairlead.Settlement, found bool, reason fairlead.Reason, text string) error {
	again := answer.Move == fairlead.Again || answer.Move == fairlead.Fail && !answer.Final
	switch {
	case found && again && reason == answer.Reason && text == answer.Error:
		return nil
	case found && reason == fairlead.ReasonDeadline:
		return deadlinePassed(answer.ID)
	}
	return driver.LeaseLost(answer.ID)
}

// Extend checks whether a report under the given fence may extend the job's wait. It returns
// ErrLeaseLost if the fence is not the job's, ErrExpired after the deadline, and ErrConflict
// if the job has already been answered.
func (at *JobState) Extend(fence int64) error {
	switch {
	case at.Fence != fence || at.Fence == 0: // a job that never ran has no fence
		return driver.LeaseLost(at.ID)
	case at.late():
		return deadlinePassed(at.ID)
	case at.State.Final() || at.Answer != nil:
		return answeredAlready(at.ID)
	}
	return nil
}

// Extended returns a waiting job's deadline after an extension. An extension never moves the
// deadline to an earlier time. waits is false if the job does not wait yet and therefore has
// no deadline.
func (at *JobState) Extended(e *fairlead.Extension) (deadline int64, waits bool) {
	if at.State != fairlead.Waiting {
		return 0, false
	}
	return max(at.Deadline, at.Now+e.For.Microseconds()), true
}

// errNoAnswer is the error of a wait without an answer.
var errNoAnswer = errors.New("no answer arrived before the deadline")

// Overdue reports whether the job is waiting under the given fence and its deadline has
// passed.
func (at *JobState) Overdue(fence int64) bool {
	return at.State == fairlead.Waiting && at.Fence == fence && at.late()
}

// Expire returns the next state of a waiting job whose deadline has passed. If the job's Await
// has set a retry pause, the job runs again after the pause. Otherwise, the job fails.
func Expire(retry *time.Duration) Next {
	none := fairlead.Settlement{Move: fairlead.Fail, Reason: fairlead.ReasonDeadline, Error: errNoAnswer.Error(), FreeKey: true}
	return Apply(retried(&none, retry))
}
