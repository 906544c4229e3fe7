package tasks

import (
	"time"

	"github.com/fairlead-io/fairlead"
)

// Values of backoff.
const (
	backoffFixed       = "FIXED"
	backoffExponential = "EXPONENTIAL"
)

// retryPolicy is the content of retry_policy_json.
type retryPolicy struct {
	MaxAttempts     int     `json:"max_attempts"`                // number of calls, including the first
	Backoff         string  `json:"backoff,omitempty"`           // default EXPONENTIAL
	DelaySeconds    float64 `json:"delay_seconds,omitempty"`     // after the first failure; default 1
	Factor          float64 `json:"factor,omitempty"`            // growth per failure; default 2
	MaxDelaySeconds float64 `json:"max_delay_seconds,omitempty"` // default 3600
	Jitter          *bool   `json:"jitter,omitempty"`            // default true with EXPONENTIAL and false with FIXED
}

// applyRetry sets the retry options of a job from a policy. Without a policy, the job does
// not retry.
func applyRetry(c *complaints, raw []byte, job *fairlead.Job) {
	const field = "retry_policy_json"
	var p retryPolicy
	before := len(c.fields)
	readDocument(c, field, raw, &p, `an object such as {"max_attempts":3,"backoff":"EXPONENTIAL","delay_seconds":1}`)
	job.MaxAttempts, job.Retry = 1, nil
	if len(c.fields) > before || p == (retryPolicy{}) {
		return
	}
	if p.MaxAttempts < 1 || p.MaxAttempts > fairlead.MaxPriority {
		c.refuse(field+".max_attempts", "is %d; it must be between 1 and %d, the first call included", p.MaxAttempts, fairlead.MaxPriority)
		return
	}
	const longest = 366 * 24 * 3600
	for name, seconds := range map[string]float64{"delay_seconds": p.DelaySeconds, "max_delay_seconds": p.MaxDelaySeconds} {
		if seconds < 0 || seconds > longest {
			c.refuse(field+"."+name, "is %v; it must be between 0 and %d", seconds, longest)
			return
		}
	}
	job.MaxAttempts = p.MaxAttempts
	switch delay := seconds(orDefault(p.DelaySeconds, 1)); p.Backoff {
	case backoffFixed:
		job.Retry = &fairlead.Retry{Base: delay, Factor: 1, Max: delay, Precise: p.Jitter == nil || !*p.Jitter}
	case backoffExponential, "":
		job.Retry = &fairlead.Retry{Base: delay, Factor: p.Factor, Max: seconds(p.MaxDelaySeconds), Precise: p.Jitter != nil && !*p.Jitter}
	default:
		c.refuse(field+".backoff", "is %q; it must be one of %s, %s", p.Backoff, backoffFixed, backoffExponential)
	}
}

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

// policyOf returns the retry policy of a job, or nil if it does not retry.
func policyOf(job *fairlead.Job) *retryPolicy {
	attempts := orDefault(job.MaxAttempts, fairlead.DefaultMaxAttempts)
	if attempts == 1 {
		return nil
	}
	p := &retryPolicy{MaxAttempts: attempts}
	if r := job.Retry; r != nil {
		jitter := !r.Precise
		p.Backoff, p.DelaySeconds, p.Jitter = backoffExponential, r.Base.Seconds(), &jitter
		if r.Factor == 1 {
			p.Backoff = backoffFixed
		} else {
			p.Factor, p.MaxDelaySeconds = r.Factor, r.Max.Seconds()
		}
	}
	return p
}
