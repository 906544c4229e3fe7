package console

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/httpcall"
	"github.com/fairlead-io/fairlead/schedule"
)

// jobPage returns the visible text of a job's page.
func (r *rig) jobPage(job *fairlead.Job, cookies ...string) string {
	r.Helper()
	return html.UnescapeString(r.page(http.StatusOK, "/jobs/"+fmt.Sprint(job.ID), cookies...))
}

func TestAJobPageSaysWhyItDoesNotRun(t *testing.T) {
	r := newRig(t, false, nil)
	later := &fairlead.Job{Kind: "noop", NotBefore: time.Now().Add(3*time.Hour + time.Minute)}
	first, second := &fairlead.Job{Kind: "noop", ConcurrencyKey: "one at a time"}, &fairlead.Job{Kind: "noop", ConcurrencyKey: "one at a time"}
	paused := &fairlead.Job{Kind: "noop", Queue: "it's", Tenant: "acme"}
	r.enqueue(later, first, second, paused)
	if err := r.jobs.PauseQueue(t.Context(), "it's"); err != nil {
		t.Fatal(err)
	}
	if err := r.jobs.PauseTenant(t.Context(), "acme"); err != nil {
		t.Fatal(err)
	}
	r.shows(r.jobPage(later), "Why is it not running?", "The job is not due until", "in 3h", fmt.Sprintf(`href="/jobs/%d/run?next=`, later.ID))
	r.shows(r.jobPage(second), `Concurrency key "one at a time": 1 of 1 slots are taken.`, fmt.Sprintf(`href="/jobs/%d">Job %d</a>`, first.ID, first.ID), `href="/limits/kind:noop/edit?next=`, "Allow more")
	r.shows(r.jobPage(paused), `Queue "it's" is paused.`, `href="/queues/it%27s/resume?next=`, `href="/tenants/acme/resume?next=`, `href="/jobs?queue=it%27s"`, `Tenant "acme" is paused.`, `href="/tenants/acme"`,
		`No live node that accepts jobs serves queue "it's" and handles kind "noop".`, `href="/nodes"`, "No estimated start time.")
	r.shows(r.jobPage(paused, "lang", "zh"), `队列 "it's" 已暂停。`, "为什么没有运行？")
}

func TestEveryObstacleIsPutIntoWords(t *testing.T) {
	r := newRig(t, false, nil)
	v := r.console.visit(httpRequest(r), &viewer{Role: "operator"})
	job := &fairleadv1.Job{Id: 7, Kind: "k", Queue: "q", Crashes: 2, ScheduleId: 3}
	for _, test := range []struct {
		obstacle *fairleadv1.Obstacle
		want     string
	}{
		{&fairleadv1.Obstacle{Code: "queued"}, "The job is waiting for an earlier run of its schedule to finish."},
		{&fairleadv1.Obstacle{Code: "at_cap", Scope: "tenant", Name: "acme", Used: 5, Cap: 5}, `Tenant "acme": 5 of 5 slots are taken. /tenants/acme/edit`},
		{&fairleadv1.Obstacle{Code: "at_cap", Scope: "global", Used: 1000, Cap: 1000}, `The cluster: 1,000 of 1,000 slots are taken. /limits/global/edit`},
		{&fairleadv1.Obstacle{Code: "over_rate", Scope: "queue", Name: "q", Until: after(0)}, `Queue "q": no more jobs can start at this rate until 2030-01-02 12:00. /limits/queue:q/edit`},
		{&fairleadv1.Obstacle{Code: "paused", Scope: "kind", Name: "k"}, `Kind "k" is paused. /kinds/k/resume`},
		{&fairleadv1.Obstacle{Code: "no_slot"}, "All slots on eligible nodes are busy."},
		{&fairleadv1.Obstacle{Code: "suspect"}, "Nodes died 2 times while running this job, so it does not run at the same time as other crash suspects."},
		{&fairleadv1.Obstacle{Code: "in_line"}, "At least 10,000 jobs are ahead. /jobs/7/priority"},
		{&fairleadv1.Obstacle{Code: "unheard_of", Text: "as the API says"}, "as the API says"},
	} {
		told := v.explain(job, test.obstacle, mostAhead)
		got := told.Text
		for _, act := range told.Acts {
			got += " " + act.Href
		}
		if got != test.want {
			t.Errorf("%s is %q, want %q", test.obstacle.GetCode(), got, test.want)
		}
	}
	share := v.share(&fairleadv1.Share{Weight: 3, Entitled: 0.75, Had: 0.7})
	if want := "Tenants share starts by weight: with weight 3, this tenant is entitled to 75.0 % of starts and received 70.0 % in the last minute."; share != want || v.share(nil) != "" {
		t.Errorf("the share is %q", share)
	}
	for none, want := range map[*fairleadv1.NoEstimate]string{
		{Reason: "overtaken", Newer: 1200, Started: 1000}: "In the last minute, 1,200 newer jobs with a higher priority or an earlier start-by time arrived, and 1,000 jobs can start per minute.",
		{Reason: "overtaken"}:                             "Newer jobs with a higher priority or an earlier start-by time arrive about as fast as jobs start.",
		{Reason: "no_starts"}:                             "No job started in the last minute.",
		{Reason: "long_line"}:                             "Too many jobs are ahead.",
		{Reason: "no_end"}:                                "",
	} {
		if got := v.noStart(none); got != want {
			t.Errorf("%s: %q", none.GetReason(), got)
		}
	}
	if got := v.goFirst(1); got != "1 job is ahead." {
		t.Error(got)
	}
}

// httpRequest returns a request for a page.
func httpRequest(r *rig) *http.Request {
	request, err := http.NewRequestWithContext(r.Context(), http.MethodGet, "/", nil)
	if err != nil {
		r.Fatal(err)
	}
	return request
}

func TestAJobPageShowsAllOfTheJob(t *testing.T) {
	kinds := fairlead.NewMux()
	kinds.Handle("calls", fairlead.HandlerOptions{}, fairlead.HandlerFunc(func(ctx context.Context, job *fairlead.Job) error {
		if job.Attempt == 1 {
			return errors.New("first it broke\n\tat line 1 <script>")
		}
		return fairlead.SetOutput(ctx, json.RawMessage(`{"status":200,"duration_ms":12,"request":{"method":"POST","url":"https://shop.example/x"},"response":{"headers":{"X-One":"1"},"body":"{\"big\":12345678901234567890}"}}`))
	}))
	r := newRig(t, false, kinds)
	job := &fairlead.Job{
		Kind: "calls", Tenant: "acme", Args: json.RawMessage(`{"n":98765432109876543210}`), Key: "once", Priority: 4, MaxAttempts: 3, Timeout: 90 * time.Second,
		Retry: &fairlead.Retry{Base: time.Millisecond}, Trace: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", OnCrash: fairlead.CancelOnCrash,
	}
	r.enqueue(job)
	r.run()
	r.await(1)
	raw := r.page(http.StatusOK, "/jobs/"+fmt.Sprint(job.ID))
	r.shows(raw, "first it broke\n\tat line 1 &lt;script&gt;", "98765432109876543210", `role="img"`, `id="attempt-`)
	r.shows(html.UnescapeString(raw), `12345678901234567890`, "POST https://shop.example/x", "X-One", "Failed attempts", "Attempt 1", "here",
		"4bf92f3577b34da6a3ce929d0e0e4736", "1 of 3 failed", "of the first attempt", "1m 30s", "cancel", `href="/jobs?key=once&tenant=acme"`, "Timeline")
	r.hides(raw, "Why is it not running?", "<script>\n")
}

func TestAJobPageLeadsToWhatMadeIt(t *testing.T) {
	r := newRig(t, false, nil)
	made, err := schedule.NewClient(r.store).Put(t.Context(), schedule.Schedule{Name: "nightly", Every: time.Hour, Job: fairlead.Job{Kind: "noop"}})
	if err != nil {
		t.Fatal(err)
	}
	fire, err := schedule.NewClient(r.store).Trigger(t.Context(), made.ID, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.shows(r.jobPage(&fairlead.Job{ID: fire.Job}), fmt.Sprintf(`href="/schedules/%d">nightly</a>`, made.ID))
	if ids := r.listed(fmt.Sprintf("/jobs?schedule=%d", made.ID)); len(ids) != 1 {
		t.Errorf("%v are jobs of the schedule", ids)
	}
	r.countsHold(fmt.Sprintf("/jobs?schedule=%d", made.ID))
	sweep, shard := shardOf(&fairleadv1.Job{Kind: "sweep.resize", Args: []byte(`{"sweep_id":12,"shard":3}`)})
	if sweep != "12" || shard != 3 {
		t.Errorf("it goes over shard %d of sweep %q", shard, sweep)
	}
	if sweep, _ := shardOf(&fairleadv1.Job{Kind: "resize", Args: []byte(`{"sweep_id":12,"shard":3}`)}); sweep != "" {
		t.Error("a job of another kind goes over a shard")
	}
}

func TestATraceIsNamedByItsIDAlone(t *testing.T) {
	const id = "4bf92f3577b34da6a3ce929d0e0e4736"
	for given, want := range map[string]string{"00-" + id + "-00f067aa0ba902b7-01": id, "": "", id: "", "00-" + id: "", "00-x" + id[1:] + "-00f067aa0ba902b7-01": ""} {
		if got := traceID(given); got != want {
			t.Errorf("%q is of trace %q, want %q", given, got, want)
		}
	}
}

func TestAJobPageShowsTheCallOfTheLastAttempt(t *testing.T) {
	var calls atomic.Int64
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if calls.Add(1) == 1 {
			http.Error(w, "too many at first", http.StatusTooManyRequests)
			return
		}
		_, _ = io.WriteString(w, "welcome at last")
	}))
	defer target.Close()
	guard, err := httpcall.NewGuard(nil, true)
	if err != nil {
		t.Fatal(err)
	}
	kinds := fairlead.NewMux()
	httpcall.New(httpcall.Options{Guard: guard}).Register(kinds)
	r := newRig(t, false, kinds)
	job := &fairlead.Job{Kind: httpcall.Kind, Args: []byte(`{"url":"` + target.URL + `"}`), Retry: &fairlead.Retry{Base: time.Millisecond}}
	r.enqueue(job)
	r.run()
	r.await(1)
	page := r.jobPage(job)
	r.shows(page, "status 200", "welcome at last", "429", `<a href="#job-call">HTTP call</a>`)
	r.hides(page, "status 429")
}
