// Command bench compares Fairlead with other schedulers, on the same private database
// servers, with the same jobs and the same durability:
//
//	go run . peers
//
// README.md describes the systems and the method.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

const usage = `usage: bench peers [flags]

Compare Fairlead with other schedulers. See bench peers -h.
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdin, os.Stdout)
	stop()
	switch {
	case err == nil:
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	default:
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout io.Writer) error {
	command := ""
	if len(args) > 0 {
		command, args = args[0], args[1:]
	}
	switch command {
	case "peers":
		return peers(ctx, args, stdout)
	case orderCommand:
		return serveOrder(ctx, stdin, stdout)
	case workerCommand:
		return serveWorker(ctx, stdin, stdout)
	default:
		fmt.Fprint(os.Stderr, usage)
		return flag.ErrHelp
	}
}
