package main

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead/internal/tier"
)

// packageRun is the run of a package's tests.
type packageRun struct {
	call    call
	path    string
	begun   time.Time
	current string              // the test that started last, while it runs
	tests   map[string]*testRun // by name; "" for output outside any test
	order   []string            // names in order of start
	ended   map[string]int      // number of ended tests by result
	closing string              // result line of the package in the output of go test
	skipped map[string]int      // number of skipped tests by reason
}

// testRun is a running or failed test.
type testRun struct {
	written strings.Builder
	seeds   []string
	long    bool
	action  string // result; empty while the test runs
}

func newPackageRun(c call, path string, now time.Time) *packageRun {
	return &packageRun{call: c, path: path, begun: now, tests: map[string]*testRun{}, ended: map[string]int{}, skipped: map[string]int{}}
}

func (p *packageRun) test(name string) *testRun {
	t := p.tests[name]
	if t == nil {
		t = &testRun{}
		p.tests[name], p.order = t, append(p.order, name)
	}
	return t
}

// note processes an event of a test. It returns the text to show immediately in verbose
// mode.
func (p *packageRun) note(e event) string {
	t := p.test(e.Test)
	switch {
	case e.Action == "output" && e.Test == "" && isClosing(e.Output):
		p.closing = strings.TrimRight(e.Output, "\n")
	case e.Action == "output":
		if !isAnnouncement(e.Output) {
			t.written.WriteString(e.Output)
		}
		return e.Output
	case e.Action == "attr" && e.Key == tier.LongAttr:
		t.long = true
	case e.Action == "attr" && e.Key == tier.SeedAttr:
		t.seeds = append(t.seeds, e.Value)
	case e.Action == "run" || e.Action == "cont":
		p.current = e.Test
	case e.ends() && e.Test != "":
		p.end(e, t)
	}
	return ""
}

func (p *packageRun) end(e event, t *testRun) {
	t.action = e.Action
	p.ended[e.Action]++
	if p.current == e.Test {
		p.current = ""
	}
	if e.Action == "skip" {
		p.skipped[reason(t.written.String())]++
	}
	if e.Action != "fail" {
		t.written.Reset()
	}
}

// place matches the file and line at the beginning of test output.
var place = regexp.MustCompile(`^\s*[\w.-]+\.go:\d+: `)

// reason returns the last line that a skipped test wrote.
func reason(written string) string {
	last := "no reason given"
	for line := range strings.Lines(written) {
		if line = strings.TrimSpace(line); line != "" && !isVerdict(line) {
			last = place.ReplaceAllString(line, "")
		}
	}
	return last
}

// failures returns the failures of a package: each failed test that wrote output of its own
// or has no failed subtest. If no test failed, the package itself is the failure, with the
// output of the unfinished tests.
func (p *packageRun) failures() []*failure {
	var found []*failure
	for _, name := range p.order {
		t := p.tests[name]
		if name == "" || t.action != "fail" || p.partFailed(name) && !wroteItself(t) {
			continue
		}
		found = append(found, p.failure(name, t.written.String()))
	}
	if len(found) > 0 {
		return found
	}
	var written strings.Builder
	unended := ""
	for _, name := range p.order {
		if t := p.tests[name]; name == "" || t.action == "" {
			written.WriteString(t.written.String())
			if name != "" && unended == "" {
				unended = name
			}
		}
	}
	f := p.failure(unended, written.String())
	f.died = true
	return []*failure{f}
}

func (p *packageRun) partFailed(name string) bool {
	return slices.ContainsFunc(p.order, func(other string) bool {
		return strings.HasPrefix(other, name+"/") && p.tests[other].action == "fail"
	})
}

func wroteItself(t *testRun) bool {
	for line := range strings.Lines(t.written.String()) {
		if !isVerdict(line) && strings.TrimSpace(line) != "" {
			return true
		}
	}
	return false
}

// rapidSeed matches the seed printed by a property test of package rapid.
var rapidSeed = regexp.MustCompile(`-rapid\.seed=(\d+)`)

// failure returns the failure of a test, or of the package if the name is empty. It
// includes the seeds of the test, its parents and its subtests.
func (p *packageRun) failure(name, output string) *failure {
	f := &failure{call: p.call, path: p.path, test: name, output: output}
	for _, other := range p.order {
		if other == name || name == "" || strings.HasPrefix(name, other+"/") || strings.HasPrefix(other, name+"/") {
			f.seeds = append(f.seeds, p.tests[other].seeds...)
		}
	}
	if match := rapidSeed.FindString(output); match != "" {
		f.flags = append(f.flags, match)
	}
	return f
}
