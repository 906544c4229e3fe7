package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/fairlead-io/fairlead/internal/bench"
)

// newBenchRestCommand returns the command for the workload that sends requests to services,
// which it starts.
func newBenchRestCommand(o *benchOptions) *cobra.Command {
	var r bench.Rest
	cmd := &cobra.Command{
		Use:   bench.RestWorkload,
		Short: "Benchmark the REST API of a server on this machine",
		Long: "Benchmark the REST API in several parts. The benchmark starts the server on this machine.\n" +
			"Server CPU time includes the server and the database. With -o json, each part is one line.",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return runBenchRest(cmd, *o, r) },
	}
	cmd.Flags().StringVar(&r.Only, "part", "", "run only this part: single, batch, get or wake (default: all)")
	return cmd
}

func runBenchRest(cmd *cobra.Command, o benchOptions, r bench.Rest) (err error) {
	if err := o.validate(); err != nil {
		return err
	}
	r.Clients, r.Batch, r.Seconds, r.Progress = o.spec.Clients, o.spec.Batch, o.spec.Seconds, bench.NewProgress(cmd.ErrOrStderr())
	r.Start = func(ctx context.Context, flags ...string) (bench.RestService, func() error, error) {
		return startService(ctx, o.db, flags)
	}
	if r.Server, err = bench.OpenServer(cmd.Context(), o.db); err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	defer func() { err = errors.Join(err, r.Server.Close()) }()
	return showParts(cmd, o, func(done func(bench.Part) error) error { return r.Run(cmd.Context(), done) })
}

// namesDatabase reports whether an environment variable sets the database.
func namesDatabase(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	return name == variableOf(dbFlag) || name == variableOf(dbFileFlag)
}

// startService runs this program again, as a service on a free port.
func startService(ctx context.Context, db string, flags []string) (service bench.RestService, stop func() error, err error) {
	program, err := os.Executable()
	if err != nil {
		return service, nil, err
	}
	// The service drains after a signal; ending the context would kill it.
	cmd := exec.CommandContext(context.WithoutCancel(ctx), program, append([]string{"serve", "--addr", "127.0.0.1:0", "--log-format", "json"}, flags...)...)
	// Not on the command line: it may contain a password.
	cmd.Env = append(slices.DeleteFunc(os.Environ(), namesDatabase), variableOf(dbFlag)+"="+db)
	log, err := cmd.StderrPipe()
	if err != nil {
		return service, nil, err
	}
	if err := cmd.Start(); err != nil {
		return service, nil, err
	}
	lines := bufio.NewScanner(log)
	for service.URL == "" && lines.Scan() {
		var line struct{ Msg, URL string }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "serving" {
			service.URL = line.URL
		}
	}
	service.PID = cmd.Process.Pid
	logged := make(chan struct{})
	go func() {
		defer close(logged)
		for lines.Scan() { // the service would block if its log were not read
		}
		_, _ = io.Copy(io.Discard, log)
	}()
	stop = func() error {
		signalErr := cmd.Process.Signal(syscall.SIGTERM)
		<-logged
		return errors.Join(signalErr, cmd.Wait())
	}
	if service.URL == "" {
		return service, nil, errors.Join(errors.New("the server did not start"), stop())
	}
	return service, stop, nil
}
