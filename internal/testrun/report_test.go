package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// told is what a report says of events, each of which comes a second after the other.
func told(t *testing.T, verbose bool, packages []string, events ...event) (text string, ok bool) {
	t.Helper()
	var out strings.Builder
	clock := time.Unix(1_000_000, 0)
	r := newReport(&out, packages, func() time.Time { return clock })
	r.verbose = verbose
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
		r.line(string(line) + "\n")
	}
	ok = r.close()
	return out.String(), ok
}

func output(pkg, test, text string) event {
	return event{Action: "output", Package: pkg, Test: test, Output: text}
}

func TestAPackageIsToldWhenItEnds(t *testing.T) {
	got, ok := told(t, false, []string{"m/a", "m/b"},
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
	const want = "ok  \tm/b\t1.200s\t[1/2, 9s]\n?   \tm/a\t[no test files]\t[2/2, 11s]\n[2/2, 11s] all ok\n"
	if got != want || !ok {
		t.Errorf("told %v:\n%s", ok, got)
	}
}

func TestWhatFailedIsShownAndWhatPassedIsNot(t *testing.T) {
	got, ok := told(t, false, []string{"m", "m/a"},
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
		output("m/a", "", "FAIL\n"),
		output("m/a", "", "FAIL\tm/a\t0.100s\n"),
		event{Action: "fail", Package: "m/a"},
		output("m", "", "ok  \tm\t(cached)\n"),
		event{Action: "pass", Package: "m"},
	)
	const want = "    a_test.go:2: of a bad one\n    --- FAIL: TestBad/one (0.00s)\n--- FAIL: TestBad (0.00s)\nFAIL\nFAIL\tm/a\t0.100s\t[1/2, 13s]\n" +
		"ok  \tm\t(cached)\t[2/2, 15s]\n[2/2, 15s] 1 failed: a\nFAIL\n"
	if got != want || ok {
		t.Errorf("told %v:\n%s", ok, got)
	}
}

func TestWithVEverythingIsShown(t *testing.T) {
	for packages, want := range map[int]string{1: "at once", 2: "in the end"} {
		got, _ := told(t, true, []string{"m/a", "m/b"}[:packages],
			output("m/a", "TestGood", "=== RUN   TestGood\n"),
			event{Action: "remind"},
			event{Action: "pass", Package: "m/a", Test: "TestGood"},
			output("m/a", "", "ok  \tm/a\t0.100s\n"),
			event{Action: "pass", Package: "m/a"},
		)
		shown, reminded := strings.Index(got, "=== RUN"), strings.Index(got, "running:")
		if shown < 0 || (shown < reminded) != (packages == 1) {
			t.Errorf("with %d packages, wanted %s:\n%s", packages, want, got)
		}
	}
}

func TestWhatRunsIsNamed(t *testing.T) {
	got, ok := told(t, false, []string{"m", "m/a/b"},
		event{Action: "remind"},
		event{Action: "start", Package: "m/a/b"},
		event{Action: "run", Package: "m/a/b", Test: "TestLong"},
		event{Action: "remind"},
		event{Action: "pass", Package: "m/a/b", Test: "TestLong"},
		event{Action: "remind"},
	)
	const want = "[0/2, 1s] compiling\n[0/2, 4s] running: a/b for 2s (TestLong)\n[0/2, 6s] running: a/b for 4s\n"
	if !strings.HasPrefix(got, want) || ok {
		t.Errorf("told %v:\n%s", ok, got)
	}
}

// Of a run that was ended what a test had written is shown: it may say why it hung.
func TestWhatDidNotEndIsAFailure(t *testing.T) {
	got, ok := told(t, false, []string{"m"}, output("m", "TestHung", "    m_test.go:3: it hangs\n"))
	if !strings.Contains(got, "m did not end\n    m_test.go:3: it hangs\n") || !strings.HasSuffix(got, "FAIL\n") || ok {
		t.Errorf("told %v:\n%s", ok, got)
	}
}

func TestFlagsThatShowEverything(t *testing.T) {
	for flags, want := range map[string]bool{"": false, "-v": true, "-test.v=true": true, "-v=false": false, "-run v -count=1": false, "--bench=.": true} {
		if showsAll(strings.Fields(flags)) != want {
			t.Errorf("%q: want %v", flags, want)
		}
	}
}
