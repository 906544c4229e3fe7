package sqlstore

import (
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// endless is from how long on jobs are kept forever: what is stored of Forever is rounded.
const endless = 200 * 365 * 24 * time.Hour

// Keeping is how long finished jobs are kept: as Prune is asked, unless a kind has its own
// retention.
type Keeping struct {
	keep  driver.Retention
	kinds map[string]driver.Retention
}

// Kept is for how long finished jobs of an outcome are kept at least.
type Kept struct {
	Outcome int
	For     time.Duration // the shortest of all kinds
	Varies  bool          // some kinds are kept longer
}

// Outcomes lists the outcomes of which jobs are removed one day.
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

// of is how long jobs of an outcome and a kind are kept.
func (k *Keeping) of(outcome int, kind string) time.Duration {
	own := k.kinds[kind]
	if age := *retentionOf(&own, outcome); age != 0 {
		return age
	}
	return *retentionOf(&k.keep, outcome)
}

// over reports whether a job that ended so long ago is kept no longer.
func (k *Keeping) over(outcome int, kind string, age time.Duration) bool {
	kept := k.of(outcome, kind)
	return mortal(kept) && age > kept
}

// mortal reports whether a retention ends.
func mortal(kept time.Duration) bool { return kept > 0 && kept < endless }

// retentionOf is the field of an outcome.
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
