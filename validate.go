package fairlead

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Bounds of what a job may carry.
const (
	MaxArgs  = 1 << 20 // bytes of args, output, memo and progress
	MaxName  = 200     // bytes of a kind, queue or tenant
	MaxKey   = 255     // bytes of a key
	maxTrace = 255
	maxPause = 366 * 24 * time.Hour
	// MaxMicros is how many microseconds before or after 1970 a time may be: about
	// 36500 years, which is far enough, and safe to add durations to.
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
	refuse := c.refuse
	c.checkName("kind", j.Kind, MaxName)
	if j.Kind != "" && strings.TrimSpace(j.Kind) == "" {
		refuse("kind", "is blank; give it a name")
	}
	c.checkName("queue", j.Queue, MaxName)
	c.checkName("tenant", j.Tenant, MaxName)
	if j.Key != "" {
		c.checkName("key", j.Key, MaxKey)
	}
	if j.ConcurrencyKey != "" {
		c.checkName("concurrency_key", j.ConcurrencyKey, MaxKey)
	}
	if len(j.Trace) > maxTrace {
		refuse("trace", "has %d bytes; at most %d are kept", len(j.Trace), maxTrace)
	} else {
		checkText(refuse, "trace", j.Trace)
	}
	if err := checkJSON(j.Args); err != nil {
		refuse("args", "%v", err)
	}
	if j.Priority > MaxPriority || j.Priority < -MaxPriority {
		refuse("priority", "is %d; it must be between %d and %d", j.Priority, -MaxPriority, MaxPriority)
	}
	checkTime := func(field string, t time.Time) {
		if !t.IsZero() && (t.Unix() > MaxMicros/1e6 || t.Unix() < -MaxMicros/1e6) {
			refuse(field, "is the year %d; that is out of range", t.Year())
		}
	}
	checkTime("not_before", j.NotBefore)
	checkTime("start_by", j.StartBy)
	if !j.NotBefore.IsZero() && !j.StartBy.IsZero() && j.StartBy.Before(j.NotBefore) {
		refuse("start_by", "is before not_before; a job cannot be acceptable before it may start")
	}
	if j.Timeout < 0 || j.Timeout > maxPause {
		refuse("timeout", "is %v; it must be positive and at most a year, or zero for the handler's", j.Timeout)
	}
	if j.MaxAttempts < 0 || j.MaxAttempts > MaxPriority {
		refuse("max_attempts", "is %d; it must be between 1 and %d, or zero for the handler's", j.MaxAttempts, MaxPriority)
	}
	if err := j.Retry.validate(); err != nil {
		refuse("retry", "%v", err)
	}
	oneOf(refuse, "on_crash", string(j.OnCrash), string(Revive), string(CancelOnCrash))
	oneOf(refuse, "key_scope", string(j.KeyScope), string(KeyLive), string(KeyForever))
	oneOf(refuse, "on_duplicate", string(j.OnDuplicate), string(RefuseDuplicate), string(KeepDuplicate), string(ReplaceDuplicate))
	return c.fields
}

type refuser func(field, format string, args ...any)

// checkText refuses what not every database can keep byte for byte.
func checkText(refuse refuser, field, value string) {
	if !utf8.ValidString(value) {
		refuse(field, "is not valid UTF-8")
	} else if strings.ContainsRune(value, 0) {
		refuse(field, "contains a NUL character")
	}
}

func oneOf(refuse refuser, field, value string, allowed ...string) {
	if value == "" {
		return
	}
	for _, a := range allowed {
		if value == a {
			return
		}
	}
	refuse(field, "is %q; it must be one of %s", value, strings.Join(allowed, ", "))
}

func checkJSON(raw json.RawMessage) error {
	switch {
	case len(raw) == 0:
		return nil
	case len(raw) > MaxArgs:
		return fmt.Errorf("has %d bytes; at most %d are kept: store the data elsewhere and pass a reference", len(raw), MaxArgs)
	case !utf8.Valid(raw):
		return fmt.Errorf("is not valid UTF-8")
	case !json.Valid(raw):
		return fmt.Errorf("is not valid JSON")
	}
	return nil
}

// CheckJSON returns an *InvalidError that names the field if a document cannot be
// kept as args, output, memo or progress. An empty one can.
func CheckJSON(field string, raw json.RawMessage) error {
	if err := checkJSON(raw); err != nil {
		return &InvalidError{Fields: []FieldError{{Field: field, Message: err.Error()}}}
	}
	return nil
}

// NormalizeJobs fills in the defaults of jobs about to be stored, and
// returns an *InvalidError that names every field that cannot be accepted.
func NormalizeJobs(jobs []*Job) error {
	var c complaints
	for i, j := range jobs {
		for _, f := range j.normalize() {
			if len(jobs) > 1 {
				f.Field = fmt.Sprintf("jobs[%d].%s", i, f.Field)
			}
			c.fields = append(c.fields, f)
		}
	}
	return c.err()
}
