package main

import (
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"
)

// report turns the events of go test into lines for people. It belongs to one goroutine.
type report struct {
	out     io.Writer
	now     func() time.Time
	begun   time.Time
	total   int    // packages of the step; zero if that is unknown
	root    string // what the paths of all packages begin with
	verbose bool
	home    string // directory below which the output of failures is kept

	running  map[string]*packageRun
	builds   map[string]string // output of the compiler
	done     int
	passed   int // tests
	skipped  map[string]int
	long     longTests
	failures []*failure
	results  map[string]map[string]string // how tests ended, by package and name; of long tests alone
}

func newReport(out io.Writer, now func() time.Time, home string) *report {
	return &report{out: out, now: now, begun: now(), home: home, running: map[string]*packageRun{}, builds: map[string]string{}, skipped: map[string]int{}, long: longTests{}, results: map[string]map[string]string{}}
}

// begin starts a step with so many packages.
func (r *report) begin(packages []string) {
	r.total, r.done, r.root = len(packages), 0, commonRoot(packages)
}

// line takes a line of a call of go test. It prints one that is no event as it is.
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

// end prints the line of a package that has ended, after the lines of its failures.
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
	if closing == "" { // go test always has one
		closing = map[bool]string{false: "ok  \t", true: "FAIL\t"}[failed] + p.path
	}
	fmt.Fprintf(r.out, "%s\t[%s]\n", closing, r.progress())
}

// fail notes a failure, shows it and keeps its output in a file.
func (r *report) fail(f *failure) {
	r.failures = append(r.failures, f)
	if err := f.save(r.home); err != nil {
		fmt.Fprintln(r.out, "testrun: the output of a failure is not kept:", err)
	}
	f.print(r.out)
}

// print shows a failure and how to repeat it.
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

// abandon notes the packages of a call that did not end, because go test was ended.
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

// remind names what still runs.
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

// progress says how many packages of the step have ended, and after how long.
func (r *report) progress() string {
	after := r.now().Sub(r.begun).Round(time.Second)
	if r.total == 0 {
		return fmt.Sprintf("%d, %v", r.done, after)
	}
	return fmt.Sprintf("%d/%d, %v", r.done, r.total, after)
}

// short returns the name of a package below what all have in common.
func (r *report) short(name string) string {
	if below, ok := strings.CutPrefix(name, r.root+"/"); ok {
		return below
	}
	return path.Base(name)
}

// commonRoot returns the longest path that all paths are or lie below.
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
