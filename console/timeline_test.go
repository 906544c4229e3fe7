package console

import (
	"math"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

var noon = time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)

// after returns the time that is the given number of seconds after noon.
func after(seconds int) *timestamppb.Timestamp {
	return timestamppb.New(noon.Add(time.Duration(seconds) * time.Second))
}

// told summarizes phases, in seconds after noon.
func told(phases []phase) string {
	var out []string
	for _, p := range phases {
		out = append(out, p.What+" "+p.From.Sub(noon).String()+"-"+p.To.Sub(noon).String())
	}
	return strings.Join(out, ", ")
}

func TestALifeIsToldApartAsFarAsItIsRecorded(t *testing.T) {
	failed := func(run int32, from, to int) *fairleadv1.Attempt {
		return &fairleadv1.Attempt{Run: run, Fence: int64(run), StartedAt: after(from), FinishedAt: after(to), Reason: "error"}
	}
	now := noon.Add(100 * time.Second)
	for name, test := range map[string]struct {
		job      *fairleadv1.Job
		attempts []*fairleadv1.Attempt
		want     string
	}{
		"ready":                  {&fairleadv1.Job{State: "ready", CreatedAt: after(0), NotBefore: after(0)}, nil, "ready 0s-1m40s"},
		"ready after it was due": {&fairleadv1.Job{State: "ready", CreatedAt: after(0), NotBefore: after(40)}, nil, "scheduled 0s-40s, ready 40s-1m40s"},
		"parked":                 {&fairleadv1.Job{State: "parked", CreatedAt: after(0), NotBefore: after(0)}, nil, "parked 0s-1m40s"},
		"scheduled":              {&fairleadv1.Job{State: "scheduled", CreatedAt: after(0), NotBefore: after(160)}, nil, "scheduled 0s-1m40s, ahead 1m40s-2m40s"},
		"queued":                 {&fairleadv1.Job{State: "scheduled", CreatedAt: after(0), NotBefore: timestamppb.New(time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC))}, nil, "scheduled 0s-1m40s"},
		"running":                {&fairleadv1.Job{State: "running", CreatedAt: after(0), NotBefore: after(0), StartedAt: after(60), Attempt: 1, Fence: 1}, nil, "ready 0s-1m0s, running 1m0s-1m40s"},
		"waiting":                {&fairleadv1.Job{State: "waiting", CreatedAt: after(90), NotBefore: after(90), StartedAt: after(90), Attempt: 1, Fence: 1, Deadline: after(130)}, nil, "waiting 1m30s-1m40s, ahead 1m40s-2m10s"},
		"succeeded at once":      {&fairleadv1.Job{State: "succeeded", CreatedAt: after(0), NotBefore: after(0), StartedAt: after(0), FinishedAt: after(9), Attempt: 1, Fence: 1}, nil, "succeeded 0s-9s"},
		"cancelled before its time": {
			&fairleadv1.Job{State: "cancelled", CreatedAt: after(0), NotBefore: after(500), FinishedAt: after(50)}, nil, "scheduled 0s-50s",
		},
		"cancelled in line": {&fairleadv1.Job{State: "cancelled", CreatedAt: after(0), NotBefore: after(20), FinishedAt: after(50)}, nil, "scheduled 0s-20s, ready 20s-50s"},
		"succeeded after two failures": {
			&fairleadv1.Job{State: "succeeded", CreatedAt: after(0), NotBefore: after(4), StartedAt: after(61), FinishedAt: after(70), Attempt: 3, Fence: 3},
			[]*fairleadv1.Attempt{failed(1, 10, 20), failed(2, 30, 40)},
			"scheduled 0s-4s, ready 4s-10s, failed 10s-20s, idle 20s-30s, failed 30s-40s, idle 40s-1m1s, succeeded 1m1s-1m10s",
		},
		"failed, its last run being recorded": {
			&fairleadv1.Job{State: "failed", CreatedAt: after(0), NotBefore: after(0), StartedAt: after(10), FinishedAt: after(20), Attempt: 1, Fence: 1},
			[]*fairleadv1.Attempt{failed(1, 10, 20)},
			"ready 0s-10s, failed 10s-20s",
		},
		"ready again": {
			&fairleadv1.Job{State: "ready", CreatedAt: after(0), Attempt: 1, Failures: 1}, []*fairleadv1.Attempt{failed(1, 10, 20)}, "ready 0s-10s, failed 10s-20s, idle 20s-1m40s",
		},
		"backing off": {
			&fairleadv1.Job{State: "scheduled", CreatedAt: after(0), NotBefore: after(130), Attempt: 1, Failures: 1},
			[]*fairleadv1.Attempt{failed(1, 10, 20)},
			"ready 0s-10s, failed 10s-20s, scheduled 20s-1m40s, ahead 1m40s-2m10s",
		},
	} {
		if got := told(phasesOf(test.job, test.attempts, now)); got != test.want {
			t.Errorf("%s: %s\nwant %s", name, got, test.want)
		}
	}
}

func TestOnlyTheLastRunsArePictured(t *testing.T) {
	var attempts []*fairleadv1.Attempt
	for i := range 3 * pictured {
		attempts = append(attempts, &fairleadv1.Attempt{Run: int32(i + 1), StartedAt: after(2 * i), FinishedAt: after(2*i + 1), Reason: "error"})
	}
	job := &fairleadv1.Job{State: "failed", CreatedAt: after(0), StartedAt: attempts[len(attempts)-1].StartedAt, FinishedAt: attempts[len(attempts)-1].FinishedAt}
	runs := 0
	for _, p := range phasesOf(job, attempts, noon) {
		if p.Run > 0 {
			runs++
		}
	}
	if runs != pictured {
		t.Errorf("%d runs are pictured, want %d", runs, pictured)
	}
}

func TestATimelineFillsItsWidthAndFoldsLongIdleTime(t *testing.T) {
	at := func(seconds float64) time.Time { return noon.Add(time.Duration(seconds * float64(time.Second))) }
	life := []phase{
		{What: "scheduled", From: at(0), To: at(86400)},
		{What: "failed", From: at(86400), To: at(86401), Run: 1},
		{What: "idle", From: at(86401), To: at(86402)},
		{What: "succeeded", From: at(86402), To: at(86402.0001), Run: 2},
	}
	laid := layTimeline(life, 1000)
	x := 0.0
	for i, s := range laid {
		if s.Folded != (i == 0) {
			t.Errorf("phase %d is folded: %v", i, s.Folded)
		}
		if math.Abs(s.X-x) > 0.001 || s.Run > 0 && s.Width < leastRun {
			t.Errorf("phase %d is at %.1f with a width of %.1f, and the one before ends at %.1f", i, s.X, s.Width, x)
		}
		x += s.Width
	}
	if math.Abs(x-1000) > 0.001 {
		t.Errorf("it is %.3f wide, want 1000", x)
	}
}

func TestIdleTimeOfAJobThatNeverRanIsNotFolded(t *testing.T) {
	laid := layTimeline([]phase{{What: "scheduled", From: noon, To: noon.Add(time.Hour)}, {What: "ready", From: noon.Add(time.Hour), To: noon.Add(61 * time.Minute)}}, 1000)
	if laid[0].Folded || laid[0].Width < 50*laid[1].Width/2 {
		t.Errorf("it is drawn as %+v", laid)
	}
}
