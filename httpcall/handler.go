package httpcall

import (
	"context"
	"encoding/json"
	"time"

	"github.com/fairlead-io/fairlead"
)

// Options of a handler. The zero value is useful, but for Guard.
type Options struct {
	Guard   *Guard
	Secrets *Secrets      // what calls may refer to; nil: nothing
	Timeout time.Duration // of a call that sets none; default 15s

	// Keeper has the key of callbacks' tokens. Without it no call can be async.
	Keeper    SecretKeeper
	PublicURL string // where targets reach the service, for their callbacks

	// Schedule returns which schedule made a job, and for which instant; nil: none did.
	Schedule func(ctx context.Context, job *fairlead.Job) (Origin, error)

	MaxRunning  int // calls under way to one target from this node; zero: any number
	MaxFailures int // failures in a row after which a target is left alone for a while; zero: never
}

// Handler makes the calls.
type Handler struct {
	options  Options
	callers  *callers
	items    *Caller // for items of sweeps
	breakers *breakers
}

// New makes a handler.
func New(options Options) *Handler {
	if options.Timeout <= 0 {
		options.Timeout = 15 * time.Second
	}
	return &Handler{
		options: options, callers: newCallers(options.Guard), items: newItemCaller(options.Guard), breakers: newBreakers(options.MaxRunning, options.MaxFailures),
	}
}

// SetPublicURL sets Options.PublicURL where it is known late. The node must not
// run yet.
func (h *Handler) SetPublicURL(url string) { h.options.PublicURL = url }

// Register adds the kind to a mux.
func (h *Handler) Register(mux *fairlead.Mux) {
	mux.Handle(Kind, fairlead.HandlerOptions{TimeoutOf: h.timeoutOf}, h)
}

// Validate is the function Validate that also refuses secrets which are not
// listed here.
func (h *Handler) Validate(args json.RawMessage) error {
	p, err := compile(args)
	if err != nil {
		return err
	}
	if err := p.checkClaimed(); err != nil {
		return err
	}
	invalid := &fairlead.InvalidError{}
	for _, used := range p.secretsUsed() {
		if err := h.options.Secrets.check(used.name); err != nil {
			invalid.Fields = append(invalid.Fields, fairlead.FieldError{Field: "args." + used.field, Message: err.Error()})
		}
	}
	if len(invalid.Fields) > 0 {
		return invalid
	}
	return nil
}

// timeoutOf is the timeout of a job's calls: that of the call, and the job's own
// if it is shorter.
func (h *Handler) timeoutOf(job *fairlead.Job) time.Duration {
	var call struct {
		TimeoutSeconds float64 `json:"timeout_seconds"`
	}
	chosen := time.Duration(0)
	if json.Unmarshal(job.Args, &call) == nil && call.TimeoutSeconds > 0 && call.TimeoutSeconds <= maxTimeout.Seconds() {
		chosen = time.Duration(call.TimeoutSeconds * float64(time.Second))
	}
	switch {
	case chosen == 0 && job.Timeout == 0:
		return h.options.Timeout
	case chosen == 0:
		return job.Timeout
	case job.Timeout == 0:
		return chosen
	default:
		return min(chosen, job.Timeout)
	}
}

// Origin is where a run of a schedule comes from. The zero value is that of a job
// which no schedule made.
type Origin struct {
	Schedule string    // its name
	Due      time.Time // the instant
}
