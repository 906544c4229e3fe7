// Package worker runs jobs in a remote worker: a program that can reach the service but
// not its database.
//
//	err := worker.Run(ctx, mux, worker.Options{Server: "https://fairlead.example.com", Token: token})
//
// A worker behaves like a node of package engine, with the same handlers, outcomes and
// safeguards: it stops its handlers when it cannot confirm its lease in time, joins again
// when it has lost the lease, and drains when its context ends. It gets its jobs over the
// network from any of the servers behind one address, and leaves the housekeeping to
// them.
//
// The outcomes of handlers (Fatal, RetryAt, SnoozeFor, Replace, Await, Release) are
// sent to the service, which decides about retries as a node would. A handler cannot
// complete its job inside its own transaction, because the worker has no access to the
// database.
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

// Options configures a worker. Only Server is required.
type Options struct {
	Server string // URL of the service
	Token  string // token with the role worker; empty if the service requires none

	Name    string // display name
	Version string // version of the program, for display

	Slots  int            // maximum number of jobs that it runs at once; default 32
	Queues []engine.Queue // queues that it serves; none means all

	Poll  time.Duration // interval between checks for work when the worker is not woken; default 1s
	Beat  time.Duration // interval between confirmations of its lease; default 2s
	Lease time.Duration // duration of its lease without a beat; default 10s, at least three beats, at most 5m
	Grace time.Duration // time for which a handler may continue after its context has ended; default 5s

	DrainTimeout time.Duration // time for which handlers may continue after Run's context has ended; default 30s

	Logger    *slog.Logger      // default slog.Default()
	Observer  engine.Observer   // default none
	Listeners []engine.Listener // called when jobs start, time out or fail

	// Client makes the HTTP calls. The default client uses the environment's proxy
	// settings and has no timeout of its own, because each call has one.
	Client *http.Client
}

// Run runs a worker until ctx ends. The worker then stops taking jobs, lets running handlers
// finish within Options.DrainTimeout, releases the remaining jobs and leaves, after which
// Run returns nil. If some handlers do not return after their contexts end, Run returns an
// error that states how many.
//
// Run keeps running while the service is unreachable. It returns the service's error if the
// service refuses the worker because of its token, and ErrInvalid if the service refuses the
// worker's description, such as its kinds or queues.
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
