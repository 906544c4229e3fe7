package fairlead

import (
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fairlead-io/fairlead/internal/tier"
)

func TestAssignSpreadsAcceptableStarts(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	jobs := make([]*Job, 3)
	for i := range jobs {
		jobs[i] = &Job{Kind: "k"}
	}
	a := Assignment{Tenant: "acme", Start: start, End: start.Add(10 * time.Microsecond), Jobs: jobs}
	if err := a.spread(); err != nil {
		t.Fatal(err)
	}
	for i, want := range []time.Duration{3, 6, 10} { // 10/3, 20/3 and 10, without their fractions
		job := jobs[i]
		if job.Tenant != "acme" || !job.NotBefore.Equal(start) || job.StartBy.Sub(start) != want*time.Microsecond {
			t.Errorf("job %d of %s: not before %v, start by %v", i, job.Tenant, job.NotBefore, job.StartBy)
		}
	}
}

func TestAssignIsAlwaysAcceptable(t *testing.T) {
	t.Attr(tier.LongAttr, "rapid draws five times as many cases")
	rapid.Check(t, func(t *rapid.T) {
		start := time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "start"), rapid.Int64Range(0, 999_999_999).Draw(t, "nanoseconds"))
		span := time.Duration(rapid.Int64Range(0, int64(100*365*24*time.Hour)).Draw(t, "span"))
		a := Assignment{Start: start, End: start.Add(span)}
		for range rapid.IntRange(1, 50).Draw(t, "jobs") {
			a.Jobs = append(a.Jobs, &Job{Kind: "k"})
		}
		if err := a.spread(); err != nil {
			t.Fatal(err)
		}
		if err := NormalizeJobs(a.Jobs); err != nil {
			t.Fatal(err)
		}
		last := a.Jobs[len(a.Jobs)-1].StartBy
		if last.UnixMicro() != a.End.UnixMicro() {
			t.Errorf("the last is to start by %v, want %v", last, a.End)
		}
		for i, job := range a.Jobs[1:] {
			if job.StartBy.Before(a.Jobs[i].StartBy) {
				t.Errorf("job %d is to start before the one in front of it", i+1)
			}
		}
	})
}

func TestAssignRefusesWhatCannotBeSpread(t *testing.T) {
	now := time.Now()
	for name, a := range map[string]Assignment{
		"no jobs":          {Start: now, End: now},
		"no start":         {End: now, Jobs: []*Job{{Kind: "k"}}},
		"end before start": {Start: now, End: now.Add(-time.Second), Jobs: []*Job{{Kind: "k"}}},
	} {
		if err := a.spread(); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
