package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/cmd/fairlead/internal/demo"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/httpcall"
	"github.com/fairlead-io/fairlead/internal/cli"
	"github.com/fairlead-io/fairlead/sweep/items"
)

// demoDatabase is the default database of the demo, separate from real jobs.
const demoDatabase = "sqlite://fairlead-demo.db"

const demoUsage = "run a demo with tenants, schedules, a batch, a sweep and a steady flow of jobs; unless --db is set, its data is in " + demoDatabase

// demoDrain is how long jobs may continue at shutdown: losing jobs of the demo does no
// harm, and users do not like to wait.
const demoDrain = 2 * time.Second

// demoDefaults sets the defaults of a node with the demo, for options that are not set.
func (o *serveOptions) demoDefaults(flags *pflag.FlagSet) {
	if !flags.Changed(dbFlag) {
		o.db = demoDatabase
	}
	if !flags.Changed("drain-timeout") {
		o.node.DrainTimeout = demoDrain
	}
}

// demoNode is the demo of a node; the zero value is no demo.
type demoNode struct {
	*demo.Demo
	log    *slog.Logger
	target *demo.Target
	web    *http.Server
	ended  chan struct{}
}

// startDemo checks that the database can hold the demo, and starts the target of its calls
// on a free port of this machine. It stores nothing yet.
func startDemo(ctx context.Context, on bool, store driver.Store, guard *httpcall.Guard, log *slog.Logger) (*demoNode, error) {
	if !on {
		return &demoNode{}, nil
	}
	d := &demoNode{Demo: demo.New(store, demo.Options{Logger: log}), log: log, target: demo.NewTarget(), ended: make(chan struct{})}
	if err := d.Check(ctx); err != nil {
		return nil, fmt.Errorf("--demo: %w", err)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("--demo: listen for HTTP calls: %w", err)
	}
	guard.Alias(demo.TargetAddress, listener.Addr().(*net.TCPAddr).AddrPort())
	d.web = &http.Server{Handler: d.target, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10}
	go func() {
		defer close(d.ended)
		if err := d.web.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			log.Error("demo target failed", "error", err)
		}
	}()
	return d, nil
}

// register adds the handlers of the demo's jobs.
func (d *demoNode) register(kinds *fairlead.Mux) {
	if d.Demo != nil {
		d.Register(kinds, items.Options{Logger: d.log})
	}
}

// open stores the demo, once the URL for callbacks is known.
func (d *demoNode) open(ctx context.Context, publicURL string) error {
	if d.Demo == nil {
		return nil
	}
	if err := d.target.SetService(publicURL); err != nil {
		return fmt.Errorf("--demo: %w", err)
	}
	if err := d.Declare(ctx); err != nil {
		return fmt.Errorf("--demo: %w", err)
	}
	return nil
}

// announce tells users where to look. It does not write to the log, which programs read.
func (d *demoNode) announce(out io.Writer, url string) {
	if d.Demo != nil {
		fmt.Fprintf(out, "The demo is running. Open %s in a browser; press Ctrl-C to stop it.\nSome of its jobs fail or panic on purpose.\n", url)
	}
}

// run runs the demo until ctx ends.
func (d *demoNode) run(ctx context.Context) {
	if d.Demo != nil {
		d.Run(ctx)
	}
}

// stop stops the target and waits for it.
func (d *demoNode) stop() {
	if d.web == nil {
		return
	}
	_ = d.web.Close() // the listener is closed even after an error
	d.target.Close()
	<-d.ended
}

func newDemoCommand() *cobra.Command {
	var db string
	cmd := &cobra.Command{
		Use:               "demo",
		Short:             "Remove the demo data created by serve --demo",
		PersistentPreRunE: databaseFrom,
	}
	cli.OnlyCommands(cmd)
	databaseFlags(cmd.PersistentFlags(), &db, demoDatabase)
	cmd.AddCommand(&cobra.Command{
		Use:   "clear",
		Short: "Remove the demo data from a database",
		Long: "Remove the demo data from a database: its tenants " + strings.Join(demo.Tenants(), ", ") + " and everything they own, and\n" +
			"nothing else. First stop all nodes that run with --demo. Running the command again is harmless.",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return clearDemo(cmd.Context(), db, func(line string) { fmt.Fprintln(cmd.OutOrStdout(), line) })
		},
	})
	return cmd
}

func clearDemo(ctx context.Context, db string, report func(line string)) (err error) {
	if path, isFile := strings.CutPrefix(db, "sqlite://"); isFile {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) { // opening it would create it
			report("no demo found: " + shown(db) + " does not exist")
			return nil
		}
	}
	store, err := openStore(ctx, db)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	return demo.Clear(ctx, store, report)
}
