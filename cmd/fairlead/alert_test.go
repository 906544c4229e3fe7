package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/fairlead-io/fairlead/internal/sqlitetest"
)

// alarmed is a call that told of something.
type alarmed struct {
	header http.Header
	raw    []byte
	body   map[string]any
}

// listener takes alerts, and refuses the first one so that it has to come again.
func listener(t *testing.T) (url string, heard chan alarmed, refused chan string) {
	t.Helper()
	heard, refused = make(chan alarmed, 100), make(chan string, 100)
	var calls atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		if calls.Add(1) == 1 {
			refused <- r.Header.Get("webhook-id")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		a := alarmed{header: r.Header, raw: raw}
		if err := json.Unmarshal(raw, &a.body); err != nil {
			t.Errorf("an alert is %s: %v", raw, err)
		}
		heard <- a
	}))
	t.Cleanup(server.Close)
	return server.URL, heard, refused
}

func (a alarmed) checkSignature(t *testing.T, secret string) {
	t.Helper()
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "%s.%s.%s", a.header.Get("webhook-id"), a.header.Get("webhook-timestamp"), a.raw)
	if want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)); a.header.Get("webhook-signature") != want {
		t.Errorf("it is signed as %q, want %q", a.header.Get("webhook-signature"), want)
	}
}

func TestSomebodyIsToldOfRunsThatFailAndOfTheirRecovery(t *testing.T) {
	t.Setenv("SERVE_ALERT_SECRET", "hunter2")
	var works atomic.Bool
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if !works.Load() {
			w.WriteHeader(http.StatusBadRequest)
		}
	}))
	defer target.Close()
	url, heard, refused := listener(t)
	node := startServe(t, "--db", sqlitetest.URL(t), "--poll", "20ms", "--allow-secret", "env:SERVE_ALERT_SECRET")
	schedule := node.send(t, "POST", "/api/v1/schedules", fmt.Sprintf(`{"name":"calls \"home\"","every":"1s","job":{"kind":"http","args":{"url":%q}},
		"alert":{"url":%q,"on":["failures","recovery"],"failures":2,"signing_secret":"${env:SERVE_ALERT_SECRET}"}}`, target.URL, url))

	first := <-heard
	if first.body["event"] != "failures" || first.body["failures"] != 2.0 || first.body["schedule"] != `calls "home"` || first.body["schedule_id"] != schedule["id"] {
		t.Errorf("told %s", first.raw)
	}
	if id := <-refused; first.header.Get("webhook-id") != id {
		t.Errorf("it came again as %q, first as %q", first.header.Get("webhook-id"), id)
	}
	first.checkSignature(t, "hunter2")
	run := node.send(t, "GET", "/api/v1/jobs/"+first.body["run_id"].(string), "")
	if run["state"] != "failed" || run["schedule_id"] != schedule["id"] {
		t.Errorf("it is about %v", run)
	}

	works.Store(true)
	second := <-heard
	if second.body["event"] != "recovery" || second.body["state"] != "succeeded" || second.header.Get("webhook-id") == first.header.Get("webhook-id") {
		t.Errorf("told %s after %s", second.raw, first.raw)
	}
	second.checkSignature(t, "hunter2")
}
