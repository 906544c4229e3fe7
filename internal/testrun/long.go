package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// longTests contains the tests with the attribute "long", by module directory and import
// path.
type longTests map[string]map[string][]string

// add adds a test.
func (l longTests) add(dir, pkg, test string) {
	if l[dir] == nil {
		l[dir] = map[string][]string{}
	}
	l[dir][pkg] = append(l[dir][pkg], test)
}

// calls returns one call of go test for each package with long tests, the slowest packages
// first.
func (l longTests) calls(flags []string) []call {
	var calls []call
	for _, dir := range slices.Sorted(maps.Keys(l)) {
		for _, pkg := range slices.Sorted(maps.Keys(l[dir])) {
			c := call{dir: dir, packages: []string{pkg}, flags: flags, tests: topmost(l[dir][pkg])}
			if dir != "." {
				c.flags, c.program = append(slices.Clone(flags), always), true
			}
			calls = append(calls, c)
		}
	}
	slices.SortStableFunc(calls, func(a, b call) int { return a.rank() - b.rank() })
	return calls
}

// rank returns the position of a call's package among the slowest.
func (c call) rank() int {
	for i, slow := range slowest {
		if c.dir == "." && strings.HasSuffix(c.packages[0], strings.TrimPrefix(slow, ".")) {
			return i
		}
	}
	return len(slowest)
}

// of returns the long tests in packages of the main module.
func (l longTests) of(paths []string) longTests {
	chosen := longTests{}
	for _, path := range paths {
		for _, test := range l["."][path] {
			chosen.add(".", path, test)
		}
	}
	return chosen
}

// topmost returns the tests that are not subtests of others in the list.
func topmost(tests []string) []string {
	sorted := slices.Compact(slices.Sorted(slices.Values(tests)))
	return slices.DeleteFunc(slices.Clone(sorted), func(test string) bool {
		return slices.ContainsFunc(sorted, func(other string) bool { return strings.HasPrefix(test, other+"/") })
	})
}

// pattern returns the -run argument that selects tests by their full names.
func pattern(tests []string) string {
	var choices []string
	for _, test := range tests {
		parts := strings.Split(test, "/")
		for i, part := range parts {
			parts[i] = "^" + regexp.QuoteMeta(part) + "$"
		}
		choices = append(choices, strings.Join(parts, "/"))
	}
	return strings.Join(choices, "|")
}

// readLong reads the long tests recorded by the first tier. If there is no record, it
// returns nil.
func readLong(file string) (longTests, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var l longTests
	return l, json.Unmarshal(text, &l)
}

func (l longTests) write(file string) error {
	text, err := json.MarshalIndent(l, "", "\t")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o600)
}
