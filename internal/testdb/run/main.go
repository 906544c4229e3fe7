// Command run runs a command with access to a PostgreSQL and a MariaDB server:
//
//	go run ./internal/testdb/run -- go test ./...
//
// The servers are private. They start before the command and stop after it. The command
// finds them through the environment variables read by package testdb, so that all test
// binaries share them instead of starting their own. If the environment already names a
// server, run uses it as it is. With -durable, the servers have production settings, which
// measurements require. The exit code is the command's own.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"golang.org/x/sync/errgroup"

	"github.com/fairlead-io/fairlead/internal/testdb"
)

// Exit codes in addition to the command's own, with the values that shells use.
const (
	exitFailure   = 1
	exitUsage     = 2
	exitNotFound  = 127
	exitSignalled = 128 // plus the signal
)

func main() {
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: run [-durable] [--] command [argument ...]")
	}
	durable := flag.Bool("durable", false, "set the servers up as for production")
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(exitUsage)
	}
	os.Exit(run(flag.Args(), testdb.Options{Durable: *durable, Settled: true}))
}

func run(argv []string, options testdb.Options) int {
	// From here on signals are handled: none may end us before the servers are stopped.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	defer signal.Stop(signals)

	servers, err := startServers(context.Background(), options)
	defer servers.stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "testdb:", err)
		return exitFailure
	}
	code := runCommand(argv, servers.environment(), signals)
	servers.warn() // at the end, where it is seen
	return code
}

// A sharedServer is one of the servers provided to the command.
type sharedServer struct {
	env     string
	start   func(context.Context, testdb.Options) (*testdb.Server, error)
	server  *testdb.Server // nil if run did not start it
	missing error          // reason why there is no server
}

type sharedServers []*sharedServer

// startServers starts the servers that the environment does not name yet. An unavailable
// server is an error only if all are required. Servers that did start are returned even
// with an error.
func startServers(ctx context.Context, options testdb.Options) (sharedServers, error) {
	servers := sharedServers{
		{env: testdb.PostgresEnv, start: testdb.StartPostgres},
		{env: testdb.MySQLEnv, start: testdb.StartMySQL},
	}
	var starting errgroup.Group
	for _, shared := range servers {
		if os.Getenv(shared.env) != "" {
			continue
		}
		starting.Go(func() error {
			var err error
			shared.server, err = shared.start(ctx, options)
			if errors.Is(err, testdb.ErrUnavailable) && !testdb.Required() {
				shared.missing = err
				return nil
			}
			return err
		})
	}
	return servers, starting.Wait()
}

// environment returns the environment of the command, which names the servers. A missing
// server is marked, so that the command need not look for it again.
func (s sharedServers) environment() []string {
	environment := os.Environ()
	for _, shared := range s {
		switch {
		case shared.server != nil:
			environment = append(environment, shared.env+"="+shared.server.URL())
		case shared.missing != nil:
			environment = append(environment, shared.env+"="+testdb.Unavailable)
		}
	}
	return environment
}

func (s sharedServers) warn() {
	for _, shared := range s {
		if shared.missing != nil {
			fmt.Fprintf(os.Stderr, "\nWARNING: tests were SKIPPED: %v\n", shared.missing)
		}
	}
}

func (s sharedServers) stop() {
	for _, shared := range s {
		if shared.server == nil {
			continue
		}
		if err := shared.server.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "testdb:", err)
		}
	}
}

// runCommand runs argv, forwards signals to it and returns its exit code. The command has
// its own process group, so that a signal also reaches the processes it started: go test
// does not forward SIGTERM to test binaries.
func runCommand(argv, environment []string, signals <-chan os.Signal) int {
	command := exec.CommandContext(context.Background(), argv[0], argv[1:]...)
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	command.Env = environment
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := command.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "testdb:", err)
		return exitNotFound
	}
	finished := make(chan error, 1)
	go func() { finished <- command.Wait() }()
	for {
		select {
		case received := <-signals:
			if number, ok := received.(syscall.Signal); ok {
				// Fails only when the group has ended, which finished reports.
				_ = syscall.Kill(-command.Process.Pid, number)
			}
		case err := <-finished:
			return exitCode(err)
		}
	}
}

func exitCode(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case !errors.As(err, &exit):
		fmt.Fprintln(os.Stderr, "testdb:", err)
		return exitFailure
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return exitSignalled + int(status.Signal())
	}
	return exit.ExitCode()
}
