package sqlstore

import (
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// endless is the retention from which jobs are kept forever. It is less than Forever,
// because stored values are rounded.
const endless = 200 * 365 * 24 * time.Hour

// Keeping holds the retention of finished jobs: the general retention passed to Prune, and the
// retention of each kind that has its own.
type Keeping struct {
	keep  driver.Retention
	kinds map[string]driver.Retention
}

// Kept is the shortest retention of finished jobs with a given outcome.
type Kept struct {
	Outcome int
	For     time.Duration // the shortest of all kinds
	Varies  bool          // some kinds are kept longer
}

// Outcomes returns the retention of each outcome whose jobs are eventually removed.
func (k *Keeping) Outcomes() []Kept {
	var list []Kept
	for _, outcome := range []int{OutcomeSucceeded, OutcomeFailed, OutcomeCancelled, OutcomeSkipped} {
		usual := *retentionOf(&k.keep, outcome)
		kept := Kept{Outcome: outcome, For: usual}
		for kind := range k.kinds {
			own := k.of(outcome, kind)
			kept.Varies = kept.Varies || own != usual
			if mortal(own) && (own < kept.For || !mortal(kept.For)) {
				kept.For = own
			}
		}
		if mortal(kept.For) {
			list = append(list, kept)
		}
	}
	return list
}

// of returns the retention of jobs of an outcome and a kind.
func (k *Keeping) of(outcome int, kind string) time.Duration {
	own := k.kinds[kind]
	if age := *retentionOf(&own, outcome); age != 0 {
		return age
	}
	return *retentionOf(&k.keep, outcome)
}

// over reports whether the retention of a job that ended age ago has expired.
func (k *Keeping) over(outcome int, kind string, age time.Duration) bool {
	kept := k.of(outcome, kind)
	return mortal(kept) && age > kept
}

// mortal reports whether a retention is finite.
func mortal(kept time.Duration) bool { return kept > 0 && kept < endless }

// retentionOf returns the field for an outcome.
func retentionOf(r *fairlead.Retention, outcome int) *time.Duration {
	switch outcome {
	case OutcomeSucceeded:
		return &r.Succeeded
	case OutcomeFailed:
		return &r.Failed
	case OutcomeCancelled:
		return &r.Cancelled
	default:
		return &r.Skipped
	}
}
