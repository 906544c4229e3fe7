package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The examples of docs/api.md are what the program really answers.
func TestTheExamplesOfTheAPIAreTrue(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		if os.Getenv("REQUIRE_DBS") != "" {
			t.Fatal("curl is missing: make test installs it")
		}
		t.Skip("curl is missing")
	}
	text, err := os.ReadFile("../../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	node := startServe(t, "--db", "sqlite://"+filepath.Join(t.TempDir(), "jobs.db"))
	examples := 0
	for _, block := range regexp.MustCompile("(?s)```console\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		for _, example := range strings.Split("\n"+block[1], "\n$ ")[1:] {
			command, want, _ := strings.Cut(example, "\n")
			shell := exec.CommandContext(t.Context(), "sh", "-c", command)
			shell.Env = append(os.Environ(), "FAIRLEAD="+node.url)
			got, err := shell.Output()
			if err != nil {
				t.Fatalf("%s: %v", command, err)
			}
			if !fits(strings.TrimSpace(want), strings.TrimSpace(string(got))) {
				t.Errorf("$ %s\n got %s\nwant %s", command, got, want)
			}
			examples++
		}
	}
	if examples < 20 {
		t.Errorf("only %d examples were found", examples)
	}
}

// fits tells whether a text is as another in which … stands for anything.
func fits(pattern, text string) bool {
	parts := strings.Split(pattern, "…")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile("(?s)^" + strings.Join(parts, ".*") + "$").MatchString(text)
}
