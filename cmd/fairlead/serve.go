package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/httpcall"
	"github.com/fairlead-io/fairlead/server"
)

type serveOptions struct {
	addr, db, config    string
	queues              []string
	node                engine.Options
	requestTimeout      time.Duration
	allowTargets        []string
	logFormat, logLevel string
}

func newServeCommand() *cobra.Command {
	var o serveOptions
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run a node with its service",
		Long: "Run a node with its service.\n\n" +
			"Every flag can also be set in the environment (FAIRLEAD_QUEUE_SIZE for --queue-size)\n" +
			"or in a YAML file (queue-size: 100). The command line wins over the environment,\n" +
			"and the environment over the file.\n\n" +
			"The first SIGINT or SIGTERM drains the node, the second ends it at once.",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("config") {
				if file, ok := os.LookupEnv("FAIRLEAD_CONFIG"); ok {
					o.config = file
				}
			}
			if err := configure(cmd.Flags(), o.config, os.LookupEnv); err != nil {
				return err
			}
			return serve(cmd.Context(), o, cmd.ErrOrStderr())
		},
	}
	host, _ := os.Hostname()
	f := cmd.Flags()
	f.StringVar(&o.addr, "addr", "127.0.0.1:7717", "address to serve on")
	f.StringVar(&o.db, "db", defaultDatabase, databaseUsage)
	f.StringVar(&o.config, "config", "", "YAML file with these settings")
	f.IntVar(&o.node.Slots, "slots", 32, "jobs to run at once")
	f.StringArrayVar(&o.queues, "queue", nil, "queue to serve (repeatable; default all)")
	f.IntVar(&o.node.QueueSize, "queue-size", 1000, "jobs claimed but not started, at most")
	f.DurationVar(&o.node.Poll, "poll", time.Second, "how often to look for work without being woken")
	f.DurationVar(&o.node.Beat, "beat", 2*time.Second, "how often to confirm the node's lease")
	f.DurationVar(&o.node.Lease, "lease", 10*time.Second, "how long the node may be silent before its jobs are taken back")
	f.DurationVar(&o.node.Grace, "grace", 5*time.Second, "how long a handler may go on after its context ended")
	f.DurationVar(&o.node.DrainTimeout, "drain-timeout", 30*time.Second, "how long running jobs may go on at shutdown")
	f.StringVar(&o.node.Name, "node-name", host, "name of this node, for people")
	f.StringVar(&o.node.Address, "advertise", "", "URL under which this node can be reached")
	f.DurationVar(&o.requestTimeout, "request-timeout", 15*time.Second, "timeout of an HTTP call whose job sets none")
	f.StringArrayVar(&o.allowTargets, "allow-target", nil, "CIDR or host that HTTP calls may reach although it is private (repeatable)")
	f.StringVar(&o.logFormat, "log-format", "text", "text or json")
	f.StringVar(&o.logLevel, "log-level", "info", "debug, info, warn or error")
	return cmd
}

func serve(ctx context.Context, o serveOptions, stderr io.Writer) error {
	log, err := newLogger(stderr, o.logFormat, o.logLevel)
	if err != nil {
		return err
	}
	if err := requireLoopback(o.addr); err != nil {
		return err
	}
	guard, err := httpcall.NewGuard(o.allowTargets, true)
	if err != nil {
		return usagef("--allow-target: %w", err)
	}
	// Half a lease: rows that a stopped process holds locked must be free again
	// by the time its jobs are to be taken back.
	store, err := openDatabase(ctx, o.db, databaseOptions{idleLimit: o.node.Lease / 2})
	if err != nil {
		return fmt.Errorf("open %s: %w", shown(o.db), err)
	}
	defer store.Close()

	node, err := engine.New(store, builtinKinds(guard, o.requestTimeout), o.nodeOptions(log))
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.addr)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", o.addr, err)
	}
	log.Info("serving", "url", "http://"+listener.Addr().String(), "db", shown(o.db), "version", versionText())
	workers := server.WorkerOptions{Poll: o.node.Poll, Beat: o.node.Beat, Lease: o.node.Lease, Grace: o.node.Grace}
	handler, err := server.New(node, store, server.Options{Version: versionText(), Log: log, Stopping: ctx.Done(), Workers: workers})
	if err != nil {
		return err
	}
	return runBoth(ctx, listener, handler, node)
}

// runBoth runs the service and the node. The service outlives the node's
// draining: it answers "not ready" meanwhile.
func runBoth(ctx context.Context, listener net.Listener, handler http.Handler, node *engine.Engine) error {
	web := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 2 * time.Minute, Protocols: new(http.Protocols)}
	web.Protocols.SetHTTP1(true)
	web.Protocols.SetUnencryptedHTTP2(true) // for gRPC
	group, ctx := errgroup.WithContext(ctx) // a service that fails ends the node
	group.Go(func() error {
		if err := web.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve: %w", err)
		}
		return nil
	})
	group.Go(func() error {
		err := node.Run(ctx)
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		return errors.Join(err, web.Shutdown(stop))
	})
	return group.Wait()
}

func (o serveOptions) nodeOptions(log *slog.Logger) engine.Options {
	node := o.node
	node.Logger, node.Version = log, versionText()
	for _, name := range o.queues {
		node.Queues = append(node.Queues, engine.Queue{Name: name})
	}
	return node
}

// builtinKinds are the kinds that every served node handles.
func builtinKinds(guard *httpcall.Guard, timeout time.Duration) *fairlead.Mux {
	mux := fairlead.NewMux()
	mux.Handle("noop", fairlead.HandlerOptions{}, fairlead.HandlerFunc(func(context.Context, *fairlead.Job) error { return nil }))
	mux.Handle("http", fairlead.HandlerOptions{Timeout: timeout}, httpcall.New(guard))
	return mux
}

// requireLoopback refuses addresses that others can reach: there is no
// authentication yet.
func requireLoopback(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return usagef("--addr %q: %w", addr, err)
	}
	if host == "localhost" {
		return nil
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsLoopback() {
		return nil
	}
	return usagef("--addr %q can be reached from other machines and there is no authentication: use 127.0.0.1", addr)
}

func newLogger(w io.Writer, format, level string) (*slog.Logger, error) {
	var lowest slog.Level
	if err := lowest.UnmarshalText([]byte(level)); err != nil {
		return nil, usagef("--log-level %q: use debug, info, warn or error", level)
	}
	options := &slog.HandlerOptions{Level: lowest}
	switch format {
	case "text":
		return slog.New(slog.NewTextHandler(w, options)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, options)), nil
	default:
		return nil, usagef("--log-format %q: use text or json", format)
	}
}
