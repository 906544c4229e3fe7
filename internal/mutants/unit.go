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

	"github.com/fairlead-io/fairlead/internal/tier"
)

// unit is a test that runs separately, or a part of a test with many parts.
type unit struct {
	Package string
	Test    string
	Part    string // path below the test, or empty for the whole test
	Long    bool   `json:",omitempty"` // in the second tier, at full size
}

func (u unit) String() string { return u.Package + " " + u.path() }

// pattern returns the pattern that selects units of one package.
func pattern(units []unit) string {
	var choices []string
	for _, u := range units {
		names := []string{u.Test}
		if u.Part != "" {
			names = append(names, strings.Split(u.Part, "/")...)
		}
		for i, name := range names {
			names[i] = "^" + regexp.QuoteMeta(name) + "$"
		}
		choices = append(choices, strings.Join(names, "/"))
	}
	return strings.Join(choices, "|")
}

// run is the result of a run of tests.
type run struct {
	passed  bool
	hung    bool
	output  string
	seconds float64
	cpu     time.Duration
}

// play runs units of one package with additional environment variables.
func (w *workshop) play(ctx context.Context, units []unit, limit time.Duration, environment ...string) (run, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var out bytes.Buffer
	arguments := []string{"-test.run=" + pattern(units), "-test.v", "-test.failfast", "-test.timeout=0"}
	if !units[0].Long {
		arguments = append(arguments, "-test.short")
	}
	if w.draws(units[0].Package) {
		arguments = append(arguments, "-rapid.nofailfile") // prevents files in the work tree
	}
	command := exec.CommandContext(ctx, w.binary(units[0].Package), arguments...)
	command.Dir, command.Stdout, command.Stderr = filepath.Join(w.root, units[0].Package), &out, &out
	// Programs built by tests also contain the mutants.
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
	if command.Process != nil { // otherwise it was interrupted before the start
		_ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL) // processes left by a failed test
	}
	return r, nil
}

// draws reports whether tests of a package are randomized by package rapid.
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

// tests returns the tests of a package.
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

// parts returns the parts of a test that has run.
func (u unit) parts(output string) []unit {
	var parts []unit
	for _, match := range partLine.FindAllStringSubmatch(output, -1) {
		if match[1] == u.Test {
			parts = append(parts, unit{Package: u.Package, Test: u.Test, Part: match[2]})
		}
	}
	return slices.Compact(parts)
}

var longLine = regexp.MustCompile(`(?m)^=== ATTR  (\S+) ` + tier.LongAttr + ` `)

// longTests returns the tests that have run and do more in the second tier.
func (u unit) longTests(output string) []unit {
	var names []string
	for _, match := range longLine.FindAllStringSubmatch(output, -1) {
		names = append(names, match[1])
	}
	slices.Sort(names)
	var tests []unit
	for i, name := range slices.Compact(names) {
		if i > 0 && strings.HasPrefix(name, tests[len(tests)-1].path()+"/") {
			continue // part of the previous one
		}
		test, part, _ := strings.Cut(name, "/")
		tests = append(tests, unit{Package: u.Package, Test: test, Part: part, Long: true})
	}
	return tests
}

// path returns the name of the test, as go test prints it.
func (u unit) path() string {
	if u.Part == "" {
		return u.Test
	}
	return u.Test + "/" + u.Part
}

var failLine = regexp.MustCompile(`(?m)^ *--- FAIL: (\S+)`)

// failed returns the innermost test that failed, as far as known.
func (r *run) failed() string {
	name := ""
	for _, match := range failLine.FindAllStringSubmatch(r.output, -1) {
		if strings.Count(match[1], "/") >= strings.Count(name, "/") {
			name = match[1]
		}
	}
	return name
}
