package worker_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/internal/everystore"
	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/server"
	"github.com/fairlead-io/fairlead/sweep"
	"github.com/fairlead-io/fairlead/worker"
)

// world is a store with its service, and a node that keeps house and runs nothing
// that the tests enqueue.
type world struct {
	*testing.T
	store  server.Store
	client *fairlead.Client
	sweeps *sweep.Client
	node   *engine.Engine
	web    *httptest.Server
	cut    atomic.Int32 // status that is answered instead of the service, or reset; 0: none
	cuts   atomic.Int32 // how often it was
}

// Timings that let tests lose leases quickly.
const (
	beat  = 100 * time.Millisecond
	lease = time.Second
)

// reset has a connection reset in the middle of an answer.
const reset = -1

// breakOff answers half a message and resets the connection, as a server that is killed.
func breakOff(out http.ResponseWriter) {
	conn, _, err := http.NewResponseController(out).Hijack()
	if err != nil {
		panic(err)
	}
	_, _ = conn.Write([]byte("HTTP/1.1 200 OK\r\nContent-Type: application/proto\r\nContent-Length: 100\r\n\r\nhalf"))
	_ = conn.(*net.TCPConn).SetLinger(0)
	_ = conn.Close()
}

func newWorld(t *testing.T) *world { return newWorldOn(t, sqlitetest.Open(t)) }

// newWorldOn makes a world whose node keeps its own lease, however busy the machine is.
func newWorldOn(t *testing.T, store server.Store) *world {
	return newWorldWith(t, store, time.Minute, 50*time.Millisecond)
}

// newLosingWorld makes a world whose node soon notices that a worker has lost its lease.
func newLosingWorld(t *testing.T) *world {
	return newWorldWith(t, sqlitetest.Open(t), lease, 50*time.Millisecond)
}

func newWorldWith(t *testing.T, store server.Store, nodeLease, poll time.Duration) *world {
	w := &world{T: t, store: store, client: fairlead.NewClient(store), sweeps: sweep.NewClient(store)}
	quiet := slog.New(slog.DiscardHandler)
	mux := fairlead.NewMux()
	mux.Handle("housekeeper", fairlead.HandlerOptions{}, fairlead.HandlerFunc(func(context.Context, *fairlead.Job) error { return nil }))
	node, err := engine.New(store, mux, engine.Options{Beat: beat, Lease: nodeLease, Poll: poll, Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	w.node = node
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- node.Run(ctx) }()
	handler, err := server.New(node, store, server.Options{Log: quiet, Stopping: ctx.Done(), Workers: server.WorkerOptions{Beat: beat, Lease: lease, Grace: lease}})
	if err != nil {
		t.Fatal(err)
	}
	w.web = httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
		if status := w.cut.Load(); status != 0 {
			w.cuts.Add(1)
			if status == reset {
				breakOff(out)
				return
			}
			http.Error(out, "not now", int(status))
			return
		}
		handler.ServeHTTP(out, in)
	}))
	t.Cleanup(func() {
		stop()
		w.web.Close()
		if err := errors.Join(<-ended, store.Close()); err != nil {
			t.Error(err)
		}
	})
	return w
}

// start runs a worker until the returned function is called, which waits for it
// and returns its error.
func (w *world) start(mux *fairlead.Mux, change func(*worker.Options)) (stop func() error) {
	options := worker.Options{
		Server: w.web.URL, Name: "tested", Slots: 4, Beat: beat, Lease: time.Minute, Grace: lease, DrainTimeout: 10 * time.Second,
		Poll: 100 * time.Millisecond, Logger: slog.New(slog.DiscardHandler),
	}
	if change != nil {
		change(&options)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- worker.Run(ctx, mux, options) }()
	stop = func() error {
		cancel()
		err := <-ended
		ended <- err
		return err
	}
	w.Cleanup(func() { _ = stop() })
	return stop
}

func (w *world) enqueue(job *fairlead.Job) int64 {
	w.Helper()
	if err := w.client.Enqueue(w.Context(), job); err != nil {
		w.Fatal(err)
	}
	return job.ID
}

// wait returns a job once it is final.
func (w *world) wait(id int64) *fairlead.Job {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), patience.Limit)
	defer cancel()
	job, err := w.client.Wait(ctx, id)
	if err != nil {
		w.Fatalf("job %d: %v: %+v", id, err, job)
	}
	return job
}

// one is a mux with one handler of the kind "k".
func one(options fairlead.HandlerOptions, work fairlead.HandlerFunc) *fairlead.Mux {
	mux := fairlead.NewMux()
	mux.Handle("k", options, work)
	return mux
}

// Each database has its own store to lease from.
func TestHandlersRunRemotelyAsTheyDoOnANode(t *testing.T) {
	everystore.Run(t, func(t *testing.T, store server.Store) {
		testHandlers(t, newWorldOn(t, store))
	})
}

func testHandlers(t *testing.T, w *world) {
	failed := make(chan string, 10)
	options := fairlead.HandlerOptions{
		MaxAttempts: 3,
		RetryDelay:  func(*fairlead.Job, error) time.Duration { return time.Millisecond },
		OnFailed: func(_ context.Context, job *fairlead.Job, err error) {
			failed <- fmt.Sprint(string(job.Args), " ", err)
		},
	}
	mux := one(options, func(ctx context.Context, job *fairlead.Job) error {
		switch string(job.Args) {
		case `"succeed"`:
			return errors.Join(fairlead.Progress(ctx, 50), fairlead.SetOutput(ctx, job.Attempt))
		case `"fail"`:
			return errors.New("boom")
		case `"fatal"`:
			return fairlead.Fatal(errors.New("never"))
		case `"panic"`:
			panic("ouch")
		case `"snooze"`:
			if len(job.Memo) == 0 {
				return fairlead.SnoozeFor(time.Millisecond).Remember("seen")
			}
			return fairlead.SetOutput(ctx, job.Memo)
		case `"replace"`:
			return fairlead.Replace(&fairlead.Job{Kind: "k", Args: []byte(`"succeed"`), Tenant: "next"})
		case `"await"`:
			return fairlead.Await(time.Hour)
		case `"or retry"`:
			return fairlead.Await(time.Hour).OrRetry()
		case `"slow"`:
			<-ctx.Done()
			return ctx.Err()
		}
		return fairlead.Release()
	})
	stop := w.start(mux, nil)
	ids := map[string]int64{}
	for _, what := range []string{"succeed", "fail", "fatal", "panic", "snooze", "replace", "await", "or retry", "slow"} {
		job := &fairlead.Job{Kind: "k", Args: []byte(`"` + what + `"`)}
		if what == "slow" {
			job.Timeout, job.MaxAttempts = 50*time.Millisecond, 1
		}
		ids[what] = w.enqueue(job)
	}
	for what, want := range map[string]string{
		"succeed": "succeeded  1 0 1", "fail": "failed error  3 3", "fatal": "failed fatal  1 1", "panic": "failed panic  3 3",
		"snooze": `succeeded  "seen" 0 2`, "replace": "succeeded   0 1", "slow": "failed timeout  1 1",
	} {
		job := w.wait(ids[what])
		if got := fmt.Sprintf("%s %s %s %d %d", job.State, job.Reason, job.Output, job.Failures, job.Attempt); got != want {
			t.Errorf("%s: %q, want %q (%s)", what, got, want, job.Error)
		}
	}
	causes := map[string]string{`"fail"`: "boom", `"fatal"`: "never", `"panic"`: "ouch", `"slow"`: context.DeadlineExceeded.Error()}
	for range len(causes) {
		text := <-failed
		args, cause, _ := strings.Cut(text, " ")
		if want := causes[args]; want == "" || !strings.Contains(cause, want) {
			t.Errorf("OnFailed got %s", text)
		}
		delete(causes, args)
	}
	next, err := w.client.Find(t.Context(), fairlead.Filter{Tenants: []string{"next"}})
	if err != nil || len(next.Jobs) != 1 {
		t.Errorf("the replacement is %v (%v)", next.Jobs, err)
	}
	waiting, err := w.client.Get(t.Context(), ids["await"])
	if err != nil || waiting.State != fairlead.Waiting {
		t.Fatalf("awaiting: %+v (%v)", waiting, err)
	}
	if err := w.client.Resolve(t.Context(), waiting.ID, waiting.Fence, []byte(`1`), nil); err != nil {
		t.Error(err)
	}
	retried := w.untilWaiting(ids["or retry"], 1)
	if err := w.client.Resolve(t.Context(), retried.ID, retried.Fence, nil, errors.New("out of stock")); err != nil {
		t.Error(err)
	}
	if again := w.untilWaiting(ids["or retry"], 2); again.Failures != 1 || again.Fence <= retried.Fence {
		t.Errorf("it is tried again as %+v", again)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// untilWaiting waits until an attempt of a job waits for its answer.
func (w *world) untilWaiting(id int64, attempt int) *fairlead.Job {
	w.Helper()
	ticks := time.NewTicker(5 * time.Millisecond)
	defer ticks.Stop()
	for begun := time.Now(); ; <-ticks.C {
		job, err := w.client.Get(w.Context(), id)
		if err != nil {
			w.Fatal(err)
		}
		if job.State == fairlead.Waiting && job.Attempt == attempt {
			return job
		}
		if time.Since(begun) > patience.Limit {
			w.Fatalf("the job is %s in attempt %d", job.State, job.Attempt)
		}
	}
}

func TestAWishToCancelEndsTheHandlersContext(t *testing.T) {
	w := newWorld(t)
	started := make(chan struct{})
	w.start(one(fairlead.HandlerOptions{}, func(ctx context.Context, _ *fairlead.Job) error {
		close(started)
		<-ctx.Done()
		return ctx.Err()
	}), func(o *worker.Options) { o.Beat = 20 * time.Second })
	id := w.enqueue(&fairlead.Job{Kind: "k"})
	<-started
	if err := w.client.Cancel(t.Context(), id, "enough"); err != nil {
		t.Fatal(err)
	}
	if job := w.wait(id); job.State != fairlead.Cancelled { // long before the next beat is due
		t.Errorf("it ended as %+v", job)
	}
}

func TestAWorkerDrainsAndLeaves(t *testing.T) {
	w := newWorld(t)
	started, finish := make(chan struct{}), make(chan struct{})
	stop := w.start(one(fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error {
		close(started)
		<-finish
		return nil
	}), nil)
	id := w.enqueue(&fairlead.Job{Kind: "k"})
	<-started
	ended := make(chan error)
	go func() { ended <- stop() }()
	close(finish)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if job := w.wait(id); job.State != fairlead.Succeeded {
		t.Errorf("it ended as %+v", job)
	}
	nodes, err := w.client.Nodes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range nodes {
		if node.Name == "tested" && (!node.Dead || !node.Remote) {
			t.Errorf("it did not leave: %+v", node)
		}
	}
}

// A server that is away for less than a lease goes unnoticed.
func TestAWorkerSurvivesARestartOfTheService(t *testing.T) {
	w := newWorld(t)
	started, finish := make(chan struct{}), make(chan struct{})
	w.start(one(fairlead.HandlerOptions{}, func(ctx context.Context, job *fairlead.Job) error {
		if len(job.Args) > 0 {
			return nil
		}
		close(started)
		select {
		case <-finish:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}), nil)
	long := w.enqueue(&fairlead.Job{Kind: "k"})
	<-started
	address := w.web.Listener.Addr().String()
	handler := w.web.Config.Handler
	w.web.CloseClientConnections()
	w.web.Listener.Close()
	close(finish) // while there is no server
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	again := &http.Server{Handler: handler, ReadHeaderTimeout: time.Second}
	go func() { _ = again.Serve(listener) }()
	defer again.Close()
	if job := w.wait(long); job.State != fairlead.Succeeded || job.Attempt != 1 {
		t.Errorf("it ended as %+v", job)
	}
	if job := w.wait(w.enqueue(&fairlead.Job{Kind: "k", Args: []byte(`1`)})); job.State != fairlead.Succeeded {
		t.Errorf("it ended as %+v", job)
	}
}

// A worker that cannot confirm its lease stops what it runs before others may
// start it, and begins anew.
func TestAWorkerFencesItselfAndJoinsAgain(t *testing.T) {
	tier.Long(t, "a lease ends while it is watched")
	w := newLosingWorld(t)
	runs := make(chan *fairlead.Job, 10)
	fenced := make(chan time.Time, 1)
	w.start(one(fairlead.HandlerOptions{}, func(ctx context.Context, job *fairlead.Job) error {
		runs <- job
		if job.Attempt > 1 {
			return nil
		}
		<-ctx.Done()
		fenced <- time.Now()
		return ctx.Err()
	}), func(o *worker.Options) { o.Lease = lease })
	id := w.enqueue(&fairlead.Job{Kind: "k"})
	first := <-runs
	w.cut.Store(http.StatusServiceUnavailable)
	stopped := <-fenced
	w.cut.Store(0)
	second := <-runs
	if second.Fence <= first.Fence || second.Node == first.Node || second.StartedAt.Before(stopped.Add(-time.Millisecond)) {
		t.Errorf("first %+v, stopped at %v, then %+v", first, stopped, second)
	}
	if job := w.wait(id); job.State != fairlead.Succeeded || job.Crashes != 1 && job.Attempt != 2 {
		t.Errorf("it ended as %+v", job)
	}
}

// A service that is away, or dies, while a handler has something to remember is no failure
// of the handler, be it its last attempt.
func TestWhatAHandlerRemembersOutlivesAServiceThatIsAway(t *testing.T) {
	t.Run("it is unavailable", func(t *testing.T) { testRemember(t, http.StatusServiceUnavailable) })
	t.Run("it dies", func(t *testing.T) { testRemember(t, reset) })
}

func testRemember(t *testing.T, cut int32) {
	w := newWorld(t)
	w.start(one(fairlead.HandlerOptions{}, func(ctx context.Context, _ *fairlead.Job) error {
		w.cut.Store(cut)
		refused := w.cuts.Load()
		away := make(chan struct{})
		go func() {
			defer close(away)
			for ticks := time.Tick(10 * time.Millisecond); w.cuts.Load() <= refused+3; <-ticks {
				continue // until several calls were refused
			}
			w.cut.Store(0)
		}()
		defer func() { <-away }()
		return fairlead.Remember(ctx, "halfway")
	}), nil)
	if job := w.wait(w.enqueue(&fairlead.Job{Kind: "k", MaxAttempts: 1})); job.State != fairlead.Succeeded || job.Attempt != 1 || string(job.Memo) != `"halfway"` {
		t.Errorf("it ended as %+v", job)
	}
}

func TestAWorkerThatIsRefusedGivesUp(t *testing.T) {
	w := newWorld(t)
	mux := one(fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error { return nil })
	w.cut.Store(http.StatusUnauthorized)
	if err := worker.Run(t.Context(), mux, worker.Options{Server: w.web.URL, Token: "flc_secret"}); err == nil || !strings.Contains(err.Error(), "role worker") || strings.Contains(err.Error(), "flc_secret") {
		t.Errorf("refused with %v", err)
	}
	w.cut.Store(0)
	err := worker.Run(t.Context(), mux, worker.Options{Server: w.web.URL, Lease: time.Hour})
	if !errors.Is(err, fairlead.ErrInvalid) || !strings.Contains(err.Error(), "lease") {
		t.Errorf("refused with %v", err)
	}
	for _, address := range []string{"", "localhost:7717", "ftp://x"} {
		if err := worker.Run(t.Context(), mux, worker.Options{Server: address}); !errors.Is(err, fairlead.ErrInvalid) {
			t.Errorf("server %q: %v", address, err)
		}
	}
}

// Between a backlog and free slots stands no pause: the next look without news is
// a minute away.
func TestABacklogIsWorkedOffWithoutPauses(t *testing.T) {
	w := newWorld(t)
	jobs := make([]*fairlead.Job, tier.Size(t, 300, 2000, "a large backlog"))
	for i := range jobs {
		jobs[i] = &fairlead.Job{Kind: "k"}
	}
	if err := w.client.Enqueue(t.Context(), jobs...); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	w.start(one(fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error { return nil }), func(o *worker.Options) { o.Poll = time.Minute })
	for _, job := range jobs {
		w.wait(job.ID)
	}
	t.Logf("%d jobs in %v", len(jobs), time.Since(begin))
}
