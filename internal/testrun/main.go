// Command testrun runs the tests of this repository in two tiers:
//
//	testrun first [flag of go test ...] [-- package ...]
//	testrun second [flag of go test ...] [-- package ...]
//	testrun all [flag of go test ...] [-- package ...]
//	testrun needs first|second|all
//
// The first tier checks a source tree: go test -short in every module that people build.
// The second tier adds the tests with the attribute "long" (see internal/tier), the race
// detector, the modules that take minutes to compile, and static checks. If packages are
// given, testrun runs only those, in the main module.
//
// It prints the result of a package as soon as the package ends, with the number of
// finished packages, and every half minute lists the packages still running. It continues
// after failures. A failure in the second tier is repeated once with the same seed: if it
// passes then, it is a warning. The output ends with a summary: the lines of each failure,
// its seed, and the command that reproduces it.
//
// "testrun needs" installs the programs that a tier uses, or reports the missing ones and
// how to allow their installation. See internal/install.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
)

// Exit codes.
const (
	exitFailure = 1
	exitUsage   = 2
)

const usage = `usage: testrun first|second|all [flag of go test ...] [-- package ...]
       testrun needs first|second|all
`

func main() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		<-signals
		stop()
	}()
	os.Exit(run(ctx, os.Args[1:], os.Stdout))
}

func run(ctx context.Context, arguments []string, out io.Writer) int {
	if len(arguments) == 2 && arguments[0] == "needs" && tiersOf(arguments[1]) != nil {
		provide(ctx, arguments[1], out)
		return 0
	}
	if len(arguments) == 0 || tiersOf(arguments[0]) == nil {
		fmt.Fprint(out, usage)
		return exitUsage
	}
	p := plan{tiers: tiersOf(arguments[0]), flags: arguments[1:]}
	if dashes := slices.Index(p.flags, "--"); dashes >= 0 {
		p.flags, p.packages = p.flags[:dashes], p.flags[dashes+1:]
	}
	root, err := moduleRoot(ctx)
	if err != nil {
		fmt.Fprintln(out, "testrun:", err)
		return exitFailure
	}
	p.root = root
	s := newSession(p, out)
	if !s.play(ctx) {
		return exitFailure
	}
	return 0
}

// tiersOf returns the tiers for an argument, or nil if it is invalid.
func tiersOf(argument string) []tierName {
	return map[string][]tierName{"first": {first}, "second": {second}, "all": {first, second}}[argument]
}
