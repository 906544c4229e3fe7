package console

import (
	"testing"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

func TestWhyAJobWasSkippedIsSaidInWords(t *testing.T) {
	v := &visit{Lang: "zh"}
	for want, job := range map[string]*fairleadv1.Job{
		"之前的运行尚未结束": {State: "skipped", Error: "overlap"},
		"":          {State: "failed", Error: "overlap"}, // its handler said so
	} {
		if got := v.SkipReason(job); got != want {
			t.Errorf("of %v %q is said, not %q", job, got, want)
		}
	}
	if got := v.SkipReason(&fairleadv1.Job{State: "skipped", Error: "another"}); got != "" {
		t.Errorf("a reason that is not known is said as %q", got)
	}
}
