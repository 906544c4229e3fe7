// Command fairlead is the scheduler as a program: a node with its service, and
// the tools to set it up and measure it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/fairlead-io/fairlead"
)

// Exit codes; scripts rely on them.
const (
	exitOK       = 0
	exitFailure  = 1
	exitUsage    = 2
	exitNotFound = 3
	exitConflict = 4
)

func main() {
	ctx, stop := interruptible()
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// interruptible ends its context at the first SIGINT or SIGTERM, so that work
// can drain, and the process at the second. A second one right behind the first
// is the same wish twice: some supervisors signal the process and its group.
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

// run is the whole program but for the process around it.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRootCommand()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	fmt.Fprintln(stderr, "fairlead:", err)
	return exitCode(err)
}

func exitCode(err error) int {
	var usage *usageError
	switch {
	case errors.As(err, &usage), errors.Is(err, fairlead.ErrInvalid):
		return exitUsage
	case errors.Is(err, fairlead.ErrNotFound):
		return exitNotFound
	case errors.Is(err, fairlead.ErrConflict):
		return exitConflict
	default:
		return exitFailure
	}
}

// usageError is a mistake in the command line or configuration.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }
