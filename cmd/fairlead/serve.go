package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/bulk"
	"github.com/fairlead-io/fairlead/console"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/external"
	"github.com/fairlead-io/fairlead/httpcall"
	"github.com/fairlead-io/fairlead/internal/cli"
	"github.com/fairlead-io/fairlead/internal/outage"
	"github.com/fairlead-io/fairlead/metrics"
	"github.com/fairlead-io/fairlead/server"
	"github.com/fairlead-io/fairlead/sweep"
	"github.com/fairlead-io/fairlead/sweep/items"
)

type serveOptions struct {
	addr, db, config    string
	queues              []string
	node                engine.Options
	wakeAddr, listenURL string
	dbWait              time.Duration
	retention           retentionOptions
	publicURL           string
	sealKeys            string // name of a file
	logFormat, logLevel string
	calls               callOptions
	auth                authOptions
	adminAddr, otlp     string
	cdc                 string
	sweepFiles          []string
	sweepDatabases      []string
	demo                bool
	stdout              io.Writer
	typed               func(error) error // rewrites errors about node options to name the flags
}

func newServeCommand() *cobra.Command {
	var o serveOptions
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run a node with its API and web console",
		Long: "Run a node with its API and web console.\n\n" +
			"Every flag can also be set with an environment variable (such as FAIRLEAD_QUEUE_SIZE for --queue-size)\n" +
			"or in a YAML file (queue-size: 100). Flags take precedence over environment variables,\n" +
			"and environment variables over the file. An empty variable counts as unset.\n\n" +
			"The first SIGINT or SIGTERM drains the node; a second one ends the process immediately.",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("config") {
				if file, ok := environment("FAIRLEAD_CONFIG"); ok {
					o.config = file
				}
			}
			if err := configure(cmd.Flags(), o.config, environment); err != nil {
				return err
			}
			if err := warnIfConfigOpen(cmd.ErrOrStderr(), o.config); err != nil {
				return err
			}
			if err := readDatabaseFile(cmd.Flags(), cmd.ErrOrStderr()); err != nil {
				return err
			}
			o.stdout = cmd.OutOrStdout()
			if o.demo {
				o.demoDefaults(cmd.Flags())
			}
			o.typed = func(err error) error { return cli.Typed(cmd, err) }
			return serve(cmd.Context(), o, cmd.ErrOrStderr())
		},
	}
	host, _ := os.Hostname()
	f := cmd.Flags()
	f.StringVar(&o.addr, "addr", "127.0.0.1:7717", "address to listen on, as HOST:PORT")
	databaseFlags(f, &o.db, defaultDatabase)
	f.StringVar(&o.listenURL, dbListenFlag, "", listenUsage)
	f.DurationVar(&o.dbWait, "db-wait", 10*time.Minute, "maximum time to wait for an unavailable database on startup (0 = fail immediately)")
	f.StringVar(&o.config, "config", "", "YAML file with values for these flags (default: none)")
	f.BoolVar(&o.demo, "demo", false, demoUsage)
	f.StringVar(&o.cdc, "cdc", "", "YAML file that lists the Kafka Connect clusters whose connectors batches can manage (default: none)")
	f.IntVar(&o.node.Slots, "slots", 32, "maximum number of jobs running at once on this node")
	f.StringArrayVar(&o.queues, "queue", nil, "queue to serve (repeatable; default: all queues)")
	f.IntVar(&o.node.QueueSize, "queue-size", 1000, "maximum number of claimed jobs that have not started")
	f.IntVar(&o.node.ClaimBatch, "claim-batch", 500, "maximum number of jobs claimed from the database at once")
	f.IntVar(&o.node.BlockingCountLimit, "blocking-count-limit", 10, "number of consecutive polls that may fail to start ready jobs before the node restarts claiming")
	f.IntVar(&o.node.MaxSweeps, "max-sweeps", 5, "maximum number of sweeps whose shards run at once on this node")
	f.StringArrayVar(&o.sweepFiles, "sweep-files", nil, "directory from which sweeps may read files, including subdirectories (repeatable; default: none)")
	f.StringArrayVar(&o.sweepDatabases, "sweep-database", nil, sweepDatabaseUsage)
	f.DurationVar(&o.node.Poll, "poll", time.Second, "interval for polling the database for jobs")
	f.DurationVar(&o.node.Beat, "beat", 2*time.Second, "interval for renewing the node's lease")
	f.DurationVar(&o.node.Lease, "lease", 10*time.Second, "time without a heartbeat after which other nodes take over this node's jobs")
	f.DurationVar(&o.node.Grace, "grace", 5*time.Second, "maximum time that a handler may continue after its context ends")
	f.DurationVar(&o.node.DrainTimeout, "drain-timeout", 30*time.Second, "maximum time that running jobs may continue during shutdown")
	f.StringVar(&o.node.Name, "node-name", host, "display name of the node")
	f.StringVar(&o.node.Address, "advertise", "", "URL of this node, shown in node lists (default: none)")
	f.StringVar(&o.wakeAddr, "wake-addr", "", "for MySQL: IP address and UDP port on which this node receives notifications of new jobs from other machines (default: receive from this machine only)")
	f.StringVar(&o.publicURL, "public-url", "", "URL at which tenants and targets reach this server (default: the address of --addr)")
	f.StringVar(&o.sealKeys, "seal-keys", "", sealKeysUsage)
	o.retention.flags(f)
	o.calls.flags(f)
	o.auth.flags(f)
	f.StringVar(&o.logFormat, "log-format", "text", "log format: text or json")
	f.StringVar(&o.logLevel, "log-level", "info", "minimum log level: debug, info, warn or error")
	f.StringVar(&o.adminAddr, "admin-addr", "", "address to serve profiles (pprof) and metrics on; :PORT listens on this machine only (default: none)")
	f.StringVar(&o.otlp, "otlp-endpoint", "", "URL of an OpenTelemetry collector to send traces to over HTTP (default: the value of OTEL_EXPORTER_OTLP_ENDPOINT, if set)")
	return cmd
}

func serve(ctx context.Context, o serveOptions, stderr io.Writer) error {
	all, err := newLogger(stderr, o.logFormat, o.logLevel)
	if err != nil {
		return err
	}
	log, _ := outage.Logger(all) // all loops share the node's view of the database's state
	if o.dbWait < 0 {
		return usagef("--db-wait %v must be positive, or 0 to fail immediately", o.dbWait)
	}
	if err := o.retention.set(&o.node); err != nil {
		return err
	}
	local, err := onLoopback(o.addr)
	if err != nil {
		return err
	}
	if err := checkPublicURL(o.publicURL); err != nil {
		return err
	}
	warnIfSecretsOpen(log, "--db-listen", o.listenURL)
	warnIfSecretsOpen(log, "--sweep-database", o.sweepDatabases...)
	warnIfSecretsOpen(log, "--allow-secret", o.calls.allowSecrets...)
	secure, err := o.auth.tls(log)
	if err != nil {
		return err
	}
	databases, err := openSweepDatabases(o.sweepDatabases)
	if err != nil {
		return err
	}
	defer databases.Close()
	waiting := &lobby{addr: o.addr, secure: secure, log: log}
	defer waiting.close()
	// Half a lease: rows that a stopped process holds locked must be free again
	// by the time its jobs are to be taken back.
	store, err := o.awaitDatabase(ctx, log, waiting, databaseOptions{idleLimit: o.node.Lease / 2, wakeAddr: o.wakeAddr, listenURL: o.listenURL})
	if err != nil {
		return err
	}
	defer store.Close()
	auth, err := o.auth.find(ctx, store, log)
	if err != nil {
		return err
	}
	if err := o.auth.check(o.addr, local, auth, o.db, log); err != nil {
		return err
	}
	// On a developer's machine, calls to the machine itself are allowed.
	guard, secrets, err := o.calls.check(local && !auth.Required)
	if err != nil {
		return err
	}
	traces, err := startTraces(ctx, o.otlp, o.node.Name, log)
	if err != nil {
		return err
	}
	defer traces.stop()
	counts := metrics.New(metrics.Options{Version: versionText(), Logger: log})
	jobs, registry, err := sealWith(o.sealKeys, store, store, log)
	if err != nil {
		return err
	}
	timed := timedStore{counts.Store(jobs), registry}
	calls := o.calls.handler(guard, secrets, timed)
	kinds := builtinKinds(calls)
	traces.wrap(kinds)
	courier := external.New(timed, external.Options{Guard: guard, RequestTimeout: o.calls.timeout, Logger: log})
	courier.Register(kinds)
	registerSweeps(kinds, timed, items.Options{Roots: o.sweepFiles, Client: guard.Client(), Databases: databases.Sources(), Logger: log}, calls)
	bulk.Register(kinds, timed, counts)
	if err := registerCDC(kinds, o.cdc); err != nil {
		return err
	}
	show, err := startDemo(ctx, o.demo, timed, guard, log)
	if err != nil {
		return err
	}
	defer show.stop()
	show.register(kinds)
	options := o.nodeOptions(log)
	options.Listeners = append(options.Listeners, courier.Listener())
	options.Observer = counts
	node, err := engine.New(timed, kinds, options)
	if err != nil {
		return o.typed(err)
	}
	counts.Watch(node, store)
	admin, err := startAdmin(ctx, o.adminAddr, counts.Handler(), log)
	if err != nil {
		return err
	}
	defer admin.stop()
	listener, err := waiting.leave()
	if err == nil && listener == nil {
		listener, err = listen(ctx, o.addr)
	}
	if err != nil {
		return err
	}
	scheme := "http://"
	if secure != nil {
		scheme = "https://"
	}
	address, guessed := reachable(listener.Addr())
	if o.publicURL == "" {
		o.publicURL = scheme + address
		if guessed {
			log.Warn("targets will call back to the host name of this machine; set --public-url to use another address", "url", o.publicURL)
		}
	}
	courier.SetPublicURL(o.publicURL)
	calls.SetPublicURL(o.publicURL)
	if err := show.open(ctx, o.publicURL); err != nil {
		return err
	}
	log.Info("serving", "url", scheme+address, "db", shown(o.db), "version", versionText())
	workers := server.WorkerOptions{Poll: o.node.Poll, Beat: o.node.Beat, Lease: o.node.Lease, Grace: o.node.Grace}
	service, err := server.New(node, timed, server.Options{
		Version: versionText(), Log: log, Stopping: ctx.Done(), Auth: auth, Metrics: counts.Handler(), Traces: traces.provider(), Workers: workers,
		Args: server.ArgsChecks{httpcall.Kind: calls.Validate, sweep.StartKind: sweep.CheckStartArgs}, Sweeps: sweepChecks(calls),
		Console: func(api http.Handler) (http.Handler, error) {
			pages := console.Options{Version: versionText(), Secure: strings.HasPrefix(o.publicURL, "https://"), Stopping: ctx.Done(), Log: log}
			if o.auth.provider != nil {
				pages.Provider = o.auth.provider
			}
			return console.New(api, pages)
		},
		Kinds: kinds, Guard: guard, Databases: databases.Names(), Breakers: calls.Breakers, TryCall: calls.Try,
	})
	if err != nil {
		return err
	}
	show.announce(o.stdout, scheme+address)
	check := func(ctx context.Context) { databases.Check(ctx, log) }
	return runAll(ctx, log, listener, secure, service, node, courier.Watch, check, show.run)
}

// runAll runs the service, the node, and additional loops. The service ends after the node
// has drained, and reports "not ready" until then.
func runAll(ctx context.Context, log *slog.Logger, listener net.Listener, secure *tls.Config, service *server.Service, node *engine.Engine, loops ...func(context.Context)) error {
	web := server.Web(service)
	web.TLSConfig, web.ErrorLog = secure, server.ErrorLog(log)
	group, ctx := errgroup.WithContext(ctx) // a failed service ends the node
	group.Go(func() error {
		serve := web.Serve
		if secure != nil {
			serve = func(l net.Listener) error { return web.ServeTLS(l, "", "") }
		}
		if err := serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve: %w", err)
		}
		return nil
	})
	working, idle := context.WithCancel(context.WithoutCancel(ctx))
	group.Go(func() error { return service.Run(working) })
	group.Go(func() error {
		defer idle() // until here requests are answered and recorded in the audit log
		err := node.Run(ctx)
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		return errors.Join(err, web.Shutdown(stop))
	})
	for _, loop := range loops {
		group.Go(func() error {
			loop(ctx)
			return nil
		})
	}
	return group.Wait()
}

func (o serveOptions) nodeOptions(log *slog.Logger) engine.Options {
	node := o.node
	node.Logger, node.Version = log, versionText()
	for _, name := range o.queues {
		node.Queues = append(node.Queues, engine.Queue{Name: name})
	}
	for _, name := range []string{external.NoticeQueue, bulk.Queue} { // any node may send notices and carry out bulks
		if len(o.queues) > 0 && !slices.Contains(o.queues, name) {
			node.Queues = append(node.Queues, engine.Queue{Name: name})
		}
	}
	return node
}

// builtinKinds returns a mux with the kinds that every node of the program handles.
func builtinKinds(calls *httpcall.Handler) *fairlead.Mux {
	mux := fairlead.NewMux()
	mux.Handle("noop", fairlead.HandlerOptions{}, fairlead.HandlerFunc(func(context.Context, *fairlead.Job) error { return nil }))
	calls.Register(mux)
	return mux
}

// registerSweeps adds the handlers for sweep items that every node of the program has.
func registerSweeps(mux *fairlead.Mux, store driver.Store, options items.Options, calls *httpcall.Handler) {
	items.Handle(mux, store, "noop", options, func(context.Context, items.Item[json.RawMessage]) error { return nil })
	items.HandleHTTP(mux, store, options, calls)
}

// sweepChecks returns checks that reject a sweep at creation if its call can never be
// valid.
func sweepChecks(calls *httpcall.Handler) server.SweepChecks {
	return server.SweepChecks{items.HTTPKind: func(s *sweep.Sweep) error {
		return calls.ValidateItems(s.Data, s.PerCall)
	}}
}

// checkPublicURL rejects a URL that paths cannot be appended to.
func checkPublicURL(text string) error {
	if text == "" {
		return nil
	}
	parsed, err := url.Parse(text)
	if err != nil || parsed.Host == "" || parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.RawQuery != "" || parsed.Fragment != "" {
		return usagef("--public-url %q must be a URL such as https://fairlead.example.org", text)
	}
	return nil
}
