package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// unit is a test that is run alone, or one of the parts of a test that has many.
type unit struct {
	Package string
	Test    string
	Part    string // empty: all of the test
}

func (u unit) String() string {
	if u.Part == "" {
		return u.Package + " " + u.Test
	}
	return u.Package + " " + u.Test + "/" + u.Part
}

// pattern chooses units of one package, which are all tests, or all parts of one.
func pattern(units []unit) string {
	var names []string
	for _, u := range units {
		if u.Part == "" {
			names = append(names, regexp.QuoteMeta(u.Test))
		} else {
			names = append(names, regexp.QuoteMeta(u.Part))
		}
	}
	choice := "^(" + strings.Join(names, "|") + ")$"
	if units[0].Part == "" {
		return choice
	}
	return "^" + regexp.QuoteMeta(units[0].Test) + "$/" + choice
}

// run is what came of a run of tests.
type run struct {
	passed  bool
	hung    bool
	output  string
	seconds float64
	cpu     time.Duration
}

// play runs units of one package with an environment of their own.
func (w *workshop) play(ctx context.Context, units []unit, limit time.Duration, environment ...string) (run, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var out bytes.Buffer
	arguments := []string{"-test.run=" + pattern(units), "-test.v", "-test.failfast", "-test.timeout=0"}
	if w.draws(units[0].Package) {
		arguments = append(arguments, "-rapid.nofailfile") // it would be a file in the work tree
	}
	command := exec.CommandContext(ctx, w.binary(units[0].Package), arguments...)
	command.Dir, command.Stdout, command.Stderr = filepath.Join(w.root, units[0].Package), &out, &out
	// Programs that tests build have the mutants as well.
	command.Env = append(os.Environ(), append(environment, "GOFLAGS=-overlay="+w.overlay())...)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	command.WaitDelay = time.Second
	begun := time.Now()
	err := command.Run()
	r := run{passed: err == nil, hung: ctx.Err() != nil, output: out.String(), seconds: time.Since(begun).Seconds()}
	if command.ProcessState != nil {
		r.cpu = command.ProcessState.UserTime() + command.ProcessState.SystemTime()
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !r.hung && !errors.Is(err, exec.ErrWaitDelay) {
		return r, fmt.Errorf("run the tests of %s: %w", units[0].Package, err)
	}
	if command.Process != nil { // else the whole was interrupted before it began
		_ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL) // what a failed test may have left
	}
	return r, nil
}

// draws reports whether tests of a package draw what they do by package rapid.
func (w *workshop) draws(pkg string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if known, ok := w.drawing[pkg]; ok {
		return known
	}
	help, _ := exec.Command(w.binary(pkg), "-h").CombinedOutput() //nolint:noctx // it ends at once, as a failure
	if w.drawing == nil {
		w.drawing = map[string]bool{}
	}
	w.drawing[pkg] = bytes.Contains(help, []byte("rapid.nofailfile"))
	return w.drawing[pkg]
}

// tests lists the tests of a package.
func (w *workshop) tests(ctx context.Context, pkg string) ([]unit, error) {
	command := exec.CommandContext(ctx, w.binary(pkg), "-test.list=^Test")
	command.Dir = filepath.Join(w.root, pkg)
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("list the tests of %s: %w", pkg, err)
	}
	var units []unit
	for line := range strings.Lines(string(out)) {
		if name := strings.TrimSpace(line); strings.HasPrefix(name, "Test") {
			units = append(units, unit{Package: pkg, Test: name})
		}
	}
	return units, nil
}

var partLine = regexp.MustCompile(`(?m)^    --- (?:PASS|FAIL): (\w+)/([^/\n]+) \([\d.]+s\)$`)

// parts lists the parts of a test that has run.
func (u unit) parts(output string) []unit {
	var parts []unit
	for _, match := range partLine.FindAllStringSubmatch(output, -1) {
		if match[1] == u.Test {
			parts = append(parts, unit{Package: u.Package, Test: u.Test, Part: match[2]})
		}
	}
	return slices.Compact(parts)
}

var failLine = regexp.MustCompile(`(?m)^ *--- FAIL: (\S+)`)

// failed is the innermost test that failed, as far as it is known.
func (r *run) failed() string {
	name := ""
	for _, match := range failLine.FindAllStringSubmatch(r.output, -1) {
		if strings.Count(match[1], "/") >= strings.Count(name, "/") {
			name = match[1]
		}
	}
	return name
}
