package httpcall_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/fairleadtest"
	"github.com/fairlead-io/fairlead/httpcall"
	"github.com/fairlead-io/fairlead/sqlite"
)

// scene is a node on a real store and a target that answers as it is told.
type scene struct {
	*testing.T
	*fairleadtest.Node[*sqlite.Store]
	target *httptest.Server

	mu     sync.Mutex
	answer http.HandlerFunc
	seen   []http.Header
}

func newScene(t *testing.T, options httpcall.Options) *scene {
	t.Helper()
	s := &scene{T: t}
	s.target = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.seen = append(s.seen, r.Header.Clone())
		answer := s.answer
		s.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(s.target.Close)
	s.says(func(http.ResponseWriter, *http.Request) {})
	mux := fairlead.NewMux()
	options.Guard = local(t)
	keeper := &lateKeeper{}
	options.Keeper, options.PublicURL = keeper, "https://fairlead.example.org/"
	httpcall.New(options).Register(mux)
	s.Node = fairleadtest.New(t, mux)
	keeper.SecretKeeper = s.Store
	return s
}

// lateKeeper is a store that is opened after its handlers were made.
type lateKeeper struct{ httpcall.SecretKeeper }

// says sets what the target answers from now on.
func (s *scene) says(answer http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

func (s *scene) saysStatus(status int) {
	s.says(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
}

// last is the headers of the last request.
func (s *scene) last() http.Header {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen[len(s.seen)-1]
}

func (s *scene) calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.seen)
}

// enqueue stores a job; its args get the target's URL if they have none.
func (s *scene) enqueue(job *fairlead.Job, call httpcall.Call) *fairlead.Job {
	s.Helper()
	if call.URL == "" {
		call.URL = s.target.URL
	}
	args, err := json.Marshal(call)
	if err != nil {
		s.Fatal(err)
	}
	job.Kind, job.Args = httpcall.Kind, args
	if err := s.Client.Enqueue(s.Context(), job); err != nil {
		s.Fatal(err)
	}
	return job
}

func snapshotOf(t *testing.T, raw json.RawMessage) httpcall.Snapshot {
	t.Helper()
	var snapshot httpcall.Snapshot
	if err := json.Unmarshal(raw, &snapshot); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return snapshot
}

func TestFailuresAreToldApart(t *testing.T) {
	s := newScene(t, httpcall.Options{})
	hang := make(chan struct{})
	defer close(hang)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	once := func() *fairlead.Job { return &fairlead.Job{MaxAttempts: 1} }
	for _, c := range []struct {
		class  httpcall.Class
		status int
		reason fairlead.Reason
		call   httpcall.Call
		answer http.HandlerFunc
	}{
		{httpcall.ClassStatus, 500, fairlead.ReasonError, httpcall.Call{}, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }},
		{httpcall.ClassStatus, 404, fairlead.ReasonFatal, httpcall.Call{}, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) }},
		{httpcall.ClassStatus, 200, fairlead.ReasonError, httpcall.Call{Success: &httpcall.Success{Expression: "body.ok"}}, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"ok":false}`)) }},
		{httpcall.ClassConnect, 0, fairlead.ReasonError, httpcall.Call{URL: gone.URL}, nil},
		{httpcall.ClassConnect, 0, fairlead.ReasonFatal, httpcall.Call{URL: "http://169.254.169.254/"}, nil},
		{httpcall.ClassConnect, 0, fairlead.ReasonError, httpcall.Call{}, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }},
		{httpcall.ClassTimeout, 0, fairlead.ReasonTimeout, httpcall.Call{TimeoutSeconds: 0.05}, func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-hang:
			case <-r.Context().Done():
			}
		}},
		{httpcall.ClassTimeout, 200, fairlead.ReasonTimeout, httpcall.Call{TimeoutSeconds: 0.05}, func(w http.ResponseWriter, r *http.Request) {
			_ = http.NewResponseController(w).Flush()
			select {
			case <-hang:
			case <-r.Context().Done():
			}
		}},
	} {
		if c.answer != nil {
			s.says(c.answer)
		}
		s.enqueue(once(), c.call)
		job := s.Work()
		kept := snapshotOf(t, job.Progress)
		if job.State != fairlead.Failed || job.Reason != c.reason || !strings.HasPrefix(job.Error, string(c.class)+": ") {
			t.Errorf("%s %d: the job is %s: %s: %s", c.class, c.status, job.State, job.Reason, job.Error)
		}
		if kept.ErrorClass != c.class || kept.Status != c.status || kept.Error != job.Error || kept.Request.Method != "POST" || kept.Request.URL == "" {
			t.Errorf("%s %d: kept %s", c.class, c.status, job.Progress)
		}
	}
}

func TestRetryAfterIsObeyedWithinBounds(t *testing.T) {
	s := newScene(t, httpcall.Options{})
	for _, c := range []struct {
		status int
		header string
		retry  *fairlead.Retry
		want   time.Duration
	}{
		{429, "120", fairlead.Fixed(time.Second), 2 * time.Minute},
		{503, "120", fairlead.Fixed(time.Second), 2 * time.Minute},
		{503, "999999", fairlead.Fixed(time.Second), time.Hour},
		{503, "1", fairlead.Fixed(time.Minute), time.Minute},
		{503, "1", fairlead.Fixed(2 * time.Hour), 2 * time.Hour},
		{503, "-5", fairlead.Fixed(time.Minute), time.Minute},
		{503, "soon", fairlead.Fixed(time.Minute), time.Minute},
		{503, "Mon, 02 Jan 2006 15:04:05 GMT", fairlead.Fixed(time.Minute), time.Minute},
		{500, "120", fairlead.Fixed(time.Second), time.Second},
	} {
		s.says(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", c.header)
			w.WriteHeader(c.status)
		})
		s.enqueue(&fairlead.Job{Retry: c.retry}, httpcall.Call{})
		job := s.Work()
		if got := job.NotBefore.Sub(s.Now()); job.State != fairlead.Scheduled || got != c.want || job.Failures != 1 {
			t.Errorf("%d, %s: the job is %s, due in %v, want %v", c.status, c.header, job.State, got, c.want)
		}
		if err := s.Client.Cancel(t.Context(), job.ID, "done"); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTheIdempotencyKeyStaysUntilSomebodyRetriesByHand(t *testing.T) {
	s := newScene(t, httpcall.Options{})
	s.saysStatus(500)
	job := s.enqueue(&fairlead.Job{MaxAttempts: 3, Retry: fairlead.Fixed(time.Second)}, httpcall.Call{})
	run := func() string {
		t.Helper()
		s.Advance(time.Minute)
		s.Work()
		return s.last().Get("Idempotency-Key")
	}
	var keys []string
	for range 3 {
		keys = append(keys, run())
	}
	for range 2 { // by hand, twice
		if err := s.Client.Retry(t.Context(), job.ID); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			keys = append(keys, run())
		}
	}
	for i, key := range keys {
		if same, group := key == keys[i/3*3], i/3; !same || group > 0 && key == keys[(group-1)*3] {
			t.Errorf("the keys are %v", keys)
			break
		}
	}
}

func TestAnAcceptedCallWaitsForItsCallback(t *testing.T) {
	s := newScene(t, httpcall.Options{})
	s.saysStatus(http.StatusAccepted)
	job := s.enqueue(&fairlead.Job{Tenant: "acme", MaxAttempts: 1}, httpcall.Call{
		Async: true, CallbackTimeoutSeconds: 600, CallbackMethod: "put", URL: s.target.URL + "/?cb={{callback_url}}&t={{callback_token}}",
		Headers: map[string]string{"X-Token": "{{callback_token}}"},
	})
	waiting := s.Work()
	if waiting.State != fairlead.Waiting || waiting.Deadline.Sub(s.Now()) != 10*time.Minute {
		t.Fatalf("the job is %s until %v", waiting.State, waiting.Deadline)
	}
	sent := s.last()
	token := sent.Get("Fairlead-Callback-Token")
	if want := "https://fairlead.example.org/api/v1/callbacks/" + sent.Get("Fairlead-Job"); sent.Get("Fairlead-Callback-Url") != want || sent.Get("X-Token") != token || sent.Get("Fairlead-Callback-Method") != "PUT" {
		t.Errorf("sent %v", sent)
	}
	key, err := httpcall.CallbackKey(t.Context(), s.Store)
	if err != nil {
		t.Fatal(err)
	}
	callback, err := httpcall.VerifyToken(key, token, time.Now())
	if err != nil || callback.Job != job.ID || callback.Fence != waiting.Fence || callback.Tenant != "acme" {
		t.Errorf("the token is of %+v: %v", callback, err)
	}
	if kept := string(waiting.Progress); strings.Contains(kept, token) || !strings.Contains(kept, "/?cb=https%3A%2F%2Ffairlead.example.org") {
		t.Errorf("kept %s", kept)
	}
	answer := fairlead.Settlement{ID: job.ID, Fence: callback.Fence, Move: fairlead.Succeed, Output: json.RawMessage(`{"rows":3}`)}
	if err := s.Store.Resolve(t.Context(), answer); err != nil {
		t.Fatal(err)
	}
	done, err := s.Client.Get(t.Context(), job.ID)
	if err != nil || done.State != fairlead.Succeeded || string(done.Output) != `{"rows":3}` || snapshotOf(t, done.Progress).Status != 202 {
		t.Errorf("the job is %+v: %v", done, err)
	}
}

func TestAnAsyncCallThatIsNotAcceptedFails(t *testing.T) {
	s := newScene(t, httpcall.Options{})
	s.saysStatus(http.StatusBadRequest)
	s.enqueue(&fairlead.Job{}, httpcall.Call{Async: true})
	if job := s.Work(); job.State != fairlead.Failed || job.Reason != fairlead.ReasonFatal {
		t.Errorf("the job is %s: %s", job.State, job.Error)
	}
	_, err := workWith(t, httpcall.Options{Guard: local(t)}, httpcall.Call{URL: s.target.URL, Async: true})
	if !fatal(err) || !strings.Contains(err.Error(), "args.async") {
		t.Errorf("without a keeper: %v", err)
	}
}

func TestATargetThatIsDownCostsNoAttempts(t *testing.T) {
	s := newScene(t, httpcall.Options{MaxFailures: 3})
	s.saysStatus(http.StatusBadGateway)
	for range 10 {
		s.enqueue(&fairlead.Job{MaxAttempts: 5, Retry: fairlead.Fixed(time.Hour)}, httpcall.Call{})
	}
	failures := 0
	for _, job := range s.Drain() {
		failures += job.Failures
		if job.State != fairlead.Scheduled {
			t.Errorf("the job is %s", job.State)
		}
	}
	if failures != 3 || s.calls() != 3 {
		t.Errorf("%d calls, %d failures", s.calls(), failures)
	}
}

func TestABusyTargetCostsNoAttempts(t *testing.T) {
	s := newScene(t, httpcall.Options{MaxRunning: 1})
	s.says(func(http.ResponseWriter, *http.Request) {
		// While this call is under way, the other job comes along.
		second := s.Work()
		if second.State != fairlead.Scheduled || second.Failures != 0 {
			t.Errorf("the second job is %s with %d failures", second.State, second.Failures)
		}
		s.says(func(http.ResponseWriter, *http.Request) {})
	})
	for range 2 {
		s.enqueue(&fairlead.Job{}, httpcall.Call{})
	}
	if first := s.Work(); first.State != fairlead.Succeeded {
		t.Errorf("the first job is %s: %s", first.State, first.Error)
	}
	s.Advance(time.Minute)
	if second := s.Work(); second.State != fairlead.Succeeded || s.calls() != 2 {
		t.Errorf("the second job is %s after %d calls", second.State, s.calls())
	}
}

func TestTheJobsTimeoutHoldsToo(t *testing.T) {
	s := newScene(t, httpcall.Options{})
	s.says(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	s.enqueue(&fairlead.Job{Timeout: 50 * time.Millisecond, MaxAttempts: 1}, httpcall.Call{TimeoutSeconds: 3600})
	if job := s.Work(); job.Reason != fairlead.ReasonTimeout {
		t.Errorf("the job is %s: %s", job.State, job.Error)
	}
	var invalid *fairlead.InvalidError
	if err := httpcall.Validate(json.RawMessage(`{"url":"http://x","timeout_seconds":1e9}`)); !errors.As(err, &invalid) {
		t.Errorf("a timeout of decades: %v", err)
	}
}
