package main

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// asCommand makes the test binary behave like the command itself.
const asCommand = "FAIRLEAD_TESTRUN"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
	}
	os.Exit(m.Run())
}

// passing is a module whose tests pass: a package with a long test and a test with two
// sizes, a package with a skipped test, and a package without tests.
var passing = map[string]string{
	"go.mod": "module example.com/m\n\ngo 1.26\n",
	"m.go":   "package m\n",
	"good/a_test.go": `package good

import "testing"

func TestGood(t *testing.T) { t.Log("good is tested") }

func TestLong(t *testing.T) {
	t.Run("a part", func(t *testing.T) {
		t.Attr("long", "it takes hours")
		if testing.Short() {
			t.Skip("second tier: it takes hours")
		}
		t.Log("the long part is tested")
	})
	t.Run("another part", func(t *testing.T) { t.Log("the short part is tested") })
}

func TestSized(t *testing.T) {
	t.Attr("long", "there are many")
	t.Logf("sized test, short: %v", testing.Short())
}
`,
	"less/a_test.go": "package less\n\nimport \"testing\"\n\nfunc TestLess(t *testing.T) { t.Skip(\"there is no server\") }\n",
	"none/a.go":      "package none\n",
}

// failing adds a package that fails and one that does not compile.
var failing = map[string]string{
	"bad/a_test.go": `package bad

import "testing"

func TestBad(t *testing.T) {
	t.Attr("seed", "FAIRLEAD_BAD_SEED=17")
	t.Run("it's one part", func(t *testing.T) { t.Error("bad is bad") })
}
`,
	"odd/a_test.go": "package odd\n\nvar x int = \"no number\"\n",
}

// flaky is a package with a long test that fails in its first run, without its seed.
var flaky = map[string]string{
	"flaky/a_test.go": `package flaky

import (
	"os"
	"testing"
)

func TestFlaky(t *testing.T) {
	t.Attr("long", "it waits")
	t.Attr("seed", "FAIRLEAD_FLAKY_SEED=4711")
	if !testing.Short() && os.Getenv("FAIRLEAD_FLAKY_SEED") != "4711" {
		t.Error("a flake")
	}
}
`,
}

// module writes the files of a module into a new directory.
func module(t *testing.T, parts ...map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{}
	for _, part := range parts {
		maps.Copy(files, part)
	}
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// testrun runs the command in a directory.
func testrun(t *testing.T, dir string, arguments ...string) (output string, code int) {
	t.Helper()
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

// expect requires an exit code, lines that match regular expressions, and the absence of
// some texts.
func expect(t *testing.T, output string, code, wantCode int, lines, without []string) {
	t.Helper()
	if code != wantCode {
		t.Errorf("exit code %d, want %d", code, wantCode)
	}
	for _, line := range lines {
		if !regexp.MustCompile("(?m)" + line).MatchString(output) {
			t.Errorf("no line %s", line)
		}
	}
	for _, text := range without {
		if strings.Contains(output, text) {
			t.Errorf("the output has %q", text)
		}
	}
	if t.Failed() {
		t.Log(output)
	}
}

func TestEveryPackageIsReportedWhateverFailed(t *testing.T) {
	for name, c := range map[string]struct {
		parts     []map[string]string
		arguments string
		code      int
		lines     []string
		without   []string
	}{
		"all pass": {
			[]map[string]string{passing}, "first -count=1 -vet=off", 0,
			[]string{`^ok  \texample.com/m/good\t[0-9.]+s\t\[./4, .*\]$`, `^\?   \texample.com/m/none\t\[no test files\]\t\[./4, .*\]$`, `^skipped 1: there is no server$`, `^left to the second tier \(make test-all\): 1$`, `^4 passed, 0 failed, 1 skipped$`},
			[]string{"good is tested", "FAIL"},
		},
		"all is shown": {
			[]map[string]string{passing}, "first -count=1 -v -vet=off -- ./good", 0,
			[]string{`^=== RUN   TestGood$`, `a_test.go:5: good is tested$`, `^--- PASS: TestGood`}, []string{"FAIL"},
		},
		"some fail": {
			[]map[string]string{passing, failing}, "first -vet=off", 1,
			[]string{
				`^ok  \texample.com/m/good`, `cannot use "no number"`, `^FAIL\texample.com/m/odd \[build failed\]`, `^FAIL\texample.com/m/bad\t[0-9.]+s\t\[./6, .*\]$`,
				`(?s)== Summary.*^--- FAIL: example.com/m/bad TestBad/it's_one_part$.*a_test.go:7: bad is bad$.*^    seed:      FAIRLEAD_BAD_SEED=17$.*^4 passed, 2 failed, 1 skipped$`,
				`^    reproduce: bin/testdb-run -- env FAIRLEAD_BAD_SEED=17 go test -short -timeout 30m -vet=off -count=1 -run '\^TestBad\$/\^it'\\''s_one_part\$' example.com/m/bad$`,
			},
			[]string{"good is tested"},
		},
		"no such package": {[]map[string]string{passing}, "first -- ./nowhere", 1, []string{`nowhere`, `, 1 failed, `}, nil},
		"no tier":         {[]map[string]string{passing}, "third", 2, []string{`^usage:`}, []string{"FAIL"}},
	} {
		t.Run(name, func(t *testing.T) {
			output, code := testrun(t, module(t, c.parts...), strings.Fields(c.arguments)...)
			expect(t, output, code, c.code, c.lines, c.without)
		})
	}
}

func TestTheSecondTierRunsTheLongTestsAlone(t *testing.T) {
	dir := module(t, passing)
	if output, code := testrun(t, dir, "first", "-v", "-vet=off"); code != 0 {
		t.Fatalf("the first tier fails:\n%s", output)
	}
	output, code := testrun(t, dir, "second", "-v", "-vet=off")
	expect(t, output, code, 0, []string{`the long part is tested`, `sized test, short: false`, `^3 passed, 0 failed, 0 skipped$`},
		[]string{"good is tested", "the short part is tested", "there is no server"})
}

func TestWithoutARecordOfTheFirstTierTheSecondRunsEverything(t *testing.T) {
	output, code := testrun(t, module(t, passing), "second", "-v", "-vet=off")
	expect(t, output, code, 0, []string{`all tests run at full size`, `the long part is tested`, `good is tested`}, nil)
}

func TestAFailureOfTheSecondTierIsRepeatedOnceWithItsSeed(t *testing.T) {
	always := map[string]string{"broken/a_test.go": `package broken

import "testing"

func TestBroken(t *testing.T) {
	t.Attr("long", "it waits")
	if !testing.Short() {
		t.Error("always")
	}
}
`}
	output, code := testrun(t, module(t, passing, flaky, always), "all", "-vet=off")
	expect(t, output, code, 1, []string{
		`^== Again, with the same seed: example.com/m/flaky TestFlaky$`,
		`^== Again, with the same seed: example.com/m/broken TestBroken$`,
		`(?s)== Summary.*WARNING: failed once and passed when it was repeated:\n--- FAIL: example.com/m/flaky TestFlaky\n.*FAIRLEAD_FLAKY_SEED=4711.*--- FAIL: example.com/m/broken TestBroken\n.*, 1 failed, `,
	}, nil)
}

func TestAProgramThatDiedRepeatsTheTestsThatDidNotRun(t *testing.T) {
	dying := map[string]string{"dying/a_test.go": `package dying

import (
	"os"
	"testing"
)

func TestDying(t *testing.T) {
	t.Attr("long", "it waits")
	t.Attr("seed", "FAIRLEAD_DYING_SEED=4711")
	if !testing.Short() && os.Getenv("FAIRLEAD_DYING_SEED") != "4711" {
		os.Exit(66)
	}
}

func TestTheNext(t *testing.T) {
	t.Attr("long", "it waits")
	if !testing.Short() {
		t.Error("the next one fails")
	}
}
`}
	output, code := testrun(t, module(t, passing, dying), "all", "-vet=off")
	expect(t, output, code, 1, []string{
		`^== Again, with the same seed: example.com/m/dying TestDying$`,
		`(?s)== Summary.*--- FAIL: example.com/m/dying TestTheNext\n.*the next one fails`,
	}, nil)
}
