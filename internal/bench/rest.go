package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// RestWorkload is the name of the workload that measures a service.
const RestWorkload = "rest"

// Rest measures a service through its API.
type Rest struct {
	// Start starts a service with additional flags; stop ends it.
	Start func(ctx context.Context, flags ...string) (service RestService, stop func() error, err error)
	// Server is the database of the service.
	Server Server

	Clients  int
	Batch    int
	Seconds  float64
	Only     string // name of the only part to run; empty = all
	Progress *Progress
}

// RestService identifies a running service.
type RestService struct {
	URL string
	PID int
}

// Run performs the measurement, and passes each part to done when it is complete.
func (r Rest) Run(ctx context.Context, done func(Part) error) error {
	r.Clients, r.Batch = orElse(r.Clients, 32), orElse(r.Batch, 1000)
	if r.Seconds == 0 {
		r.Seconds = 5
	}
	known := false
	for _, part := range []struct {
		name, title string
		run         func(context.Context) (Part, error)
	}{
		{"single", "jobs enqueued one by one", r.single},
		{"batch", "jobs enqueued in batches", r.batch},
		{"get", "reading jobs while other clients enqueue", r.get},
		{"wake", "jobs enqueued on a server without a free slot, started on another", r.wake},
	} {
		if r.Only != "" && r.Only != part.name {
			continue
		}
		known = true
		result, err := part.run(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
		result.Name, result.Title, result.Workload, result.Store = part.name, part.title, RestWorkload, r.Server.Name()
		if err := done(result); err != nil {
			return err
		}
	}
	if !known {
		return fmt.Errorf("unknown part %q", r.Only)
	}
	return nil
}

// caller sends requests to a service.
type caller struct {
	RestService
	http *http.Client
}

func newCaller(service RestService, clients int) *caller {
	transport := &http.Transport{MaxIdleConnsPerHost: clients, MaxConnsPerHost: clients}
	return &caller{RestService: service, http: &http.Client{Transport: transport, Timeout: 30 * time.Second}}
}

func (c *caller) close() { c.http.CloseIdleConnections() }

// send sends a request, checks for success and returns the response.
func (c *caller) send(ctx context.Context, verb, path string, body []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, verb, c.URL+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s: %s: %s", verb, path, response.Status, answer)
	}
	return answer, err
}

// jobsBody returns a request with n jobs that no node runs.
func jobsBody(n int) ([]byte, error) {
	type job struct {
		Kind string `json:"kind"`
		Args Args   `json:"args"`
	}
	request := struct {
		Jobs []job `json:"jobs"`
	}{make([]job, n)}
	for i := range request.Jobs {
		request.Jobs[i] = job{KindOwn, NewArgs()}
	}
	return json.Marshal(request)
}

// withService runs a part on a service of its own.
func (r Rest) withService(ctx context.Context, clients int, part func(context.Context, *caller) (Part, error)) (_ Part, err error) {
	service, stop, err := r.Start(ctx)
	if err != nil {
		return Part{}, err
	}
	defer func() { err = firstError(err, stop()) }()
	c := newCaller(service, clients)
	defer c.close()
	return part(ctx, c)
}

func (r Rest) single(ctx context.Context) (Part, error) {
	return r.withService(ctx, r.Clients, func(ctx context.Context, c *caller) (Part, error) {
		return r.enqueue(ctx, c, r.Clients, 1)
	})
}

func (r Rest) batch(ctx context.Context) (Part, error) {
	const few = 4 // a few clients with large requests suffice to saturate a service
	return r.withService(ctx, few, func(ctx context.Context, c *caller) (Part, error) {
		return r.enqueue(ctx, c, few, r.Batch)
	})
}

// enqueue sends requests from several clients for some time.
func (r Rest) enqueue(ctx context.Context, c *caller, clients, batch int) (Part, error) {
	var stored atomic.Int64
	var calls stopwatch
	defer r.Progress.watch(RestWorkload, 0, stored.Load)()
	m, err := startMeter(ctx, withProcess{r.Server, c.PID})
	if err != nil {
		return Part{}, err
	}
	err = together(ctx, clients, r.Seconds, func(ctx context.Context) error {
		body, err := jobsBody(batch)
		if err != nil {
			return err
		}
		begin := time.Now()
		if _, err := c.send(ctx, http.MethodPost, "/api/v1/jobs", body); err != nil {
			return err
		}
		calls.started(time.Since(begin))
		stored.Add(int64(batch))
		return nil
	})
	used, measureErr := m.stop()
	if err := firstError(err, measureErr); err != nil {
		return Part{}, err
	}
	part := Part{Result: used.perJob(stored.Load())}
	part.Clients, part.Batch = clients, batch
	part.P50Millis, part.P99Millis = millis(quantile(calls.waits, 0.50)), millis(quantile(calls.waits, 0.99))
	return part, nil
}

// get reads one job while all clients enqueue.
func (r Rest) get(ctx context.Context) (Part, error) {
	return r.withService(ctx, r.Clients+1, func(ctx context.Context, c *caller) (Part, error) {
		body, err := jobsBody(1)
		if err != nil {
			return Part{}, err
		}
		answer, err := c.send(ctx, http.MethodPost, "/api/v1/jobs", body)
		if err != nil {
			return Part{}, err
		}
		var stored struct{ IDs []string }
		if err := json.Unmarshal(answer, &stored); err != nil {
			return Part{}, err
		}
		loaded, stop := context.WithCancel(ctx)
		var load sync.WaitGroup
		var loadErr error
		load.Go(func() { _, loadErr = r.enqueue(loaded, c, r.Clients, 1) })
		var reads stopwatch
		err = together(ctx, 1, r.Seconds, func(ctx context.Context) error {
			begin := time.Now()
			_, err := c.send(ctx, http.MethodGet, "/api/v1/jobs/"+stored.IDs[0], nil)
			reads.started(time.Since(begin))
			return err
		})
		stop()
		load.Wait()
		if err := firstError(err, ignoreEnd(loadErr)); err != nil {
			return Part{}, err
		}
		part := Part{Result: Result{Jobs: reads.count(), Seconds: r.Seconds, Rate: round(float64(reads.count())/r.Seconds, 1), Clients: r.Clients}}
		part.P50Millis, part.P99Millis = millis(quantile(reads.waits, 0.50)), millis(quantile(reads.waits, 0.99))
		return part, nil
	})
}

// together repeats a function in several goroutines for some time. The first error ends
// all.
func together(ctx context.Context, clients int, seconds float64, do func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	until := time.Now().Add(time.Duration(seconds * float64(time.Second)))
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			for ctx.Err() == nil && time.Now().Before(until) {
				if err := do(ctx); err != nil {
					cancel(err)
				}
			}
		})
	}
	all.Wait()
	return context.Cause(ctx)
}

// ignoreEnd returns an error, or nil if it only means that the work has ended.
func ignoreEnd(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// withProcess combines a database server with the service on top of it.
type withProcess struct {
	Server
	pid int
}

// Usage returns the total usage of both so far.
func (s withProcess) Usage(ctx context.Context) (Usage, error) {
	usage, err := s.Server.Usage(ctx)
	if err != nil {
		return usage, err
	}
	if stat, err := readProcStat(s.pid); err == nil { // unknown on systems other than Linux
		usage.CPU += stat.cpu
	}
	return usage, nil
}
