package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
)

// A method tries to find a planted bug. It returns its first finding, or an empty text.
type method struct {
	name string
	try  func(ctx context.Context, b *bug, p *program, tests string) (string, error)
	in   func(b *bug) string // package whose tests it runs; nil = it runs this program
}

// methods returns the methods that look for planted bugs.
func methods() []method {
	return []method{
		{name: "pairs", try: tryPairs},
		{name: "contract", try: tryContract, in: func(b *bug) string { return b.Database }},
		{name: "simulation", try: trySimulation, in: func(*bug) string { return "sim" }},
	}
}

// tries reports whether a method is tried on a bug: the simulation uses SQLite.
func (m method) tries(b *bug) bool { return m.name != "simulation" || b.Database == "sqlite" }

// A trial is the result of a method for a bug.
type trial struct {
	Bug    string `json:"bug"`
	State  string `json:"state"` // identifies the bug and the file in which it is planted
	Method string `json:"method"`
	Found  string `json:"found"` // the first finding; empty if there was none
}

// plantedDir has the programs with bugs and the results. Because of the dot, no tool takes it for
// a part of the module.
const plantedDir = "bin/prove/.planted"

// plant tries methods on the bugs whose name contains a text. Trials that were made before are
// not made again. It returns an error if a bug remains unnoticed by all methods, and otherwise
// writes the table if it has tried all bugs.
func plant(ctx context.Context, match string, names []string, tests string) error {
	trials, err := readTrials()
	if err != nil {
		return err
	}
	var errs []error
	for _, b := range bugs() {
		if !strings.Contains(b.title(), match) {
			continue
		}
		state, err := b.state()
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, m := range methods() {
			if _, tried := trials.of(&b, state, m.name); tried || !slices.Contains(names, m.name) || !m.tries(&b) {
				continue
			}
			found, err := b.tryWith(ctx, plantedDir, m, tests)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if errors.Is(err, errNotTried) {
				continue
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: %s: %w", b.title(), m.name, err))
				continue
			}
			fmt.Printf("%s: %s: %s\n", b.title(), m.name, orElse(found, "not found"))
			if err := trials.add(trial{b.title(), state, m.name, found}); err != nil {
				return err
			}
		}
		if !trials.caught(&b, state) {
			errs = append(errs, fmt.Errorf("%s: no method has found it", b.title()))
		}
	}
	if match == "" {
		errs = append(errs, writePlanted(trials))
	}
	return errors.Join(errs...)
}

// title names a bug together with its database, because several stores have some of them.
func (b *bug) title() string { return titles[b.Database] + ": " + b.Name }

// state identifies a bug and the file in which it is planted.
func (b *bug) state() (string, error) {
	content, err := os.ReadFile(b.File)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(b.Was+"\x00"+b.Is+"\x00"+strings.Join(b.Pairs, "\x00")+"\x00"+string(content))))[:16], nil
}

// tryWith plants a bug and tries a method. The directory holds the programs with bugs.
func (b *bug) tryWith(ctx context.Context, dir string, m method, tests string) (string, error) {
	in := ""
	if m.in != nil {
		in = m.in(b)
	}
	p, err := b.build(ctx, dir, in)
	if err != nil {
		return "", err
	}
	return m.try(ctx, b, p, tests)
}

// planted returns the content of the file with the bug.
func (b *bug) planted() (string, error) {
	content, err := os.ReadFile(b.File)
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(content), b.Was); n != 1 {
		return "", fmt.Errorf("%s has the text to replace %d times, want once: adapt the catalogue", b.File, n)
	}
	return strings.Replace(string(content), b.Was, b.Is, 1), nil
}

// errNotTried means that a method is not tried on a bug.
var errNotTried = errors.New("not tried")

// tryPairs plays the pairs that may find a bug until one does.
func tryPairs(ctx context.Context, b *bug, p *program, _ string) (string, error) {
	for _, pairs := range b.Pairs {
		output, stderr, err := p.run(ctx, "-database", b.Database, "-match", pairs, "-first")
		var exit *exec.ExitError
		switch {
		case err == nil:
			continue
		case !errors.As(err, &exit):
			return "", err
		}
		for line := range strings.Lines(output) {
			if text, finding := strings.CutPrefix(line, findingPrefix); finding {
				return strings.TrimSpace(text), nil
			}
		}
		return "", fmt.Errorf("%w: %s", err, stderr)
	}
	return "", nil
}

// failedTest matches the tests that have failed, the innermost first.
var failedTest = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

// tryContract runs the tests of the store: the contract tests, and those of the store alone. A
// test that fails once and then passes may have failed because the machine is busy: it is left
// out, and the others run again.
func tryContract(ctx context.Context, _ *bug, p *program, tests string) (string, error) {
	var skipped []string
	for {
		failed, err := p.firstFailure(ctx, "-test.run="+tests, "-test.skip="+strings.Join(skipped, "|"))
		switch {
		case err != nil:
			return "", err
		case failed == "" && tests != "":
			return "", errNotTried // the other tests may find it
		case failed == "":
			return "", nil
		}
		again, err := p.firstFailure(ctx, "-test.run="+exactly(failed))
		if again != "" || err != nil {
			return failed, err
		}
		skipped = append(skipped, exactly(failed))
	}
}

// firstFailure runs some tests until one fails, and returns its name.
func (p *program) firstFailure(ctx context.Context, which ...string) (string, error) {
	output, _, err := p.run(ctx, append([]string{"-test.short", "-test.failfast", "-test.timeout=20m"}, which...)...)
	var exit *exec.ExitError
	switch {
	case err == nil:
		return "", nil
	case !errors.As(err, &exit):
		return "", err
	}
	failed := failedTest.FindAllStringSubmatch(output, -1)
	if len(failed) == 0 {
		return "", fmt.Errorf("%w: %s", err, output)
	}
	return slices.MaxFunc(failed, func(a, b []string) int { return strings.Count(a[1], "/") - strings.Count(b[1], "/") })[1], nil
}

// exactly returns the pattern that matches one test and no other.
func exactly(test string) string {
	parts := strings.Split(test, "/")
	for i := range parts {
		parts[i] = "^" + regexp.QuoteMeta(parts[i]) + "$"
	}
	return strings.Join(parts, "/")
}

// seeds is the number of seeds that may find a bug.
const seeds = 16

// trySimulation plays seeds until one fails.
func trySimulation(ctx context.Context, _ *bug, p *program, _ string) (string, error) {
	for seed := range seeds {
		failed, err := p.firstFailure(ctx, "-test.run=^TestSeeds$", fmt.Sprint("-seed=", seed+1))
		if err != nil || failed != "" {
			return failed, err
		}
	}
	return "", nil
}

// trials are the results by bug.
type trials struct {
	byBug map[string]map[string]trial
}

const trialsFile = plantedDir + "/trials.jsonl"

// readTrials reads earlier results.
func readTrials() (*trials, error) {
	t := &trials{byBug: map[string]map[string]trial{}}
	file, err := os.Open(trialsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return t, os.MkdirAll(plantedDir, 0o755)
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var one trial
		if json.Unmarshal(lines.Bytes(), &one) == nil { // the last line may have been cut off
			t.keep(one)
		}
	}
	return t, lines.Err()
}

func (t *trials) keep(one trial) {
	if t.byBug[one.Bug] == nil {
		t.byBug[one.Bug] = map[string]trial{}
	}
	t.byBug[one.Bug][one.Method] = one
}

// add stores a result.
func (t *trials) add(one trial) error {
	t.keep(one)
	line, err := json.Marshal(one)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(trialsFile, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(append(line, '\n'))
	return errors.Join(err, file.Close())
}

// of returns what a method has found, and whether it was tried on this state of the bug.
func (t *trials) of(b *bug, state, method string) (found string, tried bool) {
	one, tried := t.byBug[b.title()][method]
	return one.Found, tried && one.State == state
}

// caught reports whether a method has found a bug.
func (t *trials) caught(b *bug, state string) bool {
	return slices.ContainsFunc(methods(), func(m method) bool {
		found, _ := t.of(b, state, m.name)
		return found != ""
	})
}

// orElse returns a text, or another one if it is empty.
func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}
