package httpcall

import (
	"context"
	"encoding/json"
	"time"

	"github.com/fairlead-io/fairlead"
)

// Options configures a handler. Only Guard is required.
type Options struct {
	Guard   *Guard        // decides which addresses may be called; required
	Secrets *Secrets      // secrets that calls may reference; nil means none
	Timeout time.Duration // timeout of a call that sets none; default 15s

	// Keeper provides the key for callback tokens. It is required for async calls.
	Keeper    SecretKeeper
	PublicURL string // URL of the service for the callbacks of targets

	// Schedule returns the schedule that created a job and the due instant, or the zero
	// Origin if no schedule did. It may be nil.
	Schedule func(ctx context.Context, job *fairlead.Job) (Origin, error)

	MaxRunning  int // maximum number of concurrent calls from this node to one target; zero = unlimited
	MaxFailures int // number of consecutive failures after which a target is not called for a while; zero = never
}

// Handler handles jobs of kind "http".
type Handler struct {
	options  Options
	callers  *callers
	items    *Caller // for items of sweeps
	breakers *breakers
}

// New returns a handler with the given options. Register it with a mux.
func New(options Options) *Handler {
	if options.Timeout <= 0 {
		options.Timeout = 15 * time.Second
	}
	return &Handler{
		options: options, callers: newCallers(options.Guard), items: newItemCaller(options.Guard), breakers: newBreakers(options.MaxRunning, options.MaxFailures),
	}
}

// SetPublicURL sets Options.PublicURL, for programs that learn the URL only after they call
// New. Call it before the node runs.
func (h *Handler) SetPublicURL(url string) { h.options.PublicURL = url }

// Register registers the handler for jobs of kind "http" with mux.
func (h *Handler) Register(mux *fairlead.Mux) {
	mux.Handle(Kind, fairlead.HandlerOptions{TimeoutOf: h.timeoutOf}, h)
}

// Validate validates args like the function Validate. It also rejects references to secrets
// that are not in Options.Secrets.
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

// Origin contains the schedule and due instant of a run. The zero value is for a job that no
// schedule created.
type Origin struct {
	Schedule string    // name of the schedule
	Due      time.Time // due instant
}
