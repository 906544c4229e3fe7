package httpcall_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/httpcall"
)

func TestACallIsFilledIn(t *testing.T) {
	target := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if want := "/jobs/12/order%207%2F8?due=2031-01-02T03%3A04%3A05.000000Z&attempt=3"; r.RequestURI != want {
			t.Errorf("called %s, want %s", r.RequestURI, want)
		}
		if want := "nightly acme"; r.Header.Get("X-From") != want {
			t.Errorf("header %q, want %q", r.Header.Get("X-From"), want)
		}
		if want := `{"fence":"77","who":"Ada \"A\"","n":42}`; string(body) != want {
			t.Errorf("body %s, want %s", body, want)
		}
	}))
	defer target.Close()
	schedule := func(context.Context, *fairlead.Job) (httpcall.Origin, error) {
		return httpcall.Origin{Schedule: "nightly", Due: time.Date(2031, 1, 2, 3, 4, 5, 0, time.UTC)}, nil
	}
	_, err := workWith(t, httpcall.Options{Guard: local(t), Schedule: schedule}, httpcall.Call{
		URL:     target.URL + "/jobs/{{run_id}}/{{key}}?due={{due_time}}&attempt={{attempt}}",
		Headers: map[string]string{"X-From": "{{schedule}} {{tenant}}"},
		Body:    json.RawMessage(`{"fence":"{{fence}}","who":"{{args.who.name}}","n":42}`),
		Vars:    json.RawMessage(`{"who":{"name":"Ada \"A\""}}`),
	})
	if err != nil {
		t.Error(err)
	}
}

func TestACallIsSignedAsStandardWebhooksSay(t *testing.T) {
	key := bytes.Repeat([]byte{7}, 24)
	t.Setenv("CALL_HOOK", "whsec_"+base64.StdEncoding.EncodeToString(key))
	listed, err := httpcall.NewSecrets([]string{"env:CALL_HOOK"})
	if err != nil {
		t.Fatal(err)
	}
	target := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(r.Header.Get("Webhook-Id") + "." + r.Header.Get("Webhook-Timestamp") + "." + string(body)))
		if want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)); r.Header.Get("Webhook-Signature") != want || r.Header.Get("Webhook-Id") != "fairlead-12" {
			t.Errorf("got %v, want %s", r.Header, want)
		}
	}))
	defer target.Close()
	_, err = workWith(t, httpcall.Options{Guard: local(t), Secrets: listed}, httpcall.Call{
		URL: target.URL, Body: json.RawMessage(`{"a":1}`), SigningSecret: "${env:CALL_HOOK}", Headers: map[string]string{"webhook-signature": "forged"},
	})
	if err != nil {
		t.Error(err)
	}
}

func TestAnAnswerThatInflatesIsCut(t *testing.T) {
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		zip := gzip.NewWriter(w)
		chunk := make([]byte, 1<<20)
		for range 1000 {
			if _, err := zip.Write(chunk); err != nil {
				return // the caller is gone
			}
		}
		zip.Close()
		t.Error("the whole answer was read")
	}))
	defer target.Close()
	run, err := work(t, local(t), httpcall.Call{URL: target.URL})
	if err != nil {
		t.Fatal(err)
	}
	if kept := run.snapshot(t); len(kept.Response.Body) != 16<<10 || !kept.Response.Truncated {
		t.Errorf("kept %d bytes", len(kept.Response.Body))
	}
}

func TestACallThatIsEndedIsCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	target := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	}))
	defer target.Close()
	args, err := json.Marshal(httpcall.Call{URL: target.URL})
	if err != nil {
		t.Fatal(err)
	}
	c := &capture{job: &fairlead.Job{ID: 1, Args: args}}
	err = httpcall.New(httpcall.Options{Guard: local(t)}).Work(fairlead.ContextWithRun(ctx, c), c.job)
	var failure *httpcall.Error
	if !errors.As(err, &failure) || failure.Class != httpcall.ClassCanceled || c.snapshot(t).ErrorClass != httpcall.ClassCanceled || fatal(err) {
		t.Errorf("got %v, kept %s", err, c.progress)
	}
}
