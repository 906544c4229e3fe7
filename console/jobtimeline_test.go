package console

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/schedule"
)

// rowsTold summarizes the rows of a timeline: level, name, detail, start and duration.
func rowsTold(t *jobTimeline) string {
	var out strings.Builder
	for _, row := range t.Rows {
		fmt.Fprintf(&out, "%d %s", row.Level, row.Name)
		if row.Detail != "" {
			fmt.Fprintf(&out, " (%s)", row.Detail)
		}
		fmt.Fprintf(&out, " %v+%v", row.From.Sub(noon), row.Length())
		if row.Href != "" {
			fmt.Fprintf(&out, " %s", row.Href)
		}
		out.WriteString("\n")
	}
	return out.String()
}

const acceptedCall = `{"status":202,"duration_ms":1000,"attempt":2,"at":"2030-01-02T12:00:40Z","request":{"method":"POST","url":"https://shop.example/x"}}`

func TestATimelineShowsOriginWaitsAttemptsCallsAndAnswer(t *testing.T) {
	r := newRig(t, false, nil)
	v := r.console.visit(httpRequest(r), &viewer{Role: "operator"})
	v.Now = noon.Add(time.Hour)
	job := &fairleadv1.Job{
		Id: 7, Kind: "http", State: "succeeded", CreatedAt: after(0), NotBefore: after(4), StartedAt: after(40), FinishedAt: after(70), Attempt: 2, Fence: 2, Node: 1,
		Progress: []byte(acceptedCall), Output: []byte(`{"answer":1}`), BatchId: 9,
	}
	failed := []*fairleadv1.Attempt{{Run: 1, Fence: 1, StartedAt: after(10), FinishedAt: after(20), Reason: "error"}}
	limit, rate := waitCause{"at_cap", "cap of 3"}, waitCause{"over_rate", "rate"}
	period := func(from, to int, causes ...waitCause) waitedLine {
		return waitedLine{From: after(from).AsTime(), To: after(to).AsTime(), Causes: causes}
	}
	p := &jobPage{
		Job: job, Attempts: failed, Call: callOf(job), nodes: map[int64]string{1: "here"},
		Waited: &waited{all: []waitedLine{period(4, 6, limit, rate), period(6, 7, rate), period(7, 10, limit), period(20, 40, rate)}},
	}
	p.Made.Batch = "letters"
	got := v.timelineOf(p, failed)
	want := `0 Task of batch letters 0s+1m10s /batches/9
1 Not due yet 0s+4s
1 Waiting to start 4s+6s #job-waited
2 at cap (cap of 3) 4s+5s #job-waited
2 over rate (rate) 6s+1s #job-waited
1 Attempt 1 (failed (error)) 10s+10s #attempt-1
1 Between attempts (rate) 20s+20s #job-waited
1 Attempt 2 (succeeded · on here) 40s+30s
2 HTTP call (status 202) 40s+1s #job-call
2 Waiting for the callback 41s+29s
2 Answer (succeeded) 1m10s+0s #job-output
1 End (succeeded) 1m10s+0s #job-output
`
	if told := rowsTold(got); told != want {
		t.Errorf("got\n%s\nwant\n%s", told, want)
	}
	for _, row := range got.Rows {
		for _, bar := range row.Bars {
			if bar.X < 0 || bar.X+bar.Width > timelineWidth+0.001 || bar.Width < leastIdle {
				t.Errorf("%s is drawn at %.1f with a width of %.1f", row.Name, bar.X, bar.Width)
			}
		}
	}
	if work := got.Rows[7].Bars; len(work) != 2 || work[0].Waits || !work[1].Waits {
		t.Errorf("the attempt is drawn as %+v", work)
	}
	job.State, job.FinishedAt, job.Deadline, job.Output = "waiting", nil, after(7200), nil
	v.Now = noon.Add(time.Minute)
	if told := rowsTold(v.timelineOf(p, failed)); !strings.Contains(told, "2 Waiting for the callback 41s+19s\n1 Time until the answer deadline 1m0s+1h59m0s\n") || strings.Contains(told, "Answer ") || strings.Contains(told, "End") {
		t.Errorf("while it waits:\n%s", told)
	}
}

func TestAShortTimelineHasMilliseconds(t *testing.T) {
	r := newRig(t, false, nil)
	v := r.console.visit(httpRequest(r), &viewer{Role: "operator"})
	v.Now = noon.Add(time.Hour)
	for _, c := range []struct {
		took time.Duration
		end  string
	}{{127 * time.Millisecond, "12:00:00.127"}, {10 * time.Second, "12:00:10"}} {
		ended := timestamppb.New(noon.Add(c.took))
		p := &jobPage{Job: &fairleadv1.Job{Id: 7, State: "succeeded", CreatedAt: after(0), NotBefore: after(0), StartedAt: after(0), FinishedAt: ended, Attempt: 1, Fence: 1, Node: 1}}
		got := v.timelineOf(p, nil)
		if end := got.Stamps[len(got.Stamps)-1].Text; end != c.end || got.Exact != (c.took < 10*time.Second) {
			t.Errorf("a job of %v ends at %s (exact: %v), want %s", c.took, end, got.Exact, c.end)
		}
	}
}

func TestACallWhoseResponseIsTheResultWaitsForNoCallback(t *testing.T) {
	output := strings.Replace(acceptedCall, "202", "200", 1)
	for name, c := range map[string]struct {
		job  *fairleadv1.Job
		want bool
	}{
		"accepted":                 {&fairleadv1.Job{Progress: []byte(acceptedCall)}, true},
		"answered by the callback": {&fairleadv1.Job{Progress: []byte(acceptedCall), Output: []byte(`{"status":"done"}`)}, true},
		"answered at once":         {&fairleadv1.Job{Output: []byte(output)}, false},
		"failed":                   {&fairleadv1.Job{Progress: []byte(strings.Replace(acceptedCall, `"status":202`, `"status":500,"error_class":"status"`, 1))}, false},
	} {
		if got := awaitsAnswer(c.job, callOf(c.job)); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestTheTimelineOfARunNamesItsScheduleAndInstant(t *testing.T) {
	r := newRig(t, false, nil)
	made, err := schedule.NewClient(r.store).Put(t.Context(), schedule.Schedule{Name: "nightly", Every: time.Hour, Job: fairlead.Job{Kind: "noop"}})
	if err != nil {
		t.Fatal(err)
	}
	fire, err := schedule.NewClient(r.store).Trigger(t.Context(), made.ID, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.run()
	r.await(1)
	page := r.page(http.StatusOK, "/jobs/"+text(fire.Job))
	r.shows(page, `id="job-timeline"`, fmt.Sprintf(`<th scope="row" class="level-0"><a href="/schedules/%d">Run of schedule nightly</a>`, made.ID), `<th scope="row" class="level-1">Attempt 1`, "scheduled for ")
	r.shows(r.page(http.StatusOK, "/jobs/"+text(fire.Job), "lang", "zh"), "计划 nightly 的运行", "第 1 次尝试")
}
