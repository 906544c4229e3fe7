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

// tierName names one of the two tiers.
type tierName string

const (
	first  tierName = "first"
	second tierName = "second"
)

// plan holds the caller's arguments.
type plan struct {
	root     string // directory of the main module
	tiers    []tierName
	flags    []string // of go test, for every call
	packages []string // of the main module; nil: everything
}

// whole reports whether the plan runs every test of its tiers.
func (p plan) whole() bool {
	return p.packages == nil && !slices.ContainsFunc(p.flags, func(flag string) bool {
		name, _, _ := strings.Cut(strings.TrimLeft(flag, "-"), "=")
		return slices.Contains([]string{"run", "skip", "list", "bench"}, name)
	})
}

// verbose reports whether the flags ask for the output of passing tests too.
func (p plan) verbose() bool {
	return slices.ContainsFunc(p.flags, func(flag string) bool {
		name, value, _ := strings.Cut(strings.TrimLeft(flag, "-"), "=")
		return strings.HasPrefix(flag, "-") && slices.Contains([]string{"v", "test.v", "bench", "list"}, name) && value != "false"
	})
}

// step is a part of a tier. Its calls run next to each other.
type step struct {
	name   string
	calls  []call
	checks []check
}

// call is one call of go test.
type call struct {
	dir      string   // the module, below the root
	packages []string // patterns or import paths
	flags    []string
	env      []string
	tests    []string // names to run; nil: all
	program  bool     // the tests run ./cmd/fairlead
}

// check is a command that must succeed and print nothing to standard output.
type check struct {
	dir     string
	command []string
}

const (
	atOnce  = 3     // packages that are tested at the same time; much of their time is waiting
	timeout = "30m" // after this time, a package counts as hung
)

// slowest lists packages in the order in which go test starts them: nothing would run next
// to a slow package that starts last.
var slowest = []string{"./postgres", "./mysql", "./cmd/fairlead", "./sim", "./sqlite", "./server", "./console", "./cdc", ".", "./worker", "./external"}

// modules hold tests of the first tier, besides the main module: grpc-go and the driver of
// Chromium are dependencies that no user of the library should have.
var modules = []string{"tests/grpc", "tests/browser"}

// always runs tests again that passed before. It is for modules whose tests run or read the
// main module: go test does not notice that this has changed.
const always = "-count=1"

// firstSteps tests every package with -short.
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

// secondSteps tests what the first tier leaves out. Without a record of the first tier, it
// tests everything at full size.
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

// heavyStep tests modules that take minutes to compile: the parser of MySQL's grammar, Helm
// and the types of Kubernetes.
func (p plan) heavyStep(flags []string) step {
	s := step{name: "MySQL's grammar and deploy/"}
	for _, module := range p.existing([]string{"tests/deploy", "tests/mysqlgrammar"}) {
		s.calls = append(s.calls, call{dir: module, packages: []string{"./..."}, flags: append(slices.Clone(flags), always), program: module == "tests/deploy"})
	}
	return s
}

// Packages whose goroutines the race detector watches. Packages without goroutines or
// state are left out, and so are tests that draw models: they take their time, and the
// detector sees few steps of them. Of the stores, only the tests run that have goroutines
// meet.
var (
	racePackages = []string{"./engine/...", "./internal/cli", "./sim/faulty/...", "./internal/..."}
	raceStores   = []string{"./mysql", "./postgres"}
)

const (
	raceless   = "/internal/cron"
	raceChosen = `^Test(Store|Caller.*|ACaller.*|Process.*)$/^(Contention|Races|Listen|Reap|Keys|Gates)$`
)

// raceStep runs tests with the race detector. It does not watch SQLite itself: translated
// from C, it took two thirds of the time of the engine's tests, and its races are not ours.
// By default a program stays for another second, for goroutines that are left to meet;
// tests leave none.
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

// checkStep checks what no test does, in all modules.
func (p plan) checkStep() step {
	s := step{name: "go vet and gofmt", checks: []check{{".", []string{"gofmt", "-l", "."}}}}
	for _, dir := range p.existing([]string{".", "tests/grpc", "tests/browser", "tests/mysqlgrammar", "tests/deploy", "bench", "bench/riversqlite"}) {
		s.checks = append(s.checks, check{dir, []string{"go", "vet", "./..."}})
	}
	return s
}

// existing returns those of the directories, or patterns of packages, that the module has.
func (p plan) existing(dirs []string) []string {
	return slices.DeleteFunc(slices.Clone(dirs), func(dir string) bool {
		_, err := os.Stat(filepath.Join(p.root, strings.TrimSuffix(dir, "/...")))
		return err != nil
	})
}

// list returns the import paths of the packages of a call. It returns none if they cannot
// be listed: go test then reports why.
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
