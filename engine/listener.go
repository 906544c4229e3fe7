package engine

import (
	"context"
	"sync"

	"github.com/fairlead-io/fairlead"
)

// Listener is a set of callbacks for jobs that this node runs: those of one kind, of one
// tenant, or all. Callbacks do not affect the jobs, even if they are slow or panic. The node
// calls them one at a time. If they cannot keep up with the jobs, some calls are skipped and
// the skips are logged. Each call must finish within the node's Grace.
type Listener struct {
	Kind   string // kind of the jobs; empty means every kind
	Tenant string // tenant of the jobs; empty means every tenant

	OnStart   func(ctx context.Context, job *fairlead.Job) // called when an attempt starts
	OnTimeout func(ctx context.Context, job *fairlead.Job) // called when an attempt exceeds its timeout

	// OnFailed is called after the store has recorded that a job has failed for good,
	// including jobs that failed while waiting or because of crashes. It runs on the same
	// node as fairlead.HandlerOptions.OnFailed, whose documentation has the details.
	OnFailed func(ctx context.Context, job *fairlead.Job, err error)

	// OnDeadline is called for waiting jobs of all nodes whose answers did not arrive in
	// time, before the store ends their waits. If this node dies in between, OnDeadline is
	// called again, on this node or another. These calls are not queued, so the listener
	// misses none.
	OnDeadline func(ctx context.Context, jobs []*fairlead.Job)
}

// listenerQueue is how many calls of a listener may wait.
const listenerQueue = 1000

// teller calls one listener.
type teller struct {
	Listener
	life *life

	mu     sync.Mutex
	queue  []telling
	busy   bool // a goroutine makes the calls
	missed int  // since the queue was last empty
	closed bool
}

// telling is one call that waits.
type telling struct {
	job  *fairlead.Job
	call func(ctx context.Context)
}

func newTellers(l *life, listeners []Listener) []*teller {
	tellers := make([]*teller, len(listeners))
	for i, listener := range listeners {
		tellers[i] = &teller{Listener: listener, life: l}
	}
	return tellers
}

func (t *teller) wants(job *fairlead.Job) bool {
	return (t.Kind == "" || t.Kind == job.Kind) && (t.Tenant == "" || t.Tenant == job.Tenant)
}

// tell queues a call.
func (t *teller) tell(job *fairlead.Job, call func(ctx context.Context)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.closed:
		return
	case len(t.queue) >= listenerQueue:
		if t.missed++; t.missed == 1 {
			t.life.log.Warn("listener too slow: events dropped", "kind", t.Kind, "tenant", t.Tenant)
		}
		return
	}
	t.queue = append(t.queue, telling{job, call})
	if !t.busy {
		t.busy = true
		t.life.hooks.Go(t.callAll)
	}
}

// callAll makes the calls that wait, until there are none.
func (t *teller) callAll() {
	for {
		t.mu.Lock()
		if len(t.queue) == 0 {
			t.busy, t.missed = false, 0
			t.mu.Unlock()
			return
		}
		next := t.queue[0]
		t.queue = t.queue[1:]
		t.mu.Unlock()
		t.life.callHook("listener", next.job, next.call)
	}
}

// close makes it deaf: the node is ending.
func (t *teller) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
}

// tellStarted, tellTimeout and tellFailed tell the listeners that want to know.
// They get a job of their own: the handler may change its one, even after its
// time is over.

func (l *life) tellStarted(job *fairlead.Job) {
	for _, t := range l.tellers {
		if t.OnStart != nil && t.wants(job) {
			own := *job
			t.tell(&own, func(ctx context.Context) { t.OnStart(ctx, &own) })
		}
	}
}

func (l *life) tellTimeout(job *fairlead.Job) {
	for _, t := range l.tellers {
		if t.OnTimeout != nil && t.wants(job) {
			own := *job
			t.tell(&own, func(ctx context.Context) { t.OnTimeout(ctx, &own) })
		}
	}
}

func (l *life) tellFailed(job *fairlead.Job, err error) {
	for _, t := range l.tellers {
		if t.OnFailed != nil && t.wants(job) {
			own := *job
			t.tell(&own, func(ctx context.Context) { t.OnFailed(ctx, &own, err) })
		}
	}
}

// failure is a job that has failed for good.
type failure struct {
	job     *fairlead.Job
	options *fairlead.HandlerOptions // of its kind
	err     error
}

// announce calls the OnFailed of listeners and of kinds.
func (l *life) announce(failures []failure) {
	var hooked []failure
	for _, f := range failures {
		l.tellFailed(f.job, f.err)
		if f.options.OnFailed != nil {
			hooked = append(hooked, f)
		}
	}
	if len(hooked) == 0 {
		return
	}
	l.hooks.Go(func() {
		for _, f := range hooked {
			l.callHook("OnFailed", f.job, func(ctx context.Context) { f.options.OnFailed(ctx, f.job, f.err) })
		}
	})
}

// callHook calls what belongs to others: for a bounded time, and whatever it
// does.
func (l *life) callHook(what string, job *fairlead.Job, call func(ctx context.Context)) {
	ctx, cancel := context.WithTimeout(context.Background(), l.options.Grace)
	defer cancel()
	defer func() {
		if value := recover(); value != nil {
			l.logOf(job).Error(what+" panicked", "panic", value)
		}
	}()
	call(ctx)
}
