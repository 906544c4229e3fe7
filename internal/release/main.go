// Command release builds the program for all platforms into a directory:
//
//	go run ./internal/release -version v0.1.0 -commit $(git rev-parse HEAD) -time $(git log -1 --format=%ct) -out dist
//
// Each program is accompanied by a bill of materials in CycloneDX format, and SHA256SUMS
// contains the checksums of all files. The same sources, version, commit and time, built
// with the same version of Go, produce the same files in any directory on any machine.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	r := release{source: ".", pkg: "./cmd/fairlead", name: "fairlead", targets: targets}
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	flags.StringVar(&r.version, "version", "", "version of the program")
	flags.StringVar(&r.commit, "commit", "", "commit that it is built from")
	flags.StringVar(&r.out, "out", "dist", "directory to make; what is in it is removed")
	seconds := flags.String("time", "0", "when the commit was made, in seconds since 1970")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if r.version == "" || r.commit == "" {
		return errors.New("specify -version and -commit")
	}
	made, err := strconv.ParseInt(*seconds, 10, 64)
	if err != nil {
		return fmt.Errorf("-time: %w", err)
	}
	r.time = time.Unix(made, 0).UTC()
	r.say = func(line string) { fmt.Println(line) }
	return r.make(ctx)
}
