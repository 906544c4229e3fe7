package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// A Target is the service that receives the demo's HTTP calls. It responds to them
// immediately, slowly, later through a callback, or never, and sometimes with an error.
type Target struct {
	mux    *http.ServeMux
	client *http.Client
	calls  atomic.Int64 // number of calls to /flaky

	ctx     context.Context
	cancel  context.CancelFunc
	answers sync.WaitGroup
	mu      sync.Mutex
	service *url.URL // allowed destination of callbacks; nil = none
}

// NewTarget returns a target. The caller must call Close.
func NewTarget() *Target {
	t := &Target{mux: http.NewServeMux(), client: &http.Client{Timeout: 10 * time.Second}}
	t.ctx, t.cancel = context.WithCancel(context.Background())
	t.mux.HandleFunc("/sync", t.sync)
	t.mux.HandleFunc("/slow", t.slow)
	t.mux.HandleFunc("/flaky", t.flaky)
	t.mux.HandleFunc("/async", t.async)
	t.mux.HandleFunc("/never", accept)
	return t
}

// SetService sets the URL of the service that receives callbacks. The target never calls any
// other URL, regardless of what a request contains.
func (t *Target) SetService(service string) error {
	parsed, err := url.Parse(service)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.service = parsed
	return nil
}

// Close cancels pending callbacks, and waits for those in progress.
func (t *Target) Close() {
	t.cancel()
	t.answers.Wait()
}

// ServeHTTP responds to one of the demo's calls.
func (t *Target) ServeHTTP(w http.ResponseWriter, r *http.Request) { t.mux.ServeHTTP(w, r) }

func (t *Target) sync(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, map[string]any{"rows": 1200 + time.Now().Unix()%97, "status": "stored"})
}

// longest limits the delay of /slow.
const longest = 30 * time.Second

func (t *Target) slow(w http.ResponseWriter, r *http.Request) {
	seconds, err := strconv.Atoi(r.URL.Query().Get("seconds"))
	if err != nil || seconds < 0 {
		answer(w, http.StatusBadRequest, map[string]any{"error": "seconds must be a number, as in /slow?seconds=5"})
		return
	}
	if work(r.Context(), min(time.Duration(seconds)*time.Second, longest)) != nil {
		return // the caller has disconnected
	}
	answer(w, http.StatusOK, map[string]any{"status": "exported", "seconds": seconds})
}

// flaky fails every third call, in alternating ways.
func (t *Target) flaky(w http.ResponseWriter, _ *http.Request) {
	n := t.calls.Add(1)
	switch {
	case n%3 != 0:
		answer(w, http.StatusOK, map[string]any{"status": "delivered"})
	case n%2 == 0:
		w.Header().Set("Retry-After", "3")
		answer(w, http.StatusTooManyRequests, map[string]any{"error": "partner quota exceeded"})
	default:
		answer(w, http.StatusServiceUnavailable, map[string]any{"error": "upstream connect error: connection refused"})
	}
}

// async accepts a call and answers it some seconds later.
func (t *Target) async(w http.ResponseWriter, r *http.Request) {
	callback, token := r.Header.Get("Fairlead-Callback-Url"), r.Header.Get("Fairlead-Callback-Token")
	if !t.mayCall(callback) {
		answer(w, http.StatusBadRequest, map[string]any{"error": "Fairlead-Callback-Url does not point to the server of this demo"})
		return
	}
	n := t.calls.Add(1)
	t.answers.Go(func() {
		if work(t.ctx, time.Duration(4+n%5)*time.Second) != nil {
			return
		}
		body := map[string]any{"status": "success", "output": map[string]any{"pallets": 40 + n%13, "site": "north"}}
		if n%7 == 0 {
			body = map[string]any{"status": "failure", "error": "the site reports a stock of -3 pallets"}
		}
		t.report(callback, token, body)
	})
	accept(w, r)
}

func (t *Target) mayCall(callback string) bool {
	parsed, err := url.Parse(callback)
	t.mu.Lock()
	defer t.mu.Unlock()
	return err == nil && t.service != nil && parsed.Scheme == t.service.Scheme && parsed.Host == t.service.Host
}

// report answers a job. If the report is lost, the job fails at its deadline.
func (t *Target) report(callback, token string, body map[string]any) {
	raw, err := json.Marshal(body)
	if err != nil {
		return
	}
	request, err := http.NewRequestWithContext(t.ctx, http.MethodPost, callback, bytes.NewReader(raw))
	if err != nil {
		return
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	if response, err := t.client.Do(request); err == nil {
		_ = response.Body.Close()
	}
}

func accept(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusAccepted, map[string]any{"status": "accepted"})
}

func answer(w http.ResponseWriter, status int, body map[string]any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if raw, err := json.Marshal(body); err == nil {
		fmt.Fprintln(w, string(raw))
	}
}
