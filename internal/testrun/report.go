package main

import (
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"
)

// report converts events of go test to readable lines. It belongs to one goroutine.
type report struct {
	out     io.Writer
	now     func() time.Time
	begun   time.Time
	total   int    // packages in the step; 0 if unknown
	root    string // common prefix of all package paths
	verbose bool
	home    string // parent directory for the output of failures

	running  map[string]*packageRun
	builds   map[string]string // compiler output
	done     int
	passed   int // passed tests
	skipped  map[string]int
	long     longTests
	failures []*failure
	results  map[string]map[string]string // results of long tests by package and name
}

func newReport(out io.Writer, now func() time.Time, home string) *report {
	return &report{out: out, now: now, begun: now(), home: home, running: map[string]*packageRun{}, builds: map[string]string{}, skipped: map[string]int{}, long: longTests{}, results: map[string]map[string]string{}}
}

// begin starts a step with the given packages.
func (r *report) begin(packages []string) {
	r.total, r.done, r.root = len(packages), 0, commonRoot(packages)
}

// line processes a line from a call of go test. It prints lines that are not events.
func (r *report) line(c call, text string) {
	e, ok := parse(text)
	switch {
	case !ok:
		fmt.Fprint(r.out, text)
	case e.Action == "build-output":
		r.builds[e.ImportPath] += e.Output
	case e.Package != "":
		r.event(c, e)
	}
}

func (r *report) event(c call, e event) {
	p := r.running[e.Package]
	if p == nil {
		p = newPackageRun(c, e.Package, r.now())
		r.running[e.Package] = p
	}
	if e.Test == "" && e.ends() {
		p.test("").written.WriteString(r.builds[e.FailedBuild])
		r.end(p, e.Action == "fail")
		return
	}
	if shown := p.note(e); r.verbose {
		fmt.Fprint(r.out, shown)
	}
}

// end prints the result line of a package, after its failures.
func (r *report) end(p *packageRun, failed bool) {
	delete(r.running, p.path)
	r.done++
	r.passed += p.ended["pass"]
	for why, n := range p.skipped {
		r.skipped[why] += n
	}
	for name, t := range p.tests {
		if t.long {
			r.long.add(p.call.dir, p.path, name)
			if r.results[p.path] == nil {
				r.results[p.path] = map[string]string{}
			}
			r.results[p.path][name] = t.action
		}
	}
	if failed {
		for _, f := range p.failures() {
			r.fail(f)
		}
	}
	closing := p.closing
	if closing == "" { // go test always prints one
		closing = map[bool]string{false: "ok  \t", true: "FAIL\t"}[failed] + p.path
	}
	fmt.Fprintf(r.out, "%s\t[%s]\n", closing, r.progress())
}

// fail records and prints a failure and saves its output in a file.
func (r *report) fail(f *failure) {
	r.failures = append(r.failures, f)
	if err := f.save(r.home); err != nil {
		fmt.Fprintln(r.out, "testrun: the output of a failure is not kept:", err)
	}
	f.print(r.out)
}

// print prints a failure and how to reproduce it.
func (f *failure) print(out io.Writer) {
	fmt.Fprintf(out, "--- FAIL: %v\n", f)
	for _, line := range f.excerpt() {
		fmt.Fprintln(out, "    "+line)
	}
	for _, seed := range slices.Concat(f.seeds, f.flags) {
		fmt.Fprintln(out, "    seed:      "+seed)
	}
	fmt.Fprintln(out, "    output:    "+f.log)
	fmt.Fprintln(out, "    reproduce: "+f.command())
}

// abandon records the packages of a call that did not end because go test was killed.
func (r *report) abandon(c call) {
	for name, p := range r.running {
		if p.call.dir == c.dir && slices.Equal(p.call.packages, c.packages) && slices.Equal(p.call.flags, c.flags) {
			delete(r.running, name)
			fmt.Fprintf(r.out, "%s did not end\n", name)
			for _, f := range p.failures() {
				r.fail(f)
			}
		}
	}
}

// remind lists the packages that are still running.
func (r *report) remind() {
	if len(r.running) == 0 {
		fmt.Fprintf(r.out, "[%s] compiling\n", r.progress())
		return
	}
	var still []string
	for name, p := range r.running {
		text := fmt.Sprintf("%s for %v", r.short(name), r.now().Sub(p.begun).Round(time.Second))
		if p.current != "" {
			text += " (" + p.current + ")"
		}
		still = append(still, text)
	}
	slices.Sort(still)
	fmt.Fprintf(r.out, "[%s] running: %s\n", r.progress(), strings.Join(still, ", "))
}

// progress returns the number of finished packages in the step and the elapsed time.
func (r *report) progress() string {
	after := r.now().Sub(r.begun).Round(time.Second)
	if r.total == 0 {
		return fmt.Sprintf("%d, %v", r.done, after)
	}
	return fmt.Sprintf("%d/%d, %v", r.done, r.total, after)
}

// short returns the name of a package below the common root.
func (r *report) short(name string) string {
	if below, ok := strings.CutPrefix(name, r.root+"/"); ok {
		return below
	}
	return path.Base(name)
}

// commonRoot returns the longest path that contains all paths.
func commonRoot(paths []string) string {
	if len(paths) == 0 {
		return ""
	}
	root := paths[0]
	for _, p := range paths[1:] {
		for root != "." && root != p && !strings.HasPrefix(p, root+"/") {
			root = path.Dir(root)
		}
	}
	return root
}
