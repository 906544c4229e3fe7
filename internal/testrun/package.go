package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// packageRun is a package under test.
type packageRun struct {
	begun   time.Time
	test    string                      // that began last, while it runs
	order   []string                    // tests, as they began to write
	written map[string]*strings.Builder // by test; "" for what belongs to none
	closing string                      // its line in the output of go test
}

// write keeps what a test has written. Announcements such as "=== RUN" tell something
// only where everything is shown.
func (p *packageRun) write(e event, all bool) {
	if e.Test == "" && isClosing(e.Output) {
		p.closing = e.Output
		return
	}
	if !all && isAnnouncement(e.Output) {
		return
	}
	written := p.written[e.Test]
	if written == nil {
		written = &strings.Builder{}
		p.written[e.Test] = written
		p.order = append(p.order, e.Test)
	}
	written.WriteString(e.Output)
}

// forget drops what a test has written that did not fail.
func (p *packageRun) forget(test string) { delete(p.written, test) }

// print shows what is kept, test by test.
func (p *packageRun) print(out io.Writer) {
	for _, test := range p.order {
		if written := p.written[test]; written != nil {
			fmt.Fprint(out, written)
		}
	}
	p.order = nil
	clear(p.written)
}

// isClosing reports whether a line is the one that go test prints for a package.
func isClosing(line string) bool {
	for _, begin := range []string{"ok  \t", "FAIL\t", "?   \t"} {
		if strings.HasPrefix(line, begin) {
			return true
		}
	}
	return false
}

func isAnnouncement(line string) bool {
	for _, begin := range []string{"=== RUN ", "=== PAUSE ", "=== CONT ", "=== NAME "} {
		if strings.HasPrefix(line, begin) {
			return true
		}
	}
	return false
}
