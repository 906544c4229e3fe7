package verdict

import (
	"bytes"
	"errors"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// Answer is what counts of an answer for a waiting job: what belongs to its move. It
// fails with ErrInvalid if no target can give it.
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

// Standing is how a job stands when something is heard of it: what its locked row says.
type Standing struct {
	ID    int64
	State fairlead.State
	Fence int64 // of the run that it is in or ended by, else 0

	Deadline, Now int64                // while waiting, in microseconds
	Retry         *time.Duration       // while waiting: as the Await said
	Answer        *fairlead.Settlement // while running: the answer that came early

	Reason fairlead.Reason // of the end
	Error  string
	Output []byte
}

// Reply is what becomes of an answer that is not refused.
type Reply int

// What can become of an answer.
const (
	Counts   Reply = iota // the job moves as it says
	Kept                  // it is kept until the job waits
	Repeated              // it counted before
	Stale                 // its run is over: Recorded reports whether it was the answer that ended it
)

// Resolve decides what becomes of an answer.
func (at *Standing) Resolve(answer *fairlead.Settlement) (Reply, error) {
	switch {
	case at.Fence != answer.Fence || at.Fence == 0: // a job that never ran has none
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

// Apply is what an answer that counts makes of the waiting job.
func (at *Standing) Apply(answer *fairlead.Settlement) Next { return Apply(retried(answer, at.Retry)) }

// retried is the answer that counts: a failure is tried again if the wait has a pause for
// that, unless it is final.
func retried(answer *fairlead.Settlement, retry *time.Duration) *fairlead.Settlement {
	if answer.Move != fairlead.Fail || answer.Final || retry == nil {
		return answer
	}
	again := *answer
	again.Move, again.After, again.At = fairlead.Again, *retry, time.Time{}
	return &again
}

// late reports whether the deadline of the job has passed. At the deadline itself an
// answer still counts.
func (at *Standing) late() bool {
	return at.State == fairlead.Waiting && at.Now > at.Deadline || at.State == fairlead.Failed && at.Reason == fairlead.ReasonDeadline
}

// endedBy reports whether the job ended as an answer says.
func (at *Standing) endedBy(answer *fairlead.Settlement) bool {
	end := Apply(answer)
	return at.State.Final() && at.State == end.State && at.Reason == end.Reason && at.Error == end.Error && bytes.Equal(at.Output, end.Output)
}

func sameAnswer(a, b *fairlead.Settlement) bool {
	return a.Move == b.Move && a.Final == b.Final && a.After == b.After && a.At.Equal(b.At) && a.Reason == b.Reason && a.Error == b.Error &&
		bytes.Equal(a.Output, b.Output) && bytes.Equal(a.Memo, b.Memo) && bytes.Equal(a.Progress, b.Progress)
}

// Recorded decides about an answer whose run is over. found, reason and text are what the
// job's history says of that run. The retry that ended it is accepted again, and so is
// the failure that led to one; the job has a new run by now, or none. If the deadline
// ended it, the answer is too late.
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

// Extend decides whether a job is one of which something can be heard under a fence.
func (at *Standing) Extend(fence int64) error {
	switch {
	case at.Fence != fence || at.Fence == 0: // a job that never ran has none
		return driver.LeaseLost(at.ID)
	case at.late():
		return deadlinePassed(at.ID)
	case at.State.Final() || at.Answer != nil:
		return answeredAlready(at.ID)
	}
	return nil
}

// Extended is the deadline of a waiting job that is given more time: it never becomes
// earlier. A job that does not wait yet has none.
func (at *Standing) Extended(e *fairlead.Extension) (deadline int64, waits bool) {
	if at.State != fairlead.Waiting {
		return 0, false
	}
	return max(at.Deadline, at.Now+e.For.Microseconds()), true
}

// errNoAnswer is the failure of a wait that was not answered.
var errNoAnswer = errors.New("no answer arrived before the deadline")

// Overdue reports whether the job waits under a fence and its deadline has passed.
func (at *Standing) Overdue(fence int64) bool {
	return at.State == fairlead.Waiting && at.Fence == fence && at.late()
}

// Expire is what becomes of a waiting job whose deadline has passed: another run after
// the pause that its Await gave for that, or its end.
func Expire(retry *time.Duration) Next {
	none := fairlead.Settlement{Move: fairlead.Fail, Reason: fairlead.ReasonDeadline, Error: errNoAnswer.Error(), FreeKey: true}
	return Apply(retried(&none, retry))
}
