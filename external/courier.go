package external

import (
	"log/slog"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/httpcall"
	"github.com/fairlead-io/fairlead/internal/reserved"
	"github.com/fairlead-io/fairlead/sweep"
)

// Built-in kinds.
const (
	Kind       = "external"      // jobs sent to the tenant's start_url
	NoticeKind = reserved.Notice // notices to a tenant about the outcome of a job
)

// Queue and tenant of notices, as in package fairlead.
const (
	NoticeQueue  = reserved.NoticeQueue
	NoticeTenant = reserved.NoticeTenant
)

// DefaultTimeout is the timeout of jobs that set no Timeout.
const DefaultTimeout = time.Hour

// Options configures a Courier. Only Guard is required.
type Options struct {
	Guard          *httpcall.Guard
	PublicURL      string        // URL at which tenants reach the service
	RequestTimeout time.Duration // timeout of one call; default 15s
	Logger         *slog.Logger  // default slog.Default()

	// Every is the interval at which Watch looks for failures without a notice; default 2s.
	Every time.Duration
	// Window is the period before its start that Watch covers; default 23h. It must be shorter
	// than the retention of finished jobs: a notice whose job was deleted would be sent again.
	Window time.Duration
}

func (o Options) withDefaults() Options {
	orTime := func(v *time.Duration, d time.Duration) {
		if *v == 0 {
			*v = d
		}
	}
	orTime(&o.RequestTimeout, 15*time.Second)
	orTime(&o.Every, 2*time.Second)
	orTime(&o.Window, 23*time.Hour)
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return o
}

// A Courier sends jobs and notices to tenants' services.
type Courier struct {
	store      driver.Store
	client     *fairlead.Client
	batches    *batch.Client
	sweeps     *sweep.Client
	options    Options
	log        *slog.Logger
	caller     *httpcall.Caller
	recipients *recipients
	owed       owed
}

// New returns a courier for the tenants in store.
func New(store driver.Store, options Options) *Courier {
	options = options.withDefaults()
	client := fairlead.NewClient(store)
	return &Courier{
		store: store, client: client, batches: batch.NewClient(store), sweeps: sweep.NewClient(store), options: options, log: options.Logger,
		caller: httpcall.NewCaller(options.Guard), recipients: newRecipients(client),
	}
}

// SetPublicURL sets Options.PublicURL, for programs that learn the URL only after they call
// New. Call it before the node runs.
func (c *Courier) SetPublicURL(url string) { c.options.PublicURL = url }

// Register registers the courier's kinds with mux and adds timeout notices to every kind in
// it.
func (c *Courier) Register(mux *fairlead.Mux) {
	mux.Handle(Kind, fairlead.HandlerOptions{Timeout: DefaultTimeout}, fairlead.HandlerFunc(c.start))
	mux.Handle(batch.CompletedKind, fairlead.HandlerOptions{Timeout: 2 * c.options.RequestTimeout}, fairlead.HandlerFunc(c.completed))
	mux.Handle(sweep.GateKind, fairlead.HandlerOptions{Timeout: 2 * c.options.RequestTimeout}, fairlead.HandlerFunc(c.askGate))
	mux.Handle(NoticeKind, fairlead.HandlerOptions{Timeout: 2 * c.options.RequestTimeout}, fairlead.HandlerFunc(c.deliver))
	mux.Use(c.tellTimeouts)
}

// Listener returns the engine.Listener for the node that runs the mux. With this listener,
// tenants receive notices without delay.
func (c *Courier) Listener() engine.Listener {
	return engine.Listener{OnTimeout: c.timedOut, OnFailed: c.failed, OnDeadline: c.unanswered}
}
