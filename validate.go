package fairlead

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead/internal/check"
)

// Bounds of the values in a job.
const (
	MaxArgs = 1 << 20 // bytes of args, output, memo and progress
	MaxName = 200     // bytes of a kind, queue or tenant
	MaxKey  = 255     // bytes of a key
	// MaxReason is the maximum length of the reason for a pause, in bytes.
	MaxReason = 1000
	maxTrace  = 255
	// MaxMicros is the maximum distance of a time from 1970, in microseconds: about 36500
	// years, so that adding a duration does not overflow.
	MaxMicros = int64(1) << 60
)

// normalize fills in defaults and reports every field that can never be
// accepted.
func (j *Job) normalize() []FieldError {
	j.Batch = 0 // only batches make tasks
	if j.Queue == "" {
		j.Queue = DefaultQueue
	}
	if j.Tenant == "" {
		j.Tenant = DefaultTenant
	}
	if j.Key != "" && j.KeyScope == "" {
		j.KeyScope = KeyLive
	}
	var c complaints
	c.Name("kind", j.Kind, MaxName)
	if j.Kind != "" && strings.TrimSpace(j.Kind) == "" {
		c.Refuse("kind", "is blank; set a name")
	}
	c.Name("queue", j.Queue, MaxName)
	c.Name("tenant", j.Tenant, MaxName)
	if j.Key != "" {
		c.Name("key", j.Key, MaxKey)
	}
	if j.ConcurrencyKey != "" {
		c.Name("concurrency_key", j.ConcurrencyKey, MaxKey)
	}
	if len(j.Trace) > maxTrace {
		c.Refuse("trace", "has %d bytes; at most %d are allowed", len(j.Trace), maxTrace)
	} else {
		c.Text("trace", j.Trace)
	}
	if why, unencoded := bytes.CutPrefix(j.Args, []byte(notEncoded)); unencoded {
		c.Refuse("args", "cannot be encoded as JSON (%s); use a type that encoding/json can encode", strings.ToValidUTF8(string(why), "�"))
	} else {
		c.JSON("args", j.Args, MaxArgs)
	}
	if j.Priority > MaxPriority || j.Priority < -MaxPriority {
		c.Refuse("priority", "is %d; it must be between %d and %d", j.Priority, -MaxPriority, MaxPriority)
	}
	checkTime := func(field string, t time.Time) {
		if !t.IsZero() && (t.Unix() > MaxMicros/1e6 || t.Unix() < -MaxMicros/1e6) {
			c.Refuse(field, "has the year %d, which is out of range", t.Year())
		}
	}
	checkTime("not_before", j.NotBefore)
	checkTime("start_by", j.StartBy)
	if !j.NotBefore.IsZero() && !j.StartBy.IsZero() && j.StartBy.Before(j.NotBefore) {
		c.Refuse("start_by", "is before not_before; set it to not_before or later")
	}
	if j.Timeout < 0 || j.Timeout > check.MaxPause {
		c.Refuse("timeout", "is %v; it must be positive and at most a year, or zero for the handler's default", j.Timeout)
	}
	if j.MaxAttempts < 0 || j.MaxAttempts > MaxPriority {
		c.Refuse("max_attempts", "is %d; it must be between 1 and %d, or zero for the handler's default", j.MaxAttempts, MaxPriority)
	}
	if err := j.Retry.validate(); err != nil {
		c.Refuse("retry", "%v", err)
	}
	c.OneOf("on_crash", string(j.OnCrash), string(Revive), string(CancelOnCrash))
	c.OneOf("on_fail", string(j.OnFail), string(KeepFailed), string(RemoveFailed))
	c.OneOf("key_scope", string(j.KeyScope), string(KeyLive), string(KeyForever))
	c.OneOf("on_duplicate", string(j.OnDuplicate), string(RefuseDuplicate), string(KeepDuplicate), string(ReplaceDuplicate))
	return c.Found
}

// CheckJSON checks whether a document can be stored as args, output, memo or progress. It
// returns an *InvalidError that names the given field if it cannot. An empty document is
// valid.
func CheckJSON(field string, raw json.RawMessage) error {
	var c complaints
	c.JSON(field, raw, MaxArgs)
	return Invalid(c.Found...)
}

// NormalizeJobs fills in the defaults of jobs that are about to be stored. It returns an
// *InvalidError that names every invalid field.
func NormalizeJobs(jobs []*Job) error {
	var c complaints
	for i, j := range jobs {
		if j == nil {
			c.Refuse(fmt.Sprintf("jobs[%d]", i), "is nil; pass a job, for example from the Job method of a kind")
			continue
		}
		for _, f := range j.normalize() {
			if len(jobs) > 1 {
				f.Field = fmt.Sprintf("jobs[%d].%s", i, f.Field)
			}
			c.Found = append(c.Found, f)
		}
	}
	return Invalid(c.Found...)
}
