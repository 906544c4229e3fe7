// Package worker runs jobs in a program that knows the service and not its
// database: a remote worker.
//
// It is a node as package engine has it, with the same handlers, the same outcomes
// and the same care: it fences itself when it cannot confirm its lease in time,
// joins again when it lost it, and drains when its context ends. Its jobs come
// over the network from any of the servers behind one address, and it leaves the
// housekeeping to them.
//
// What a handler can choose (Fatal, RetryAt, SnoozeFor, Replace, Await, Release)
// is sent to the service, which decides about retries as a node would. A job
// cannot be completed inside the caller's own transaction: there is no database.
package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"connectrpc.com/connect"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/api/fairlead/v1/fairleadv1connect"
	"github.com/fairlead-io/fairlead/engine"
)

// Options of a worker. Only Server is needed.
type Options struct {
	Server string // URL of the service
	Token  string // of the role worker; empty if the service asks for none

	Name    string // for people
	Version string // of the program, for people

	Slots  int            // jobs it runs at once; default 32
	Queues []engine.Queue // queues it serves; none means all

	Poll  time.Duration // how often it looks for work without being woken; default 1s
	Beat  time.Duration // how often it confirms its lease; default 2s
	Lease time.Duration // how long it may be silent; default 10s, at least three beats, at most 5m
	Grace time.Duration // how long a handler may go on after its context ended; default 5s

	DrainTimeout time.Duration // how long handlers may go on after Run's context ended; default 30s

	Logger    *slog.Logger      // default slog.Default()
	Observer  engine.Observer   // default none
	Listeners []engine.Listener // called when jobs start, time out and fail

	// Client makes the calls. The default one follows the environment's proxy
	// and has no timeout of its own: calls have theirs.
	Client *http.Client
}

// Run is a worker until ctx ends. It then takes no more jobs, lets running
// handlers finish within Options.DrainTimeout, releases the rest, leaves, and
// returns nil; if handlers ignore the end of their context, it returns an error
// that counts them.
//
// It goes on while the service cannot be reached. It gives up, with the service's
// error, if the service refuses it: for its token, or with ErrInvalid for what it
// says of itself.
func Run(ctx context.Context, mux *fairlead.Mux, options Options) error {
	options, err := options.withDefaults()
	if err != nil {
		return err
	}
	if options.Client == nil {
		options.Client = newClient()
		defer options.Client.CloseIdleConnections()
	}
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	remote := &service{
		client: fairleadv1connect.NewWorkerServiceClient(options.Client, options.Server, connect.WithInterceptors(bearer(options.Token))),
		lease:  options.Lease, mux: mux, giveUp: giveUp,
	}
	node, err := engine.New(remote, mux, options.node(remote))
	if err != nil {
		return err
	}
	err = node.Run(ctx)
	var refused *refusedError
	if errors.As(context.Cause(ctx), &refused) {
		return errors.Join(refused.err, err)
	}
	return err
}

func (o Options) withDefaults() (Options, error) {
	address, err := url.Parse(o.Server)
	if err != nil || address.Host == "" || address.Scheme != "http" && address.Scheme != "https" {
		message := fmt.Sprintf("is %q; give the URL of the service, such as http://127.0.0.1:7717", o.Server)
		return o, &fairlead.InvalidError{Fields: []fairlead.FieldError{{Field: "server", Message: message}}}
	}
	if o.Slots == 0 {
		o.Slots = 32
	}
	if o.Lease == 0 {
		o.Lease = 10 * time.Second
	}
	return o, nil
}

// newClient makes a client that notices connections whose other end has vanished.
func newClient() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 8
	transport.HTTP2 = &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 10 * time.Second}
	return &http.Client{Transport: transport}
}

func (o Options) node(remote *service) engine.Options {
	slots := o.Slots
	for _, queue := range o.Queues {
		slots += queue.Slots
	}
	return engine.Options{
		Name: o.Name, Version: o.Version, Slots: o.Slots, Queues: o.Queues,
		Poll: o.Poll, Beat: o.Beat, Lease: o.Lease, Grace: o.Grace, DrainTimeout: o.DrainTimeout,
		Logger: o.Logger, Observer: o.Observer, Listeners: o.Listeners,
		Base: func() context.Context { return context.WithValue(context.Background(), serviceKey{}, remote) },
		// The service counts an attempt's time from its lease: a leased job must not
		// wait here. What is queued are only ends of runs on their way.
		SlotsOnly: true, QueueSize: min(4*slots, mostUnsettled),
	}
}

// mostUnsettled is how many jobs the service lets a worker hold beyond its slots.
const mostUnsettled = 10000

// refusedError is why the service does not want this worker.
type refusedError struct {
	err error
}

func (r *refusedError) Error() string { return r.err.Error() }

// bearer sends the token with every call.
type bearer string

// WrapUnary is part of connect.Interceptor.
func (b bearer) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, request connect.AnyRequest) (connect.AnyResponse, error) {
		b.set(request.Header())
		return next(ctx, request)
	}
}

// WrapStreamingClient is part of connect.Interceptor.
func (b bearer) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return func(ctx context.Context, spec connect.Spec) connect.StreamingClientConn {
		conn := next(ctx, spec)
		b.set(conn.RequestHeader())
		return conn
	}
}

// WrapStreamingHandler is part of connect.Interceptor.
func (bearer) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return next
}

func (b bearer) set(header http.Header) {
	if b != "" {
		header.Set("Authorization", "Bearer "+string(b))
	}
}
