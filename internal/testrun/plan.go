package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// tierName identifies one of the two tiers.
type tierName string

const (
	first  tierName = "first"
	second tierName = "second"
)

// plan contains the caller's arguments.
type plan struct {
	root     string // directory of the main module
	tiers    []tierName
	flags    []string // flags of go test for every call
	packages []string // packages of the main module; nil for all
}

// whole reports whether the plan runs every test of its tiers.
func (p plan) whole() bool {
	return p.packages == nil && !slices.ContainsFunc(p.flags, func(flag string) bool {
		name, _, _ := strings.Cut(strings.TrimLeft(flag, "-"), "=")
		return slices.Contains([]string{"run", "skip", "list", "bench"}, name)
	})
}

// verbose reports whether the flags request the output of passing tests.
func (p plan) verbose() bool {
	return slices.ContainsFunc(p.flags, func(flag string) bool {
		name, value, _ := strings.Cut(strings.TrimLeft(flag, "-"), "=")
		return strings.HasPrefix(flag, "-") && slices.Contains([]string{"v", "test.v", "bench", "list"}, name) && value != "false"
	})
}

// step is a part of a tier. Its calls run in parallel.
type step struct {
	name   string
	calls  []call
	checks []check
}

// call is one call of go test.
type call struct {
	dir      string   // directory of the module below the root
	packages []string // patterns or import paths
	flags    []string
	env      []string
	tests    []string // names of the tests to run; nil for all
	program  bool     // the tests run ./cmd/fairlead
}

// check is a command that must succeed and write nothing to standard output.
type check struct {
	dir     string
	command []string
}

const (
	atOnce  = 3     // packages tested in parallel; they spend much of their time waiting
	timeout = "30m" // a package that runs longer counts as hung
)

// slowest lists slow packages in the order in which go test starts them. A slow package
// that started last would run alone at the end.
var slowest = []string{"./postgres", "./mysql", "./cmd/fairlead", "./sim", "./sqlite", "./server", "./console", "./cdc", ".", "./worker", "./external"}

// modules lists the modules besides the main one with tests of the first tier. They are
// separate so that users of the library do not depend on grpc-go and the Chromium driver.
var modules = []string{"tests/grpc", "tests/browser"}

// always repeats tests that passed before. It is for modules whose tests run or read the
// main module, because go test does not detect changes of that module.
const always = "-count=1"

// firstSteps returns the steps that test every package with -short.
func (p plan) firstSteps() []step {
	short := []string{"-short", "-timeout", timeout}
	if p.packages != nil {
		return []step{{name: "first tier of " + strings.Join(p.packages, " "), calls: []call{{dir: ".", packages: p.packages, flags: append(short, "-p", fmt.Sprint(atOnce))}}}}
	}
	s := step{name: "first tier: unit tests, the store contract on every database, the service, the console, examples and docs"}
	s.calls = append(s.calls, call{dir: ".", packages: append(p.existing(slowest), "./..."), flags: append(slices.Clone(short), "-p", fmt.Sprint(atOnce))})
	for _, module := range p.existing(modules) {
		s.calls = append(s.calls, call{dir: module, packages: []string{"./..."}, flags: append(slices.Clone(short), always), program: true})
	}
	return []step{s}
}

// secondSteps returns the steps that test what the first tier omits. Without a record of
// the first tier, they test everything at full size.
func (p plan) secondSteps(long longTests) []step {
	full := []string{"-timeout", timeout}
	tests := step{name: "long tests, at full size"}
	switch {
	case p.packages != nil && long == nil:
		tests.calls = []call{{dir: ".", packages: p.packages, flags: append(full, "-p", fmt.Sprint(atOnce))}}
		return []step{tests}
	case long == nil:
		for _, module := range append([]string{"."}, p.existing(modules)...) {
			tests.calls = append(tests.calls, call{dir: module, packages: []string{"./..."}, flags: append(slices.Clone(full), "-p", fmt.Sprint(atOnce)), program: module != "."})
		}
	default:
		tests.calls = long.calls(full)
	}
	if p.packages != nil {
		return []step{tests}
	}
	return []step{tests, p.raceStep(), p.heavyStep(full), p.checkStep()}
}

// heavyStep returns the step for modules that take minutes to compile: the parser of
// MySQL's grammar, Helm and the types of Kubernetes.
func (p plan) heavyStep(flags []string) step {
	s := step{name: "MySQL's grammar and deploy/"}
	for _, module := range p.existing([]string{"tests/deploy", "tests/mysqlgrammar"}) {
		s.calls = append(s.calls, call{dir: module, packages: []string{"./..."}, flags: append(slices.Clone(flags), always), program: module == "tests/deploy"})
	}
	return s
}

// Packages tested with the race detector. Packages without goroutines or state are omitted,
// as are model-based tests: they are slow, and the detector sees few of their steps. For
// stores, only tests with interacting goroutines run.
var (
	racePackages = []string{"./engine/...", "./internal/cli", "./sim/faulty/...", "./internal/..."}
	raceStores   = []string{"./mysql", "./postgres"}
)

const (
	raceless   = "/internal/cron"
	raceChosen = `^Test(Store|Caller.*|ACaller.*|Process.*)$/^(Contention|Races|Listen|Reap|Keys|Gates)$`
)

// raceStep returns the step that runs tests with the race detector. The detector does not
// instrument SQLite, because that code, translated from C, took two thirds of the engine's
// test time and its races are not ours. By default, a program waits a second at exit for
// remaining goroutines; the tests leave none.
func (p plan) raceStep() step {
	flags := []string{"-race", "-short", "-gcflags=modernc.org/...=-race=false -d=checkptr=0", "-timeout", timeout}
	env := []string{"CGO_ENABLED=1", "GORACE=atexit_sleep_ms=100"}
	s := step{name: "the race detector, for which everything is compiled again"}
	if packages := p.existing(racePackages); len(packages) > 0 {
		s.calls = append(s.calls, call{dir: ".", packages: packages, flags: append(slices.Clone(flags), "-p", fmt.Sprint(atOnce)), env: env})
	}
	if stores := p.existing(raceStores); len(stores) > 0 {
		s.calls = append(s.calls, call{dir: ".", packages: stores, flags: append(slices.Clone(flags), "-run", raceChosen), env: env})
	}
	return s
}

// checkStep returns the step with static checks in all modules.
func (p plan) checkStep() step {
	s := step{name: "go vet and gofmt", checks: []check{{".", []string{"gofmt", "-l", "."}}}}
	for _, dir := range p.existing([]string{".", "tests/grpc", "tests/browser", "tests/mysqlgrammar", "tests/deploy", "bench", "bench/riversqlite"}) {
		s.checks = append(s.checks, check{dir, []string{"go", "vet", "./..."}})
	}
	return s
}

// existing returns the directories or package patterns that exist in the module.
func (p plan) existing(dirs []string) []string {
	return slices.DeleteFunc(slices.Clone(dirs), func(dir string) bool {
		_, err := os.Stat(filepath.Join(p.root, strings.TrimSuffix(dir, "/...")))
		return err != nil
	})
}

// list returns the import paths of the packages in a call. If they cannot be listed, it
// returns none, and go test reports the reason.
func (c call) list(ctx context.Context, root string) []string {
	command := exec.CommandContext(ctx, "go", append([]string{"list", "-e", "--"}, c.packages...)...)
	command.Dir = filepath.Join(root, c.dir)
	output, err := command.Output()
	if err != nil {
		return nil
	}
	paths := slices.DeleteFunc(strings.Fields(string(output)), func(path string) bool {
		return slices.Contains(c.flags, "-race") && strings.HasSuffix(path, raceless)
	})
	slices.Sort(paths)
	return slices.Compact(paths)
}

// moduleRoot returns the directory of the main module.
func moduleRoot(ctx context.Context) (string, error) {
	output, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("go env: %w", err)
	}
	file := strings.TrimSpace(string(output))
	if file == "" || file == os.DevNull {
		return "", errors.New("run this command in a Go module")
	}
	return filepath.Dir(file), nil
}
