package fairlead

import (
	"encoding/json"
	"errors"
	"time"
)

// Outcome is what a handler can return instead of nil or a plain error, to
// choose what becomes of its job. It is an error so that it can be returned
// and wrapped as one.
type Outcome struct {
	move    Move
	after   time.Duration
	at      time.Time
	err     error
	memo    json.RawMessage
	replace *Job
	retry   bool
}

// Fatal fails the job at once, whatever attempts are left.
func Fatal(err error) error {
	if err == nil {
		err = errors.New("fatal")
	}
	return &Outcome{move: Fail, err: err}
}

// RetryAt is a failed attempt that is tried again at a time of the handler's
// choice. It counts against MaxAttempts. A time that is further away than can be
// kept (see MaxMicros) is as far away as can be.
func RetryAt(at time.Time, err error) *Outcome { return &Outcome{move: Again, at: at, err: err} }

// RetryAfter is RetryAt by a pause.
func RetryAfter(pause time.Duration, err error) *Outcome {
	return &Outcome{move: Again, after: pause, err: err}
}

// SnoozeFor runs the job again after a pause. It is no failure.
func SnoozeFor(pause time.Duration) *Outcome { return &Outcome{move: Snooze, after: pause} }

// SnoozeUntil is SnoozeFor to a point in time, chosen as in RetryAt.
func SnoozeUntil(at time.Time) *Outcome { return &Outcome{move: Snooze, at: at} }

// Replace ends the job as succeeded and enqueues another in the same
// transaction.
func Replace(job *Job) error { return &Outcome{move: Succeed, replace: job} }

// Await leaves the job waiting, without holding a slot, until an answer comes
// through Client.Resolve with the job's id and fence, or the time is over: then the
// job fails. See OrRetry.
func Await(within time.Duration) *Outcome { return &Outcome{move: MoveAwait, after: within} }

// OrRetry makes it a failed attempt of a job that awaits that no answer comes in time, or
// that the answer is a failure: the job is tried again as its Retry and MaxAttempts say, unless
// the failure is Fatal. Without it either ends the job.
func (o *Outcome) OrRetry() *Outcome {
	kept := *o
	kept.retry = true
	return &kept
}

// Release gives the job back: its run uses up no attempt number. That it had begun is kept.
func Release() error { return &Outcome{move: MoveRelease} }

// Remember keeps v, encoded as JSON, as the job's memo for its next run. What
// cannot be kept fails the job.
func (o *Outcome) Remember(v any) *Outcome {
	memo, err := encode("memo", v)
	if err != nil {
		return &Outcome{move: Fail, err: err}
	}
	kept := *o
	kept.memo = memo
	return &kept
}

// Error describes the outcome.
func (o *Outcome) Error() string {
	if o.err != nil {
		return o.err.Error()
	}
	return "job outcome: " + string(o.move)
}

// Unwrap is the error inside, if any.
func (o *Outcome) Unwrap() error { return o.err }

// Settlement is the settlement that the outcome asks for, still without the
// job's id and fence. It is for engines.
func (o *Outcome) Settlement() Settlement {
	s := Settlement{Move: o.move, After: o.after, At: o.at, Memo: o.memo, Replace: o.replace}
	switch o.move {
	case Fail:
		s.Reason = ReasonFatal
	case Again:
		s.Reason = ReasonError
	case MoveAwait:
		if o.retry {
			s.Retry = new(time.Duration) // how long it is depends on the job
		}
	}
	if o.err != nil {
		s.Error = o.err.Error()
	}
	return s
}
