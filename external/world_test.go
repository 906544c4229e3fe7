package external_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/external"
	"github.com/fairlead-io/fairlead/httpcall"
	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/sqlite"
	"github.com/fairlead-io/fairlead/sweep"
)

// world is a database, a tenant "acme", and the tenant's service.
type world struct {
	*testing.T
	store   driver.Store
	client  *fairlead.Client
	batches *batch.Client
	sweeps  *sweep.Client
	service *service
	lease   time.Duration // of its nodes: long, or a slow machine loses them
	strict  bool          // loopback may not be called
}

func newWorld(t *testing.T, options sqlite.Options) *world {
	t.Helper()
	return newWorldOn(t, sqlitetest.OpenWith(t, options))
}

func newWorldOn(t *testing.T, store driver.Store) *world {
	t.Helper()
	t.Cleanup(func() { _ = store.Close() })
	return &world{T: t, store: store, client: fairlead.NewClient(store), batches: batch.NewClient(store), sweeps: sweep.NewClient(store), service: newService(t), lease: 20 * time.Second}
}

// declare stores the tenant "acme".
func (w *world) declare(tenant fairlead.Tenant) {
	w.Helper()
	tenant.Name = "acme"
	if current, err := w.client.Tenant(w.Context(), tenant.Name); err == nil {
		tenant.Version = current.Version
	}
	if _, err := w.client.PutTenant(w.Context(), tenant); err != nil {
		w.Fatal(err)
	}
	key, err := w.client.SigningKey(w.Context(), tenant.Name)
	if err != nil {
		w.Fatal(err)
	}
	w.service.setKey(key)
}

// courier makes a courier that looks often.
func (w *world) courier(store driver.Store) *external.Courier {
	w.Helper()
	guard, err := httpcall.NewGuard(nil, !w.strict)
	if err != nil {
		w.Fatal(err)
	}
	return external.New(store, external.Options{
		Guard: guard, PublicURL: "https://fairlead.example.org/", Logger: slog.New(slog.NewTextHandler(w.Output(), nil)), Every: 20 * time.Millisecond,
	})
}

// handlers are kinds of the test's own.
type handlers map[string]func(ctx context.Context, job *fairlead.Job) error

// node runs a node with a courier until stop, which may be called twice. A silent
// one does not tell of failures, as one that dies at the instant of each.
func (w *world) node(store driver.Store, kinds handlers, silent bool) (stop func()) {
	w.Helper()
	courier, mux := w.courier(store), fairlead.NewMux()
	options := engine.Options{Poll: 20 * time.Millisecond, Beat: 50 * time.Millisecond, Lease: w.lease, Grace: 500 * time.Millisecond, Logger: slog.New(slog.DiscardHandler)}
	for kind, work := range kinds {
		mux.Handle(kind, fairlead.HandlerOptions{MaxAttempts: 2, Retry: fairlead.Fixed(time.Millisecond)}, fairlead.HandlerFunc(work))
	}
	courier.Register(mux)
	if !silent {
		options.Listeners = []engine.Listener{courier.Listener()}
	}
	node, err := engine.New(store, mux, options)
	if err != nil {
		w.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(w.Context()))
	var all sync.WaitGroup
	all.Go(func() {
		if err := node.Run(ctx); err != nil {
			w.Errorf("the node ended with %v", err)
		}
	})
	if !silent {
		all.Go(func() { courier.Watch(ctx) })
	}
	stop = sync.OnceFunc(func() {
		cancel()
		all.Wait()
	})
	w.Cleanup(stop)
	return stop
}

// enqueue stores a job of the tenant.
func (w *world) enqueue(job *fairlead.Job) *fairlead.Job {
	w.Helper()
	if job.Tenant == "" {
		job.Tenant = "acme"
	}
	if err := w.client.Enqueue(w.Context(), job); err != nil {
		w.Fatal(err)
	}
	return job
}

const trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

// ended waits for a job's end.
func (w *world) ended(job *fairlead.Job) *fairlead.Job {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), patience.Limit)
	defer cancel()
	done, err := w.client.Wait(ctx, job.ID)
	if err != nil {
		w.Fatalf("job %d has not ended: %v", job.ID, err)
	}
	return done
}

func (w *world) get(job *fairlead.Job) *fairlead.Job {
	w.Helper()
	got, err := w.client.Get(w.Context(), job.ID)
	if err != nil {
		w.Fatal(err)
	}
	return got
}

// eventually waits until something holds.
func (w *world) eventually(what string, holds func() bool) {
	w.Helper()
	ticks, end := time.NewTicker(5*time.Millisecond), time.NewTimer(patience.Limit)
	defer ticks.Stop()
	defer end.Stop()
	for !holds() {
		select {
		case <-ticks.C:
		case <-end.C:
			w.Fatalf("not within %v: %s", patience.Limit, what)
		}
	}
}

func (w *world) waiting(job *fairlead.Job) {
	w.Helper()
	w.eventually("the job waits for its answer", func() bool { return w.get(job).State == fairlead.Waiting })
}

// call is one request that the service got.
type call struct {
	path   string
	header http.Header
	body   map[string]any
	raw    string
}

// service is the HTTP service of the tenant. It accepts only requests that are signed with
// its key.
type service struct {
	*testing.T
	url   string
	calls chan call

	mu       sync.Mutex
	key      string
	statuses []int // of the next answers; then 204
}

func newService(t *testing.T) *service {
	s := &service{T: t, calls: make(chan call, 1000)}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

func (s *service) setKey(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.key = key
}

// answer sets the statuses of the next answers.
func (s *service) answer(statuses ...int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.statuses = statuses
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	got := call{path: r.URL.Path, header: r.Header, raw: string(raw)}
	if err == nil {
		err = json.Unmarshal(raw, &got.body)
	}
	if err != nil || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" {
		s.Errorf("%s %s as %s: %v", r.Method, r.URL, r.Header.Get("Content-Type"), err)
	}
	s.mu.Lock()
	status := http.StatusNoContent
	if len(s.statuses) > 0 {
		status, s.statuses = s.statuses[0], s.statuses[1:]
	}
	key := s.key
	s.mu.Unlock()
	at, signature, found := strings.Cut(strings.TrimPrefix(r.Header.Get("Fairlead-Signature"), "t="), ",v1=")
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(at + "." + string(raw)))
	if !found || signature != hex.EncodeToString(mac.Sum(nil)) {
		s.Errorf("the signature %q does not fit", r.Header.Get("Fairlead-Signature"))
	}
	s.calls <- got
	w.WriteHeader(status)
}

// next waits for the next request and returns it.
func (s *service) next() call {
	s.Helper()
	select {
	case got := <-s.calls:
		return got
	case <-time.After(patience.Limit):
		s.Fatal("nothing was sent")
		return call{}
	}
}

// quiet fails the test if something was sent that was not expected.
func (s *service) quiet() {
	s.Helper()
	select {
	case got := <-s.calls:
		s.Errorf("unexpected: %s %s", got.path, got.raw)
	default:
	}
}

// has checks fields of the body.
func (c call) has(t *testing.T, want map[string]any) {
	t.Helper()
	for field, value := range want {
		if c.body[field] != value {
			t.Errorf("%s is %v, want %v, in %s", field, c.body[field], value, c.raw)
		}
	}
}
