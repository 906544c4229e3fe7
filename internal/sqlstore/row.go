package sqlstore

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/fairlead-io/fairlead"
)

// Micros returns the stored form of a time. It returns 0 for the zero time. The start of 1970
// is stored one microsecond later, to distinguish it from the zero time. A time outside the
// range becomes the nearest time within it. Handlers choose when to run again, and a time that
// overflows would be due immediately, over and over.
func Micros(t time.Time) int64 {
	switch seconds := t.Unix(); {
	case t.IsZero():
		return 0
	case seconds > fairlead.MaxMicros/1e6:
		return fairlead.MaxMicros
	case seconds < -fairlead.MaxMicros/1e6:
		return -fairlead.MaxMicros
	}
	if us := t.UnixMicro(); us != 0 {
		return us
	}
	return 1
}

// Time converts a stored time back to a time.Time. It reverses Micros.
func Time(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}

// Bits of job.flags: the parts of a job's policy that SQL statements read.
const (
	FlagKeyForever    = 1
	FlagCancelOnCrash = 2
	FlagFire          = 4 // run of a schedule: fire has a row for it
	FlagRemoveFailed  = 8
)

// Flags returns a job's flags: the parts of the job's policy that SQL statements read.
func Flags(job *fairlead.Job) int16 {
	var flags int16
	if job.KeyScope == fairlead.KeyForever {
		flags |= FlagKeyForever
	}
	if job.OnCrash == fairlead.CancelOnCrash {
		flags |= FlagCancelOnCrash
	}
	if job.OnFail == fairlead.RemoveFailed {
		flags |= FlagRemoveFailed
	}
	return flags
}

type policy struct {
	Timeout     int64           `json:"timeout_us,omitempty"`
	MaxAttempts int             `json:"max_attempts,omitempty"`
	Retry       *fairlead.Retry `json:"retry,omitempty"`
	Gate        string          `json:"concurrency_key,omitempty"`
	Batch       int64           `json:"batch,omitempty"`
}

// Policy encodes the parts of a job's policy that SQL statements do not read. It returns nil
// if all of them have their default values.
func Policy(job *fairlead.Job) []byte {
	if job.Timeout == 0 && job.MaxAttempts == 0 && job.Retry == nil && job.ConcurrencyKey == "" && job.Batch == 0 {
		return nil
	}
	raw, err := json.Marshal(policy{
		Timeout: job.Timeout.Microseconds(), MaxAttempts: job.MaxAttempts, Retry: job.Retry, Gate: job.ConcurrencyKey, Batch: job.Batch,
	})
	if err != nil {
		panic(err) // numbers, booleans and strings always encode; NormalizeJobs rejected NaN
	}
	return raw
}

// SetPolicy sets a job's policy from the results of Flags and Policy.
func SetPolicy(job *fairlead.Job, flags int16, raw []byte) error {
	if flags&FlagCancelOnCrash != 0 {
		job.OnCrash = fairlead.CancelOnCrash
	}
	if flags&FlagRemoveFailed != 0 {
		job.OnFail = fairlead.RemoveFailed
	}
	job.Fired = flags&FlagFire != 0
	if job.Key != "" {
		job.KeyScope = fairlead.KeyLive
		if flags&FlagKeyForever != 0 {
			job.KeyScope = fairlead.KeyForever
		}
	}
	if len(raw) == 0 {
		return nil
	}
	p, err := readPolicy(raw)
	if err != nil {
		return fmt.Errorf("policy of job %d: %w", job.ID, err)
	}
	job.Timeout = time.Duration(p.Timeout) * time.Microsecond
	job.MaxAttempts, job.Retry, job.ConcurrencyKey, job.Batch = p.MaxAttempts, p.Retry, p.Gate, p.Batch
	return nil
}

// lastPolicy caches the last decoded policy, because consecutive jobs usually have the same
// policy.
var lastPolicy atomic.Pointer[policyRead]

type policyRead struct {
	raw string
	policy
}

func readPolicy(raw []byte) (policy, error) {
	if last := lastPolicy.Load(); last != nil && last.raw == string(raw) {
		p := last.policy
		if p.Retry != nil {
			retry := *p.Retry // a copy, because callers may change their jobs
			p.Retry = &retry
		}
		return p, nil
	}
	var p policy
	if err := json.Unmarshal(raw, &p); err != nil {
		return p, err
	}
	kept := policyRead{raw: string(raw), policy: p}
	if p.Retry != nil {
		retry := *p.Retry
		kept.Retry = &retry
	}
	lastPolicy.Store(&kept)
	return p, nil
}

// Values of done.outcome.
const (
	OutcomeSucceeded = 1
	OutcomeFailed    = 2
	OutcomeCancelled = 3
	OutcomeSkipped   = 4
)

var outcomeStates = map[int]fairlead.State{
	OutcomeSucceeded: fairlead.Succeeded,
	OutcomeFailed:    fairlead.Failed,
	OutcomeCancelled: fairlead.Cancelled,
	OutcomeSkipped:   fairlead.Skipped,
}

// StateOf returns the state of a done job with the given outcome.
func StateOf(outcome int) fairlead.State { return outcomeStates[outcome] }

// OutcomeOf returns the value of done.outcome for a final state, or 0 for any other state.
func OutcomeOf(state fairlead.State) int {
	switch state {
	case fairlead.Succeeded:
		return OutcomeSucceeded
	case fairlead.Failed:
		return OutcomeFailed
	case fairlead.Cancelled:
		return OutcomeCancelled
	case fairlead.Skipped:
		return OutcomeSkipped
	}
	return 0
}

// maxText is the maximum stored size of a string in bytes, including the truncation mark.
const maxText = 8<<10 + len(cutMark)

const cutMark = "…"

// CleanText makes a string fit for storage: valid UTF-8, without NUL characters, and of
// limited size. It leaves an already clean string unchanged. This matters because a stored
// answer is cleaned again when it takes effect, and must still equal the answer if its sender
// repeats it.
func CleanText(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
	if len(text) <= maxText {
		return text
	}
	end := maxText - len(cutMark)
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + cutMark
}
