package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/internal/sqlitetest"
)

// A message that is refused at first comes again with the same id; all are signed.
func TestAReceiverIsToldThatJobsFailedForGoodWithTheirNumber(t *testing.T) {
	t.Setenv("SERVE_ALERT_SECRET", "hunter2")
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadRequest) }))
	defer target.Close()
	url, heard, refused := listener(t)
	node := startServe(t, "--db", sqlitetest.URL(t), "--poll", "20ms", "--allow-secret", "env:SERVE_ALERT_SECRET")
	node.send(t, "PUT", "/api/v1/alerts/calls", fmt.Sprintf(`{"scope":"queue:out","url":%q,"gather":"1ms","quiet":"1ms","signing_secret":"${env:SERVE_ALERT_SECRET}"}`, url))
	const jobs = 30
	for range jobs {
		node.send(t, "POST", "/api/v1/jobs", fmt.Sprintf(`{"jobs":[{"kind":"http","queue":"out","max_attempts":1,"args":{"url":%q}}]}`, target.URL))
	}
	counted := 0.0
	ids := map[string]bool{}
	for counted < jobs {
		a := <-heard
		a.checkSignature(t, "hunter2")
		if a.body["event"] != "failed" || a.body["alert"] != "calls" || a.body["scope"] != "queue:out" || a.body["ready"] != nil {
			t.Fatalf("told %s", a.raw)
		}
		id := a.header.Get("webhook-id")
		if ids[id] {
			t.Errorf("%s came twice", id)
		}
		ids[id] = true
		counted += a.body["count"].(float64)
		example := a.body["examples"].([]any)[0].(map[string]any)
		if job := node.send(t, "GET", "/api/v1/jobs/"+example["id"].(string), ""); job["state"] != "failed" || example["error"] == "" {
			t.Errorf("its first example is %v", example)
		}
	}
	if counted != jobs {
		t.Errorf("%v failures were counted of %d", counted, jobs)
	}
	if id := <-refused; !ids[id] {
		t.Errorf("what was refused as %q did not come again", id)
	}
}

func TestAReceiverIsToldOfABacklogAndOfItsEnd(t *testing.T) {
	t.Parallel()
	called := make(chan struct{}, 10)
	target := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called <- struct{}{} }))
	defer target.Close()
	url, heard, _ := listener(t)
	node := startServe(t, "--db", sqlitetest.URL(t), "--poll", "20ms")
	node.send(t, "PUT", "/api/v1/alerts/late", fmt.Sprintf(`{"scope":"queue:out","url":%q,"on":["backlog","missed"],"backlog":"1ms","gather":"1ms"}`, url))
	node.send(t, "POST", "/api/v1/queues/out/pause", "")
	node.send(t, "POST", "/api/v1/jobs", fmt.Sprintf(`{"jobs":[{"kind":"http","queue":"out","args":{"url":%q}}]}`, target.URL))
	if a := <-heard; a.body["event"] != "backlog" || a.body["ready"] != 1.0 || a.body["backlog"] != "0.001s" || a.body["count"] != nil {
		t.Errorf("told %s", a.raw)
	}
	node.send(t, "POST", "/api/v1/queues/out/resume", "")
	if a := <-heard; a.body["event"] != "recovered" || a.body["ready"] != 0.0 {
		t.Errorf("told %s", a.raw)
	}
	<-called // the job runs, maybe after its queue was found empty
}

// The wait of a job that may start later begins then: the backlog says that its time has come.
func TestAReceiverIsToldThatAJobMissedItsStart(t *testing.T) {
	t.Parallel()
	url, heard, _ := listener(t)
	node := startServe(t, "--db", sqlitetest.URL(t), "--poll", "20ms")
	node.send(t, "PUT", "/api/v1/alerts/late", fmt.Sprintf(`{"scope":"kind:noop","url":%q,"on":["backlog","missed"],"backlog":"1ms","gather":"1ms"}`, url))
	node.send(t, "POST", "/api/v1/kinds/noop/pause", "")
	node.send(t, "POST", "/api/v1/jobs", fmt.Sprintf(`{"jobs":[{"kind":"noop","start_by":%q}]}`, time.Now().Add(time.Second).Format(time.RFC3339Nano)))
	if a := <-heard; a.body["event"] != "backlog" {
		t.Fatalf("told %s", a.raw)
	}
	node.send(t, "POST", "/api/v1/kinds/noop/resume", "")
	told := map[any]any{}
	for range 2 {
		a := <-heard
		told[a.body["event"]] = a.body["count"]
	}
	if told["missed"] != 1.0 || len(told) != 2 {
		t.Errorf("told %v", told)
	}
}
