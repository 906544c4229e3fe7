package engine

import (
	"encoding/json"
	"errors"
	"runtime/debug"
	"time"

	"github.com/fairlead-io/fairlead"
)

// judge is decide for code that is not ours: the text of an error or a
// RetryDelay may panic too, and that is the job's failure, not the node's.
func judge(job *fairlead.Job, entry *fairlead.Entry, err, cause error, output json.RawMessage) (s fairlead.Settlement) {
	defer func() {
		if value := recover(); value != nil {
			plain := *entry
			plain.Options.RetryDelay = nil
			s = decide(job, &plain, &panicError{value: value, stack: debug.Stack()}, nil, nil)
		}
	}()
	return decide(job, entry, err, cause, output)
}

// decide turns what a handler returned, and why its context ended if it did,
// into what becomes of the job. It is a pure function but for jitter.
//
// Success counts whatever happened to the context. An outcome that the handler
// chose counts unless the job was cancelled. Any other error is a failed
// attempt, except that ending handlers to shut down is no fault of theirs.
func decide(job *fairlead.Job, entry *fairlead.Entry, err, cause error, output json.RawMessage) fairlead.Settlement {
	s := choose(job, entry, err, cause, output)
	s.ID, s.Fence, s.FreeKey = job.ID, job.Fence, job.Key != "" || job.ConcurrencyKey != ""
	return s
}

func choose(job *fairlead.Job, entry *fairlead.Entry, err, cause error, output json.RawMessage) fairlead.Settlement {
	if err == nil {
		return fairlead.Settlement{Move: fairlead.Succeed, Output: output}
	}
	if errors.Is(cause, errCancelled) {
		return fairlead.Settlement{Move: fairlead.Drop, Error: err.Error()}
	}
	var outcome *fairlead.Outcome
	if errors.As(err, &outcome) {
		return chosen(job, entry, outcome, err, output)
	}
	if errors.Is(cause, errDraining) {
		return fairlead.Settlement{Move: fairlead.GiveUp}
	}
	failed := fairlead.Settlement{Move: fairlead.Again, Reason: fairlead.ReasonError, Error: err.Error()}
	var panicked *panicError
	switch {
	case errors.As(err, &panicked):
		failed.Reason = fairlead.ReasonPanic
	case errors.Is(cause, errTimeout):
		failed.Reason = fairlead.ReasonTimeout
	}
	failed.After = pause(job, entry, err)
	return orFail(job, entry, failed)
}

// chosen is the handler's own outcome, checked.
func chosen(job *fairlead.Job, entry *fairlead.Entry, outcome *fairlead.Outcome, err error, output json.RawMessage) fairlead.Settlement {
	s := outcome.Settlement()
	if s.Error != "" {
		s.Error = err.Error() // with what the handler wrapped around it
	}
	switch s.Move {
	case fairlead.Succeed:
		s.Output = output
		if s.Replace == nil {
			break
		}
		if invalid := fairlead.NormalizeJobs([]*fairlead.Job{s.Replace}); invalid != nil {
			return fairlead.Settlement{Move: fairlead.Fail, Reason: fairlead.ReasonFatal, Error: "replacement: " + invalid.Error()}
		}
	case fairlead.Again:
		return orFail(job, entry, s)
	case fairlead.Wait:
		if s.After <= 0 {
			return fairlead.Settlement{Move: fairlead.Fail, Reason: fairlead.ReasonFatal, Error: "Await needs a positive time to wait"}
		}
	}
	return s
}

// orFail makes the last allowed failure final.
func orFail(job *fairlead.Job, entry *fairlead.Entry, s fairlead.Settlement) fairlead.Settlement {
	if job.Failures+1 < maxAttempts(job, entry) {
		return s
	}
	return fairlead.Settlement{Move: fairlead.Fail, Reason: s.Reason, Error: s.Error, Memo: s.Memo}
}

func maxAttempts(job *fairlead.Job, entry *fairlead.Entry) int {
	switch {
	case job.MaxAttempts > 0:
		return job.MaxAttempts
	case entry.Options.MaxAttempts > 0:
		return entry.Options.MaxAttempts
	default:
		return fairlead.DefaultMaxAttempts
	}
}

func pause(job *fairlead.Job, entry *fairlead.Entry, err error) time.Duration {
	switch {
	case entry.Options.RetryDelay != nil:
		return max(0, entry.Options.RetryDelay(job, err))
	case job.Retry != nil:
		return job.Retry.Delay(job.Failures + 1)
	default:
		return entry.Options.Retry.Delay(job.Failures + 1)
	}
}
