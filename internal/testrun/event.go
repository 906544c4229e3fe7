package main

import (
	"encoding/json"
	"slices"
	"strings"
)

// event is a line of the output of go test -json; see "go doc test2json" and "go help
// buildjson".
type event struct {
	Action  string
	Package string
	Test    string
	Output  string
	Elapsed float64
	Key     string // of an attribute
	Value   string

	ImportPath  string // package being built
	FailedBuild string // ImportPath of the build that made a package fail
}

// parse decodes a line as an event, if it is one.
func parse(line string) (event, bool) {
	var e event
	err := json.Unmarshal([]byte(line), &e)
	return e, err == nil && e.Action != ""
}

// ends reports whether the event is the end of a test or of a package.
func (e event) ends() bool { return slices.Contains([]string{"pass", "fail", "skip"}, e.Action) }

// isClosing reports whether a line is go test's result line of a package.
func isClosing(line string) bool { return hasAnyPrefix(line, "ok  \t", "FAIL\t", "?   \t") }

// isAnnouncement reports whether go test wrote a line, rather than the test.
func isAnnouncement(line string) bool {
	return hasAnyPrefix(line, "=== RUN ", "=== PAUSE ", "=== CONT ", "=== NAME ", "=== ATTR ")
}

// isVerdict reports whether a line says how a test ended.
func isVerdict(line string) bool {
	return hasAnyPrefix(strings.TrimLeft(line, " "), "--- PASS: ", "--- FAIL: ", "--- SKIP: ")
}

func hasAnyPrefix(line string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(line, prefix) })
}
