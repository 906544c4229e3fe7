package httpcall_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/httpcall"
)

// try makes a call that is not stored.
func try(t *testing.T, options httpcall.Options, call httpcall.Call) (httpcall.Snapshot, bool, error) {
	t.Helper()
	args, err := json.Marshal(call)
	if err != nil {
		t.Fatal(err)
	}
	job := &fairlead.Job{Kind: httpcall.Kind, Tenant: "acme", Args: args}
	return httpcall.New(options).Try(t.Context(), job, httpcall.Origin{Schedule: "nightly", Due: time.Now()})
}

func TestACallThatIsTriedIsMadeOnceAndKeepsNoSecret(t *testing.T) {
	t.Setenv("TRY_SECRET", "sesame")
	secrets, err := httpcall.NewSecrets([]string{"env:TRY_SECRET"})
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls++
		if r.Header.Get("X-Token") != "sesame" || !strings.HasPrefix(r.Header.Get("Idempotency-Key"), "fairlead-test-") {
			t.Errorf("the headers are %v", r.Header)
		}
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte("no sesame today"))
	}))
	defer target.Close()
	call := httpcall.Call{URL: target.URL + "/{{schedule}}", Headers: map[string]string{"X-Token": "${env:TRY_SECRET}"}, Body: json.RawMessage(`{"at":"{{due_time}}"}`)}
	kept, success, err := try(t, httpcall.Options{Guard: local(t), Secrets: secrets}, call)
	if err != nil || success || calls != 1 {
		t.Fatalf("after %d calls: %v, %v", calls, success, err)
	}
	if kept.Status != 503 || kept.ErrorClass != httpcall.ClassStatus || !strings.HasSuffix(kept.Request.URL, "/nightly") || kept.Response.Body != "no *** today" {
		t.Errorf("%+v is kept", kept)
	}
	if raw, err := json.Marshal(kept); err != nil || strings.Contains(string(raw), "sesame") {
		t.Errorf("%s is kept, %v", raw, err)
	}
}

func TestWhatCannotBeTriedIsRefused(t *testing.T) {
	for field, call := range map[string]httpcall.Call{
		"args.url":   {URL: "nowhere"},
		"args.async": {URL: "http://127.0.0.1:1/", Async: true},
	} {
		_, _, err := try(t, httpcall.Options{Guard: local(t)}, call)
		var invalid *fairlead.InvalidError
		if !errors.As(err, &invalid) || invalid.Fields[0].Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func TestACallThatIsTriedPassesTheGuard(t *testing.T) {
	guard, err := httpcall.NewGuard(nil, false)
	if err != nil {
		t.Fatal(err)
	}
	kept, success, err := try(t, httpcall.Options{Guard: guard}, httpcall.Call{URL: "http://127.0.0.1:1/"})
	if err != nil || success || kept.Status != 0 || kept.ErrorClass != httpcall.ClassConnect || !strings.Contains(kept.Error, "127.0.0.1") {
		t.Errorf("%+v, %v, %v", kept, success, err)
	}
}
