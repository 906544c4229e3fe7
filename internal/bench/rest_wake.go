package bench

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// wake measures how soon a job starts on one service that was enqueued on another one
// without free slots: from the call that enqueues it, and from the response to that call,
// to the arrival of the job's own HTTP call.
func (r Rest) wake(ctx context.Context) (_ Part, err error) {
	target, err := newTarget(ctx)
	if err != nil {
		return Part{}, err
	}
	defer target.close()
	full, stopFull, err := r.Start(ctx, "--slots", "1", "--node-name", "full")
	if err != nil {
		return Part{}, err
	}
	defer func() { err = firstError(err, stopFull()) }()
	c := newCaller(full, 2)
	defer c.close()
	// Occupy the only slot before another service starts that could take the job.
	if err := target.enqueue(ctx, c, "/hold"); err != nil {
		return Part{}, err
	}
	if err := target.arrival(ctx, "/hold"); err != nil {
		return Part{}, err
	}
	defer target.release() // before the service is stopped
	_, stopFree, err := r.Start(ctx, "--node-name", "free")
	if err != nil {
		return Part{}, err
	}
	defer func() { err = firstError(err, stopFree()) }()
	return r.sampleWakes(ctx, c, target)
}

func (r Rest) sampleWakes(ctx context.Context, c *caller, target *target) (Part, error) {
	const pause, warm = 20 * time.Millisecond, 20
	var s, enqueued stopwatch
	defer r.Progress.watch(RestWorkload, 0, s.count)()
	began := time.Now()
	for n := 0; time.Since(began).Seconds() < r.Seconds; n++ {
		time.Sleep(pause/2 + rand.N(pause))
		path, begin := "/"+strconv.Itoa(n), time.Now()
		if err := target.enqueue(ctx, c, path); err != nil {
			return Part{}, err
		}
		answered := time.Now()
		if err := target.arrival(ctx, path); err != nil {
			return Part{}, err
		}
		if n >= warm {
			s.started(time.Since(begin))
			enqueued.started(time.Since(answered))
		}
	}
	part := Part{Result: Result{Jobs: s.count(), Seconds: round(time.Since(began).Seconds(), 3), Processes: 2}}
	part.Rate = round(float64(part.Jobs)/part.Seconds, 1)
	part.P50Millis, part.P99Millis = millis(quantile(s.waits, 0.50)), millis(quantile(s.waits, 0.99))
	part.EnqueuedP50, part.EnqueuedP99 = millis(quantile(enqueued.waits, 0.50)), millis(quantile(enqueued.waits, 0.99))
	return part, nil
}

// target is the server that jobs of the kind http call.
type target struct {
	url     string
	web     *http.Server
	served  chan struct{}
	arrived chan string
	held    chan struct{} // closed when held calls may return
	once    sync.Once
}

func newTarget(ctx context.Context) (*target, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	t := &target{url: "http://" + listener.Addr().String(), served: make(chan struct{}), arrived: make(chan string, 16), held: make(chan struct{})}
	t.web = &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
		t.arrived <- request.URL.Path
		if request.URL.Path == "/hold" {
			<-t.held
		}
	})}
	go func() {
		defer close(t.served)
		_ = t.web.Serve(listener) // returns when closed
	}()
	return t, nil
}

func (t *target) release() { t.once.Do(func() { close(t.held) }) }

func (t *target) close() {
	t.release()
	_ = t.web.Close()
	<-t.served
}

// enqueue stores a job that calls a path.
func (t *target) enqueue(ctx context.Context, c *caller, path string) error {
	type call struct {
		URL string `json:"url"`
	}
	type job struct {
		Kind    string `json:"kind"`
		Args    call   `json:"args"`
		Timeout string `json:"timeout"`
	}
	body, err := json.Marshal(map[string][]job{"jobs": {{Kind: "http", Args: call{t.url + path}, Timeout: "600s"}}})
	if err != nil {
		return err
	}
	_, err = c.send(ctx, http.MethodPost, "/api/v1/jobs", body)
	return err
}

// arrival waits for a call.
func (t *target) arrival(ctx context.Context, path string) error {
	const patience = 30 * time.Second
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errors.New("timed out: an enqueued job did not start"))
	defer cancel()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case arrived := <-t.arrived:
			if arrived == path {
				return nil
			}
		}
	}
}
