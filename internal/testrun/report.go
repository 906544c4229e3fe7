package main

import (
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"
)

// report turns the events of go test into lines for people. It belongs to one
// goroutine.
type report struct {
	out     io.Writer
	now     func() time.Time
	begun   time.Time
	total   int    // packages; zero if that is unknown
	root    string // what the paths of all packages begin with
	verbose bool

	running map[string]*packageRun
	ended   int
	failed  []string
}

// newReport begins a report on packages, which are named by their import paths.
func newReport(out io.Writer, packages []string, now func() time.Time) *report {
	return &report{out: out, now: now, begun: now(), total: len(packages), root: commonRoot(packages), running: map[string]*packageRun{}}
}

// line takes a line of go test. One that is no event is printed as it is.
func (r *report) line(text string) {
	e, ok := parse(text)
	switch {
	case !ok:
		fmt.Fprint(r.out, text)
	case e.Action == "build-output":
		fmt.Fprint(r.out, e.Output)
	case e.Package != "":
		r.event(e)
	}
}

func (r *report) event(e event) {
	p := r.running[e.Package]
	if p == nil {
		p = &packageRun{begun: r.now(), written: map[string]*strings.Builder{}}
		r.running[e.Package] = p
	}
	ends := slices.Contains([]string{"pass", "fail", "skip"}, e.Action)
	switch {
	case e.Action == "output":
		p.write(e, r.verbose)
		if r.verbose && r.total == 1 { // there is no other to mix it up with
			p.print(r.out)
		}
	case e.Test == "" && ends:
		r.end(e.Package, p, e.Action == "fail")
	case ends:
		if e.Test == p.test {
			p.test = ""
		}
		if e.Action != "fail" && !r.verbose {
			p.forget(e.Test)
		}
	case e.Action == "run", e.Action == "cont":
		p.test = e.Test
	}
}

// end prints what is to be known of a package that has ended, and its closing line.
func (r *report) end(name string, p *packageRun, failed bool) {
	delete(r.running, name)
	r.ended++
	if failed {
		r.failed = append(r.failed, r.short(name))
	}
	if failed || r.verbose {
		p.print(r.out)
	}
	closing := strings.TrimRight(p.closing, "\n")
	if closing == "" { // go test always has one
		closing = map[bool]string{false: "ok  \t", true: "FAIL\t"}[failed] + name
	}
	fmt.Fprintf(r.out, "%s\t[%s]\n", closing, r.progress())
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
		if p.test != "" {
			text += " (" + p.test + ")"
		}
		still = append(still, text)
	}
	slices.Sort(still)
	fmt.Fprintf(r.out, "[%s] running: %s\n", r.progress(), strings.Join(still, ", "))
}

// close prints the end of the report and reports whether all is well.
func (r *report) close() bool {
	for name, p := range r.running { // go test was ended
		fmt.Fprintf(r.out, "%s did not end\n", name)
		p.print(r.out)
	}
	summary := "all ok"
	ok := len(r.failed) == 0 && len(r.running) == 0
	switch {
	case len(r.failed) > 0:
		summary = fmt.Sprintf("%d failed: %s", len(r.failed), strings.Join(r.failed, " "))
	case !ok || r.ended < r.total:
		summary = "not all ended"
	}
	fmt.Fprintf(r.out, "[%s] %s\n", r.progress(), summary)
	if !ok {
		fmt.Fprintln(r.out, "FAIL")
	}
	return ok
}

// progress is how many packages have ended, and after how long.
func (r *report) progress() string {
	after := r.now().Sub(r.begun).Round(time.Second)
	if r.total == 0 {
		return fmt.Sprintf("%d, %v", r.ended, after)
	}
	return fmt.Sprintf("%d/%d, %v", r.ended, r.total, after)
}

// short is the name of a package below what all have in common.
func (r *report) short(name string) string {
	if below, ok := strings.CutPrefix(name, r.root+"/"); ok {
		return below
	}
	return path.Base(name)
}

// commonRoot is the longest path that all paths are or lie below.
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
