package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// asCommand makes the test binary behave as the command itself.
const asCommand = "FAIRLEAD_TESTRUN"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
	}
	os.Exit(m.Run())
}

// example is a module with a package that passes, one that fails, one that does not
// compile, and one without tests.
var example = map[string]string{
	"go.mod":         "module example.com/m\n\ngo 1.26\n",
	"good/a_test.go": "package good\n\nimport \"testing\"\n\nfunc TestGood(t *testing.T) { t.Log(\"of the good\") }\n",
	"bad/a_test.go":  "package bad\n\nimport \"testing\"\n\nfunc TestBad(t *testing.T) { t.Error(\"of the bad\") }\n",
	"odd/a_test.go":  "package odd\n\nvar x int = \"no number\"\n",
	"none/a.go":      "package none\n",
}

// testrun runs the command in the example.
func testrun(t *testing.T, arguments ...string) (output string, code int) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range example {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	command := exec.CommandContext(t.Context(), os.Args[0], arguments...)
	var written bytes.Buffer
	command.Dir, command.Stdout, command.Stderr = dir, &written, &written
	command.Env = append(os.Environ(), asCommand+"=1", "GOFLAGS=", "GOWORK=off")
	err := command.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return written.String(), command.ProcessState.ExitCode()
}

func TestLinesAndExitCodeAreThoseOfGoTest(t *testing.T) {
	for _, c := range []struct {
		arguments string
		code      int
		lines     []string // regular expressions
		without   string
	}{
		{"-count=1 -- ./good ./none", 0, []string{`^ok  \texample.com/m/good\t[0-9.]+s\t\[./2, .*\]$`, `^\?   \texample.com/m/none\t\[no test files\]\t\[./2, .*\]$`}, "of the good"},
		{"-count=1 -v -- ./good", 0, []string{`^=== RUN   TestGood$`, `a_test.go:5: of the good$`, `^--- PASS: TestGood`}, "FAIL"},
		{"-- ./good ./bad", 1, []string{`^ok  \texample.com/m/good`, `a_test.go:5: of the bad$`, `^--- FAIL: TestBad`, `^FAIL\texample.com/m/bad\t[0-9.]+s\t\[./2, .*\]$`, `1 failed: bad$`, `^FAIL$`}, "of the good"},
		{"-- ./good ./odd", 1, []string{`^ok  \texample.com/m/good`, `cannot use "no number"`, `^FAIL\texample.com/m/odd \[build failed\]`, `^FAIL$`}, "of the good"},
		{"-- ./nowhere", 1, []string{`nowhere`, `^FAIL$`}, "all ok"},
		{"-timeout=1m", 2, []string{`^usage:`}, "FAIL"},
	} {
		t.Run(c.arguments, func(t *testing.T) {
			output, code := testrun(t, strings.Fields(c.arguments)...)
			if code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			for _, line := range c.lines {
				if !regexp.MustCompile("(?m)" + line).MatchString(output) {
					t.Errorf("no line %s", line)
				}
			}
			if strings.Contains(output, c.without) {
				t.Errorf("it says %q", c.without)
			}
			if t.Failed() {
				t.Log(output)
			}
		})
	}
}
