//go:build linux

// Command newcomer follows the README on a machine that has never seen this repository: it
// clones the repository into an empty directory, with empty Go caches, runs "make run",
// tries every example of the README, compares the output, and runs "make test".
//
//	go run ./internal/newcomer -test=false
//
// It reports the time until the console responded and the modules that used the CPU time of
// the build.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "newcomer:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) (err error) {
	flags := flag.NewFlagSet("newcomer", flag.ContinueOnError)
	tests := flags.Bool("test", true, "run make test too, which takes minutes on two cores")
	if err := flags.Parse(args); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "newcomer")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	v := newVisit(dir)
	if err := v.clone(ctx); err != nil {
		return err
	}
	if err := v.tryDemo(ctx); err != nil {
		return err
	}
	if !*tests {
		return nil
	}
	return v.test(ctx)
}

// visit is the environment of a newcomer: a directory, and environment variables without
// caches.
type visit struct {
	home  string // directory of the clone
	graph string // file to which go build writes its actions
	env   []string
	begun time.Time
}

func newVisit(dir string) *visit {
	v := &visit{home: filepath.Join(dir, "fairlead"), graph: filepath.Join(dir, "actions.json"), begun: time.Now()}
	v.env = append(slices.DeleteFunc(os.Environ(), ours),
		"GOMODCACHE="+filepath.Join(dir, "modules"),
		"GOCACHE="+filepath.Join(dir, "builds"),
		"GOFLAGS=-modcacherw", // so that the directory can be removed
		"XDG_CONFIG_HOME="+filepath.Join(dir, "config"),
	)
	return v
}

// ours reports whether a newcomer would not have a variable, because it is a setting of
// Fairlead or of the make process that started this command.
func ours(variable string) bool {
	return slices.ContainsFunc([]string{"FAIRLEAD_", "MAKE", "MFLAGS=", "ARGS="}, func(prefix string) bool { return strings.HasPrefix(variable, prefix) })
}

// say prints a step and its time.
func (v *visit) say(format string, args ...any) {
	fmt.Printf("%6.0fs  %s\n", time.Since(v.begun).Seconds(), fmt.Sprintf(format, args...))
}

// command returns a command that runs in the clone.
func (v *visit) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = v.home, v.env
	return cmd
}

func (v *visit) clone(ctx context.Context) error {
	v.say("git clone")
	if out, err := exec.CommandContext(ctx, "git", "clone", "--quiet", ".", v.home).CombinedOutput(); err != nil {
		return fmt.Errorf("git clone: %w\n%s", err, out)
	}
	return nil
}

// test runs the tests and shows their output.
func (v *visit) test(ctx context.Context) error {
	v.say("make test")
	cmd := v.command(ctx, "make", "test")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("make test: %w", err)
	}
	v.say("the tests have passed")
	return nil
}
