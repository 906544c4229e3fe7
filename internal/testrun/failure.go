package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// failure is a failed test, package or check.
type failure struct {
	call   call
	path   string   // import path; for a check, its command
	test   string   // empty for a package or check as a whole
	died   bool     // the test program ended during the test, so that later tests did not run
	output string   // output of the test itself
	seeds  []string // environment variables that repeat the random choices
	flags  []string // flags that repeat the random choices
	check  *check   // nil for a test
	log    string   // file with the complete output
}

func (f *failure) String() string {
	switch {
	case f.check != nil:
		return fmt.Sprintf("%s in %s", f.path, f.check.dir)
	case f.test == "":
		return f.path
	default:
		return f.path + " " + f.test
	}
}

// again returns the call that repeats only the failed test, with the same seed. If the test
// program died, the call also repeats the tests that would have followed.
func (f *failure) again() call {
	c := f.call
	c.packages = []string{f.path}
	c.flags = append(withoutSelection(c.flags), f.flags...)
	c.flags = append(c.flags, "-count=1")
	for _, seed := range f.seeds {
		if !slices.Contains(c.env, seed) {
			c.env = append(slices.Clone(c.env), seed)
		}
	}
	if f.test != "" && !f.died {
		c.tests = []string{f.test}
	} else if f.call.tests == nil {
		c.flags = append(c.flags, selection(f.call.flags)...)
	}
	return c
}

// withoutSelection removes flags that select tests or the number of parallel packages.
func withoutSelection(flags []string) []string {
	var kept []string
	for i := 0; i < len(flags); i++ {
		switch name, _, joined := strings.Cut(flags[i], "="); {
		case (name == "-p" || name == "-run") && !joined:
			i++ // its value
		case name == "-p", name == "-run", name == "-count":
		default:
			kept = append(kept, flags[i])
		}
	}
	return kept
}

// selection returns the flag that selects tests, if there is one.
func selection(flags []string) []string {
	if i := slices.Index(flags, "-run"); i >= 0 && i+1 < len(flags) {
		return flags[i : i+2]
	}
	return nil
}

// command returns the shell command that repeats the failure.
func (f *failure) command() string {
	if f.check != nil {
		return in(f.check.dir, strings.Join(f.check.command, " "))
	}
	alone := *f
	alone.died = false
	c := alone.again()
	words := []string{strings.Repeat("../", depth(c.dir)) + "bin/testdb-run", "--"}
	if len(c.env) > 0 {
		words = append(append(words, "env"), c.env...)
	}
	words = append(words, "go")
	for _, word := range c.arguments() {
		if word != "-json" {
			words = append(words, quoted(word))
		}
	}
	return in(c.dir, strings.Join(words, " "))
}

func in(dir, command string) string {
	if dir == "." {
		return command
	}
	return fmt.Sprintf("(cd %s && %s)", dir, command)
}

func depth(dir string) int {
	if dir == "." {
		return 0
	}
	return strings.Count(dir, "/") + 1
}

// plain matches words that need no quoting in a shell.
var plain = regexp.MustCompile(`^[\w./:=@%+,-]+$`)

func quoted(word string) string {
	if plain.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// arguments returns the arguments of the go command.
func (c call) arguments() []string {
	arguments := append([]string{"test", "-json"}, c.flags...)
	if c.tests != nil {
		arguments = append(arguments, "-run", pattern(c.tests))
	}
	return append(arguments, c.packages...)
}

// logsDir is the directory below the root for the output of failures.
const logsDir = "bin/test-logs"

// unsafe matches characters that are replaced in file names.
var unsafe = regexp.MustCompile(`[^\w.-]+`)

// save writes the complete output to a file below root and records its name.
func (f *failure) save(root string) error {
	dir := filepath.Join(root, logsDir)
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	const longest = 100
	name := unsafe.ReplaceAllString(filepath.Base(f.path)+"-"+f.test, "_")
	file, err := os.CreateTemp(dir, name[:min(len(name), longest)]+"-*.log")
	if err != nil {
		return err
	}
	f.log = filepath.Join(logsDir, filepath.Base(file.Name()))
	if _, err := file.WriteString(f.output); err != nil {
		return err
	}
	return file.Close()
}

// excerpt returns the first lines of the output, without the lines of go test itself.
func (f *failure) excerpt() []string {
	const most = 30
	var lines []string
	for line := range strings.Lines(f.output) {
		if line = strings.TrimRight(line, "\n"); line != "" && !isVerdict(line) && line != "FAIL" {
			lines = append(lines, line)
		}
	}
	if left := len(lines) - most; left > 0 {
		lines = append(lines[:most], fmt.Sprintf("… and %d more lines in the file below", left))
	}
	return lines
}
