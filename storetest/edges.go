package storetest

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"
)

// edges contains the answers to edge calls, one per line: the name, the answer and the
// error. N stands for numbers of jobs and other objects.
//
//go:embed testdata/edges.txt
var edges string

var numbered = regexp.MustCompile(`\b(job|node|schedule|batch|sweep) -?\d+`)

// dated matches the time of a last heartbeat, because each store has its own clock.
var dated = regexp.MustCompile(`last heard of [0-9TZ:-]+`)

// line formats the answer to a call as in edges.
func (c *edgeCall) line(f *fixture) string {
	answer, err := c.make(f)
	text := dated.ReplaceAllString(fmt.Sprintf("%v | %v", answer, err), "last heard of T")
	return c.name + ": " + numbered.ReplaceAllString(text, "$1 N")
}

func testEdges(c *chapter) {
	want := map[string]bool{}
	for line := range strings.Lines(edges) {
		want[strings.TrimSuffix(line, "\n")] = true
	}
	for _, part := range []struct {
		sentence string
		calls    func(*fixture) []edgeCall
	}{
		{"what is asked of jobs at the edge is answered by all stores in the same words", (*fixture).jobEdges},
		{"so is what is asked of all that is declared", (*fixture).declaredEdges},
	} {
		c.test(part.sentence, func(f *fixture) {
			for _, call := range part.calls(f) {
				if line := call.line(f); !want[line] {
					f.Errorf("it is not among testdata/edges.txt:\n%s", line)
				}
				if f.empty() != nil { // the store has too many lanes by now
					*f = *c.shelf.take().within(f.outer)
				}
			}
		})
	}
}
