package fairlead

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Handler runs jobs of one kind.
//
// Work returns nil if the job succeeded. An error is a failed attempt, tried
// again after a pause until MaxAttempts are used up. The outcomes of this
// package (Fatal, RetryAt, SnoozeFor, Replace, Await, Release) choose
// otherwise. A panic counts as an error. An error that wraps ErrUnavailable is no
// failure: the job runs again after the same pause, at least a second, and uses up
// none of MaxAttempts.
//
// The context ends when the attempt's timeout is over, the job is cancelled,
// the node loses its lease, or it shuts down and its grace is over; Work must
// return soon after. A handler may run more than once for one job: each run
// has its own job.Attempt and a larger job.Fence.
type Handler interface {
	Work(ctx context.Context, job *Job) error
}

// HandlerFunc is a function as a Handler.
type HandlerFunc func(ctx context.Context, job *Job) error

// Work calls f.
func (f HandlerFunc) Work(ctx context.Context, job *Job) error { return f(ctx, job) }

// Middleware wraps handlers: logging, tracing, transactions, …
type Middleware func(Handler) Handler

// HandlerOptions are the defaults of a kind's jobs and how it runs on a node.
type HandlerOptions struct {
	Timeout     time.Duration // of one attempt; zero means the engine's
	MaxAttempts int           // zero means DefaultMaxAttempts
	Retry       *Retry        // nil means exponential with full jitter

	// TimeoutOf chooses the timeout of an attempt by what is in the job. It wins
	// over Timeout and the job's own, unless it returns zero.
	TimeoutOf func(job *Job) time.Duration

	// RetryDelay chooses the pause itself; it wins over Retry and the job's own.
	RetryDelay func(job *Job, err error) time.Duration

	// MaxRunning bounds how many jobs of this kind run at once on one node.
	// Zero means as many as there are slots.
	MaxRunning int

	// Retention is how long finished jobs of this kind are kept. Zero fields leave it to
	// the nodes, Forever keeps them. It is stored when a node with the handler starts,
	// and holds on all nodes, also on those that do not know the kind.
	Retention Retention

	// Confidential are the paths of fields of this kind's jobs that are shown as "***",
	// as "args.card.number" and "output.iban"; see the type Confidential. A node declares
	// them when it starts. They stay confidential until Client.SetConfidential says otherwise.
	Confidential []string

	// OnFailed is called once a job of this kind has failed for good and the
	// store has it so. It runs on the node that ran the last attempt, and may
	// be missed if that node dies at this instant.
	//
	// A job can also fail while no handler runs: Client.Resolve reports a failure, the
	// deadline of an Await passes, or the job was in too many crashes. The node that ran
	// the last attempt then finds it within a poll, and err is the job's Error. If that node had
	// ended by then, one other node that handles the kind calls OnFailed: the first of
	// them that joined. If there is none, the next one to join does so, unless
	// the failure is more than 30 minutes old. If a node loses its lease at this instant, or
	// is killed before its next beat, OnFailed may be called twice. Remote workers hear only of failures of their own handlers.
	OnFailed func(ctx context.Context, job *Job, err error)
}

// DefaultMaxAttempts is how often a job may fail before it stays failed.
const DefaultMaxAttempts = 20

// Mux finds the handler of a kind. It is set up before the engine starts.
type Mux struct {
	entries    map[string]*Entry
	attached   map[string]any // what features know of a kind
	middleware []Middleware
}

// Entry is one registered kind.
type Entry struct {
	Handler Handler
	Options HandlerOptions
}

// NewMux makes an empty mux.
func NewMux() *Mux { return &Mux{entries: map[string]*Entry{}, attached: map[string]any{}} }

// Use wraps all handlers, also those registered before. The first one given is
// the outermost.
func (m *Mux) Use(middleware ...Middleware) { m.middleware = append(m.middleware, middleware...) }

// Handle registers the handler of a kind. Registering a kind twice, or one
// without a name, is a programming error and panics.
func (m *Mux) Handle(kind string, options HandlerOptions, handler Handler) {
	if kind == "" || handler == nil {
		panic("fairlead: Mux.Handle needs a kind and a handler")
	}
	if _, taken := m.entries[kind]; taken {
		panic(fmt.Sprintf("fairlead: kind %q has two handlers", kind))
	}
	m.entries[kind] = &Entry{Handler: handler, Options: options}
}

// Attach keeps with a kind what a feature knows of it, as its operation in batches. It is
// for features.
func (m *Mux) Attach(kind string, what any) { m.attached[kind] = what }

// Attached is what Attach kept, or nil.
func (m *Mux) Attached(kind string) any { return m.attached[kind] }

// Kinds lists the registered kinds in order.
func (m *Mux) Kinds() []string {
	kinds := make([]string, 0, len(m.entries))
	for kind := range m.entries {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	return kinds
}

// Entry returns what is registered for a kind, its handler wrapped by the
// middleware, or nil.
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
