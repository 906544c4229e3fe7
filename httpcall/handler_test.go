package httpcall_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/httpcall"
)

const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

// capture is a fairlead.Run that keeps what it is told.
type capture struct {
	job              *fairlead.Job
	output, progress json.RawMessage
}

func (c *capture) Save(context.Context, fairlead.Save) error { return nil }
func (c *capture) SetOutput(output json.RawMessage)          { c.output = output }
func (c *capture) SetProgress(progress json.RawMessage)      { c.progress = progress }
func (c *capture) Job() *fairlead.Job                        { return c.job }

// snapshot is what was kept of the call.
func (c *capture) snapshot(t *testing.T) httpcall.Snapshot {
	t.Helper()
	var snapshot httpcall.Snapshot
	if err := json.Unmarshal(append(c.output, c.progress...), &snapshot); err != nil {
		t.Fatalf("output %s, progress %s: %v", c.output, c.progress, err)
	}
	return snapshot
}

// work runs a job with this call once.
func work(t *testing.T, guard *httpcall.Guard, call httpcall.Call) (*capture, error) {
	t.Helper()
	return workWith(t, httpcall.Options{Guard: guard}, call)
}

func workWith(t *testing.T, options httpcall.Options, call httpcall.Call) (*capture, error) {
	t.Helper()
	args, err := json.Marshal(call)
	if err != nil {
		t.Fatal(err)
	}
	c := &capture{job: &fairlead.Job{
		ID: 12, Kind: httpcall.Kind, Tenant: "acme", Key: "order 7/8", Args: args, Trace: traceparent,
		NotBefore: time.Date(2030, 1, 2, 3, 4, 5, 6000, time.UTC), Status: fairlead.Status{Attempt: 3, Fence: 77, Fired: options.Schedule != nil},
	}}
	return c, httpcall.New(options).Work(fairlead.ContextWithRun(t.Context(), c), c.job)
}

func local(t *testing.T) *httpcall.Guard {
	t.Helper()
	guard, err := httpcall.NewGuard(nil, true)
	if err != nil {
		t.Fatal(err)
	}
	return guard
}

func fatal(err error) bool {
	var outcome *fairlead.Outcome
	return errors.As(err, &outcome) && outcome.Settlement().Move == fairlead.Fail
}

func TestACallCarriesWhoCallsAndKeepsTheAnswer(t *testing.T) {
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		for header, want := range map[string]string{
			"Fairlead-Job": "12", "Fairlead-Attempt": "3", "Fairlead-Fence": "77", "Traceparent": traceparent,
			"Idempotency-Key": "fairlead-12", "X-Team": "billing", "Content-Type": "application/json",
		} {
			if got := r.Header.Get(header); got != want {
				t.Errorf("%s: got %q, want %q", header, got, want)
			}
		}
		for header := range r.Header {
			if strings.HasPrefix(header, "Webhook") {
				t.Errorf("a call that is not signed has the header %s", header)
			}
		}
		if r.Host == "forged" || r.Close {
			t.Errorf("headers of the connection were set: host %s, close %t", r.Host, r.Close)
		}
		if r.Method != http.MethodPut || string(body) != `{"a":1}` {
			t.Errorf("got %s %s", r.Method, body)
		}
		_, _ = w.Write([]byte("thanks"))
	}))
	defer target.Close()
	run, err := work(t, local(t), httpcall.Call{
		Method: http.MethodPut, URL: target.URL, Body: json.RawMessage(`{"a":1}`),
		Headers: map[string]string{"X-Team": "billing", "Fairlead-Job": "forged", "idempotency-key": "forged", "webhook-signature": "forged", "Webhook_Id": "forged", "Host": "forged", "Connection": "close", "Transfer-Encoding": "forged"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if kept := run.snapshot(t); kept.Status != 200 || kept.Response.Body != "thanks" || kept.Request.Body != `{"a":1}` || kept.Request.Method != http.MethodPut {
		t.Errorf("output %s", run.output)
	}
}

func TestStatusDecides(t *testing.T) {
	for status, want := range map[int]string{200: "ok", 204: "ok", 302: "retry", 400: "fatal", 404: "fatal", 408: "retry", 429: "retry", 500: "retry", 503: "retry"} {
		target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(status)
		}))
		_, err := work(t, local(t), httpcall.Call{URL: target.URL})
		target.Close()
		got := "ok"
		if fatal(err) {
			got = "fatal"
		} else if err != nil {
			got = "retry"
		}
		if got != want {
			t.Errorf("%d: got %s (%v), want %s", status, got, err, want)
		}
	}
}

func TestBadArgsFailForGood(t *testing.T) {
	for _, url := range []string{"", "ftp://x/", "/relative", "http://"} {
		if _, err := work(t, local(t), httpcall.Call{URL: url}); !fatal(err) {
			t.Errorf("%q: got %v", url, err)
		}
	}
}

func TestGuardDeniesAtDialTime(t *testing.T) {
	target := httptest.NewServer(http.NotFoundHandler())
	defer target.Close()
	strict, err := httpcall.NewGuard(nil, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, url := range []string{target.URL, strings.Replace(target.URL, "127.0.0.1", "localhost", 1)} {
		if _, err := work(t, strict, httpcall.Call{URL: url}); !fatal(err) || !strings.Contains(err.Error(), "--allow-target") {
			t.Errorf("%s: got %v", url, err)
		}
	}
	listed, err := httpcall.NewGuard([]string{"127.0.0.0/8"}, false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := work(t, listed, httpcall.Call{URL: target.URL}); err == nil || strings.Contains(err.Error(), "--allow-target") {
		t.Errorf("a listed network was denied: %v", err)
	}
	if _, err := work(t, local(t), httpcall.Call{URL: "http://169.254.169.254/latest/meta-data"}); !fatal(err) {
		t.Errorf("the metadata address: got %v", err)
	}
	if _, err := httpcall.NewGuard([]string{"not-a-network/9"}, false); err == nil {
		t.Error("a bad entry was accepted")
	}
}

func TestErrorsDoNotSayWhatMayBeSecretInTheURL(t *testing.T) {
	target := httptest.NewServer(http.NotFoundHandler())
	secret := strings.Replace(target.URL, "http://", "http://ada:hunter2@", 1) + "/hook?token=hunter2"
	_, refused := work(t, local(t), httpcall.Call{URL: secret})
	target.Close()
	_, unreachable := work(t, local(t), httpcall.Call{URL: secret})
	for _, err := range []error{refused, unreachable} {
		if err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), target.URL+"/hook") {
			t.Errorf("got %v", err)
		}
	}
}
