package browser

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// plan stores a schedule and returns its ID.
func (n *night) plan(body string) string {
	n.Helper()
	var answer struct{ ID string }
	if err := json.Unmarshal(n.ask(http.MethodPost, "/schedules", body), &answer); err != nil {
		n.Fatal(err)
	}
	return answer.ID
}

// seesTheEffectOfACronExpression edits a schedule from the overview.
func seesTheEffectOfACronExpression(t *testing.T) *person {
	n := newNight(t)
	n.plan(`{"name":"nightly","cron":"0 3 * * *","timezone":"Europe/Berlin","job":` + n.call("/nightly", "") + `}`)
	n.wakes()
	n.goes("#overview-fires", "nightly")
	n.goes(".head", "Edit")
	n.types("Cron expression", "30 4 * * MON-FRI")
	n.sees("#fires-preview", "04:30:00")
	n.goes("form.act .buttons", "Preview")
	n.sees("#foreseen", "of its next fires will change.")
	if s := read[map[string]any](n, "/schedules/1"); s["cron"] != "0 0 3 * * *" {
		t.Errorf("the preview stored %v", s)
	}
	n.submits("Save")
	if s := read[map[string]any](n, "/schedules/1"); s["cron"] != "0 30 4 * * 1-5" {
		t.Errorf("stored is %v", s)
	}
	return n.person
}

// followsAScheduleToItsCallback starts from the next fires on the overview.
func followsAScheduleToItsCallback(t *testing.T) *person {
	n := newNight(t)
	tokens := make(chan [2]string, 1)
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tokens <- [2]string{r.Header.Get("Fairlead-Callback-Url"), r.Header.Get("Fairlead-Callback-Token")}
		w.WriteHeader(http.StatusAccepted)
	}))
	t.Cleanup(target.Close)
	id := n.plan(fmt.Sprintf(`{"name":"report","every":"1h","job":{"kind":"http","args":{"url":%q,"async":true}}}`, target.URL+"/report"))
	n.ask(http.MethodPost, "/schedules/"+id+"/trigger", "{}")
	back := <-tokens
	n.awaits("the job waits for the callback", func() bool { return n.count("state=waiting") == 1 })
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, back[0], strings.NewReader(`{"status":"success","output":{"rows":9}}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+back[1])
	answer, err := http.DefaultClient.Do(request)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("the callback is answered with %v, %v", answer, err)
	}
	_ = answer.Body.Close()
	n.wakes()
	n.goes("#overview-fires", "report")
	n.goes("#schedule-runs tbody tr:first-child", "")
	for _, step := range []string{"Run of schedule report", "Attempt 1", "HTTP call", "Waiting for the callback", "Answer succeeded", "End"} {
		n.sees("#job-timeline", step)
	}
	n.sees("#job-output", `"rows": 9`)
	job := read[map[string]any](n, "/jobs/"+n.lastOf("/jobs/"))
	if job["state"] != "succeeded" || job["schedule_id"] != id {
		t.Errorf("the job is %v", job)
	}
	return n.person
}

// testsAURLBeforeSchedulingIt fills in a new schedule.
func testsAURLBeforeSchedulingIt(t *testing.T) *person {
	n := newNight(t)
	n.wakes()
	n.goes(".nav", "Schedules")
	n.goes(".head", "New schedule")
	n.types("Name", "ping")
	n.click("#when", "At a fixed rate")
	n.types("At a fixed rate", "15m")
	n.types("URL", n.target.URL+"/ping")
	n.goes("form.act .buttons", "Test request")
	n.sees("#tested", "The request succeeded.")
	if n.target.called("/ping") != 1 || strings.Contains(string(n.ask(http.MethodGet, "/schedules", "")), "ping") {
		t.Errorf("%d calls before saving", n.target.called("/ping"))
	}
	n.submits("Save")
	if s := read[map[string]any](n, "/schedules/1"); s["name"] != "ping" || s["every"] != "900s" || n.target.called("/ping") != 1 {
		t.Errorf("stored is %v; %d calls", s, n.target.called("/ping"))
	}
	return n.person
}
