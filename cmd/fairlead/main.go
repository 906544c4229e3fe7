// Command fairlead is the scheduler as a program: a node with its service, the tools for
// setup and measurement, and the command-line client.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
	_ "time/tzdata" // zones do not depend on the machine

	"github.com/fairlead-io/fairlead/internal/cli"
)

// Exit codes used in this package; package cli has all of them.
const (
	exitOK      = cli.ExitOK
	exitFailure = cli.ExitFailure
	exitUsage   = cli.ExitUsage
)

func main() {
	ctx, stop := interruptible()
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// interruptible returns a context that ends at the first SIGINT or SIGTERM, so that jobs
// can drain; the second signal ends the process. A second signal directly after the first
// is ignored, because some supervisors signal the process and its group.
func interruptible() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		cancel()
		for first := time.Now(); time.Since(first) < 500*time.Millisecond; {
			<-signals
		}
		os.Exit(exitFailure)
	}()
	return ctx, cancel
}

// run runs the whole program, without the parts that depend on the process.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRootCommand()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	addCompletion(root)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintln(stderr, "fairlead:", strings.TrimSuffix(line, "\n"))
	}
	return exitCode(err)
}

func exitCode(err error) int { return cli.ExitCode(err) }

func usagef(format string, args ...any) error { return cli.Usagef(format, args...) }
