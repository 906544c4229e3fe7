package fairlead_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
)

func TestNormalizeFillsInDefaults(t *testing.T) {
	job := &fairlead.Job{Kind: "k", Key: "x"}
	if err := fairlead.NormalizeJobs([]*fairlead.Job{job}); err != nil {
		t.Fatal(err)
	}
	if job.Queue != "default" || job.Tenant != "default" || job.KeyScope != fairlead.KeyLive {
		t.Errorf("got queue %q, tenant %q, key scope %q", job.Queue, job.Tenant, job.KeyScope)
	}
}

func TestNormalizeNamesTheFieldThatIsWrong(t *testing.T) {
	now := time.Now()
	if err := fairlead.NormalizeJobs([]*fairlead.Job{{Kind: " \t\n"}}); err == nil || err.Error() != "invalid: kind: is blank; set a name" {
		t.Errorf("a blank kind: got %v", err)
	}
	for field, job := range map[string]fairlead.Job{
		"kind":         {},
		"queue":        {Kind: "k", Queue: strings.Repeat("q", fairlead.MaxName+1)},
		"tenant":       {Kind: "k", Tenant: "a\x00b"},
		"key":          {Kind: "k", Key: "\xff"},
		"args":         {Kind: "k", Args: []byte("{")},
		"priority":     {Kind: "k", Priority: fairlead.MaxPriority + 1},
		"not_before":   {Kind: "k", NotBefore: time.Date(290000, 1, 1, 0, 0, 0, 0, time.UTC)},
		"start_by":     {Kind: "k", NotBefore: now, StartBy: now.Add(-time.Second)},
		"timeout":      {Kind: "k", Timeout: -1},
		"max_attempts": {Kind: "k", MaxAttempts: -1},
		"retry":        {Kind: "k", Retry: &fairlead.Retry{Factor: math.NaN()}},
		"on_crash":     {Kind: "k", OnCrash: "explode"},
		"key_scope":    {Kind: "k", Key: "x", KeyScope: "year"},
		"on_duplicate": {Kind: "k", OnDuplicate: "merge"},
		"trace":        {Kind: "k", Trace: strings.Repeat("t", 300)},
	} {
		err := fairlead.NormalizeJobs([]*fairlead.Job{&job})
		var invalid *fairlead.InvalidError
		if !errors.As(err, &invalid) || !errors.Is(err, fairlead.ErrInvalid) || len(invalid.Fields) != 1 || invalid.Fields[0].Field != field {
			t.Errorf("%s: got %v", field, err)
		}
	}
}

func TestNormalizeTellsJobsOfOneCallApart(t *testing.T) {
	err := fairlead.NormalizeJobs([]*fairlead.Job{{Kind: "k"}, {Kind: ""}})
	if err == nil || !strings.Contains(err.Error(), "jobs[1].kind") {
		t.Errorf("got %v", err)
	}
}

func TestArgsThatCannotBeEncodedAreRefusedByEnqueue(t *testing.T) {
	kind := fairlead.NewKind[chan int]("k")
	err := fairlead.NormalizeJobs([]*fairlead.Job{kind.Job(nil)})
	if want := "invalid: args: cannot be encoded as JSON (json: unsupported type: chan int); use a type that encoding/json can encode"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if !errors.Is(err, fairlead.ErrInvalid) {
		t.Errorf("%v is not ErrInvalid", err)
	}
}

func TestEnqueueRefusesNil(t *testing.T) {
	err := fairlead.NewClient(nil).Enqueue(t.Context(), nil)
	if want := "invalid: jobs[0]: is nil; pass a job, for example from the Job method of a kind"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// An error about very many jobs names the first mistakes only.
func TestNotEveryMistakeOfManyJobsIsNamed(t *testing.T) {
	jobs := make([]*fairlead.Job, 10_000)
	for i := range jobs {
		jobs[i] = &fairlead.Job{}
	}
	var invalid *fairlead.InvalidError
	if err := fairlead.NormalizeJobs(jobs); !errors.As(err, &invalid) || len(invalid.Fields) != 100 {
		t.Errorf("%d fields are named", len(invalid.Fields))
	}
}
