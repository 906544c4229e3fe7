package fairlead

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Handler runs the jobs of one kind. Work returns nil if the job succeeded. An error means
// that the attempt failed. The node then retries the job after a pause until MaxAttempts are
// used up. To choose a different outcome, the handler returns one of this package's outcomes
// (Fatal, RetryAt, SnoozeFor, Replace, Await, Release). A panic counts as an error.
//
// An error that wraps ErrUnavailable does not count as a failure. The job runs again after
// the same pause, but at least one second, and uses up none of its MaxAttempts.
//
// The context ends when the attempt's timeout expires, when the job is cancelled, when the
// node loses its lease, or when the node shuts down and its drain timeout has passed. Work
// must return soon afterwards. A handler may run more than once for the same job. Each run
// has its own job.Attempt and a larger job.Fence.
type Handler interface {
	Work(ctx context.Context, job *Job) error // Work runs a job. See Handler for its result and context.
}

// HandlerFunc is an adapter that lets an ordinary function serve as a Handler.
type HandlerFunc func(ctx context.Context, job *Job) error

// Work calls f.
func (f HandlerFunc) Work(ctx context.Context, job *Job) error { return f(ctx, job) }

// Middleware wraps a handler, for example to add logging, tracing or transactions.
type Middleware func(Handler) Handler

// HandlerOptions sets the defaults for a kind's jobs and how a node runs them.
type HandlerOptions struct {
	Timeout     time.Duration // timeout of one attempt; zero means the engine's
	MaxAttempts int           // number of failed attempts after which a job fails; zero means DefaultMaxAttempts
	Retry       *Retry        // pause between attempts; nil means exponential with full jitter

	// TimeoutOf returns the timeout of an attempt, based on the job. It overrides Timeout
	// and the job's own timeout, unless it returns zero.
	TimeoutOf func(job *Job) time.Duration

	// RetryDelay returns the pause before the next attempt. It overrides Retry and the
	// job's own setting.
	RetryDelay func(job *Job, err error) time.Duration

	// MaxRunning is the maximum number of jobs of this kind that run at once on one node.
	// Zero means that only the node's slots limit them.
	MaxRunning int

	// Retention sets how long finished jobs of this kind are kept. Fields that are zero use
	// the nodes' retention; Forever keeps jobs indefinitely. A node with this handler
	// stores the retention when it starts. It then applies on all nodes, including those
	// that do not know the kind.
	Retention Retention

	// Confidential lists the paths of this kind's confidential fields, such as
	// "args.card.number" and "output.iban", which are shown as "***". See the type
	// Confidential. A node declares them when it starts, and they stay confidential until
	// Client.SetConfidential replaces them.
	Confidential []string

	// OnFailed is called after the store has recorded that a job of this kind has failed
	// for good. It runs on the node that ran the last attempt, and may be missed if that
	// node dies at this moment.
	//
	// A job can also fail while no handler runs: because Client.Resolve reports a failure,
	// because the deadline of an Await passes, or because the job was involved in too many
	// crashes. The node that ran the last attempt then notices within one poll, and err is
	// the job's Error. If that node has ended by then, one other node that handles the
	// kind calls OnFailed: the one that joined first. If there is none, the next node to
	// join calls it, unless the failure is more than 30 minutes old. If a node loses its
	// lease at this moment, or is killed before its next beat, OnFailed may be called
	// twice.
	//
	// Remote workers learn only of failures of their own handlers.
	OnFailed func(ctx context.Context, job *Job, err error)
}

// DefaultMaxAttempts is the number of failed attempts after which a job fails for good,
// unless the job or its handler sets a different number.
const DefaultMaxAttempts = 20

// Mux maps kinds to handlers. Register all handlers before the engine starts.
type Mux struct {
	entries    map[string]*Entry
	attached   map[string]any // what features know of a kind
	middleware []Middleware
}

// Entry is the registered handler of a kind.
type Entry struct {
	Handler Handler        // handler of the jobs
	Options HandlerOptions // options of the handler
}

// NewMux returns an empty mux.
func NewMux() *Mux { return &Mux{entries: map[string]*Entry{}, attached: map[string]any{}} }

// Use wraps all handlers in the given middleware, including those that are already
// registered. The first middleware is the outermost.
func (m *Mux) Use(middleware ...Middleware) { m.middleware = append(m.middleware, middleware...) }

// Handle registers the handler for a kind. It panics if kind is empty, handler is nil, or
// the kind is already registered.
func (m *Mux) Handle(kind string, options HandlerOptions, handler Handler) {
	if kind == "" || handler == nil {
		panic("fairlead: Mux.Handle needs a kind and a handler")
	}
	if _, taken := m.entries[kind]; taken {
		panic(fmt.Sprintf("fairlead: kind %q has two handlers", kind))
	}
	m.entries[kind] = &Entry{Handler: handler, Options: options}
}

// Attach stores a feature's data for a kind, such as the kind's batch operation. It is meant
// for packages that implement features.
func (m *Mux) Attach(kind string, what any) { m.attached[kind] = what }

// Attached returns the value that Attach has stored for a kind. It returns nil if there is
// none.
func (m *Mux) Attached(kind string) any { return m.attached[kind] }

// Kinds returns the registered kinds in sorted order.
func (m *Mux) Kinds() []string {
	kinds := make([]string, 0, len(m.entries))
	for kind := range m.entries {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	return kinds
}

// Entry returns the entry registered for a kind, with its handler wrapped in all middleware.
// It returns nil if the kind is not registered.
func (m *Mux) Entry(kind string) *Entry {
	entry := m.entries[kind]
	if entry == nil {
		return nil
	}
	wrapped := *entry
	wrapped.Handler = discreet{handler: entry.Handler, fields: entry.Options.Confidential}
	for _, w := range slices.Backward(m.middleware) {
		wrapped.Handler = w(wrapped.Handler)
	}
	return &wrapped
}
