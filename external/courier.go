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

// The built-in kinds.
const (
	Kind       = "external"      // sent to the tenant's start_url
	NoticeKind = reserved.Notice // tells a tenant what became of a job
)

// Where notices are, as package fairlead has it.
const (
	NoticeQueue  = reserved.NoticeQueue
	NoticeTenant = reserved.NoticeTenant
)

// DefaultTimeout is how long a job may take whose Timeout is not set.
const DefaultTimeout = time.Hour

// Options of a courier. The zero value is useful, but for Guard.
type Options struct {
	Guard          *httpcall.Guard
	PublicURL      string        // where tenants reach the service
	RequestTimeout time.Duration // of one call; default 15s
	Logger         *slog.Logger  // default slog.Default()

	// Every is how often Watch looks for failures without a notice; default 2s.
	Every time.Duration
	// Window is how far back Watch looks when it begins; default 23h. It must be
	// shorter than finished jobs are kept: a notice that was forgotten would be
	// sent again.
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

// Courier carries jobs and notices to the services of tenants.
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

// New makes a courier of a store's tenants.
func New(store driver.Store, options Options) *Courier {
	options = options.withDefaults()
	client := fairlead.NewClient(store)
	return &Courier{
		store: store, client: client, batches: batch.NewClient(store), sweeps: sweep.NewClient(store), options: options, log: options.Logger,
		caller: httpcall.NewCaller(options.Guard), recipients: newRecipients(client),
	}
}

// SetPublicURL sets Options.PublicURL where it is known late. The node must not
// run yet.
func (c *Courier) SetPublicURL(url string) { c.options.PublicURL = url }

// Register adds the kinds to a mux, and makes notices of timeouts of all its kinds.
func (c *Courier) Register(mux *fairlead.Mux) {
	mux.Handle(Kind, fairlead.HandlerOptions{Timeout: DefaultTimeout}, fairlead.HandlerFunc(c.start))
	mux.Handle(batch.CompletedKind, fairlead.HandlerOptions{Timeout: 2 * c.options.RequestTimeout}, fairlead.HandlerFunc(c.completed))
	mux.Handle(sweep.GateKind, fairlead.HandlerOptions{Timeout: 2 * c.options.RequestTimeout}, fairlead.HandlerFunc(c.askGate))
	mux.Handle(NoticeKind, fairlead.HandlerOptions{Timeout: 2 * c.options.RequestTimeout}, fairlead.HandlerFunc(c.deliver))
	mux.Use(c.tellTimeouts)
}

// Listener is for the node that runs the mux: tenants get notices at once.
func (c *Courier) Listener() engine.Listener {
	return engine.Listener{OnTimeout: c.timedOut, OnFailed: c.failed, OnDeadline: c.unanswered}
}
