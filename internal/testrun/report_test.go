package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// reported returns the output of a report for events one second apart.
func reported(t *testing.T, packages []string, events ...event) (text string, r *report) {
	t.Helper()
	var out strings.Builder
	clock := time.Unix(1_000_000, 0)
	r = newReport(&out, func() time.Time { return clock }, t.TempDir())
	r.begin(packages)
	for _, e := range events {
		line, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		clock = clock.Add(time.Second)
		if e.Action == "remind" {
			r.remind()
			continue
		}
		r.line(call{dir: "."}, string(line)+"\n")
	}
	return out.String(), r
}

func output(pkg, test, text string) event {
	return event{Action: "output", Package: pkg, Test: test, Output: text}
}

func TestAPackageIsReportedWhenItEnds(t *testing.T) {
	got, r := reported(t, []string{"m/a", "m/b"},
		event{Action: "start", Package: "m/a"},
		event{Action: "start", Package: "m/b"},
		event{Action: "run", Package: "m/b", Test: "TestB"},
		output("m/b", "TestB", "=== RUN   TestB\n"),
		output("m/b", "TestB", "    b_test.go:7: all is well\n"),
		event{Action: "pass", Package: "m/b", Test: "TestB"},
		output("m/b", "", "PASS\n"),
		output("m/b", "", "ok  \tm/b\t1.200s\n"),
		event{Action: "pass", Package: "m/b"},
		output("m/a", "", "?   \tm/a\t[no test files]\n"),
		event{Action: "skip", Package: "m/a"},
	)
	const want = "ok  \tm/b\t1.200s\t[1/2, 9s]\n?   \tm/a\t[no test files]\t[2/2, 11s]\n"
	if got != want || len(r.failures) > 0 || r.passed != 1 {
		t.Errorf("%d failures, %d passed:\n%s", len(r.failures), r.passed, got)
	}
}

func TestOnlyTheLinesOfTheTestThatFailedAreShown(t *testing.T) {
	got, r := reported(t, []string{"m", "m/a"},
		event{Action: "run", Package: "m/a", Test: "TestGood"},
		output("m/a", "TestGood", "    a_test.go:1: of a good one\n"),
		event{Action: "run", Package: "m/a", Test: "TestBad"},
		event{Action: "run", Package: "m/a", Test: "TestBad/one"},
		output("m/a", "TestBad/one", "    a_test.go:2: of a bad one\n"),
		output("m/a", "TestBad", "--- FAIL: TestBad (0.00s)\n"),
		output("m/a", "TestBad/one", "    --- FAIL: TestBad/one (0.00s)\n"),
		event{Action: "fail", Package: "m/a", Test: "TestBad/one"},
		event{Action: "fail", Package: "m/a", Test: "TestBad"},
		event{Action: "pass", Package: "m/a", Test: "TestGood"},
		output("m/a", "", "FAIL\tm/a\t0.100s\n"),
		event{Action: "fail", Package: "m/a"},
	)
	if len(r.failures) != 1 || r.failures[0].test != "TestBad/one" || strings.Contains(got, "of a good one") || !strings.Contains(got, "of a bad one") {
		t.Errorf("%d failures:\n%s", len(r.failures), got)
	}
}

func TestAParentThatFailedForItsOwnReasonIsAFailureToo(t *testing.T) {
	_, r := reported(t, []string{"m"},
		output("m", "TestBad/one", "    a_test.go:2: part\n"),
		event{Action: "fail", Package: "m", Test: "TestBad/one"},
		output("m", "TestBad", "    a_test.go:9: whole\n"),
		event{Action: "fail", Package: "m", Test: "TestBad"},
		event{Action: "fail", Package: "m"},
	)
	if len(r.failures) != 2 {
		t.Errorf("%d failures: %v", len(r.failures), r.failures)
	}
}

func TestATestThatDidNotEndIsTheFailureOfItsPackage(t *testing.T) {
	_, r := reported(t, []string{"m"},
		event{Action: "run", Package: "m", Test: "TestHung"},
		event{Action: "attr", Package: "m", Test: "TestHung", Key: "seed", Value: "S=1"},
		output("m", "TestHung", "    m_test.go:3: it hangs\n"),
		output("m", "", "panic: test timed out after 30m0s\n"),
		event{Action: "fail", Package: "m"},
	)
	if len(r.failures) != 1 || r.failures[0].test != "TestHung" || !strings.Contains(r.failures[0].output, "it hangs") ||
		!strings.Contains(r.failures[0].output, "timed out") || len(r.failures[0].seeds) != 1 {
		t.Errorf("failures: %+v", r.failures)
	}
}

func TestWhatStillRunsIsNamed(t *testing.T) {
	got, _ := reported(t, []string{"m", "m/a/b"},
		event{Action: "remind"},
		event{Action: "start", Package: "m/a/b"},
		event{Action: "run", Package: "m/a/b", Test: "TestLong"},
		event{Action: "remind"},
		event{Action: "pass", Package: "m/a/b", Test: "TestLong"},
		event{Action: "remind"},
	)
	const want = "[0/2, 1s] compiling\n[0/2, 4s] running: a/b for 2s (TestLong)\n[0/2, 6s] running: a/b for 4s\n"
	if got != want {
		t.Errorf("reported:\n%s", got)
	}
}

func TestTheSeedOfAPropertyTestIsReported(t *testing.T) {
	_, r := reported(t, []string{"m"},
		output("m", "TestModel", "    engine.go:1: [rapid] failed after 3 tests: To reproduce, specify -run=\"TestModel\" -rapid.failfile=\"x\" (or -rapid.seed=815)\n"),
		event{Action: "fail", Package: "m", Test: "TestModel"},
		event{Action: "fail", Package: "m"},
	)
	if len(r.failures) != 1 || !strings.Contains(r.failures[0].command(), "-rapid.seed=815") {
		t.Errorf("failures: %+v", r.failures)
	}
}

func TestPatternsChooseTestsByTheirFullNames(t *testing.T) {
	got := pattern(topmost([]string{"TestStore/Claim/a_b", "TestX", "TestX/part", "TestStore/Claim/why?"}))
	const want = `^TestStore$/^Claim$/^a_b$|^TestStore$/^Claim$/^why\?$|^TestX$`
	if got != want {
		t.Errorf("pattern is %s", got)
	}
}

func TestFlagsThatShowEverything(t *testing.T) {
	for flags, want := range map[string]bool{"": false, "-v": true, "-test.v=true": true, "-v=false": false, "-run v -count=1": false, "--bench=.": true} {
		if (plan{flags: strings.Fields(flags)}).verbose() != want {
			t.Errorf("%q: want %v", flags, want)
		}
	}
}
