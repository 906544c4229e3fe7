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
	node := startServe(t, "--db", "sqlite://"+filepath.Join(t.TempDir(), "jobs.db"))
	runExamples(t, "../../docs/api.md", 20, "FAIRLEAD="+node.url)
}

// The examples of docs/cli.md are what the program really prints.
func TestTheExamplesOfTheCommandLineAreTrue(t *testing.T) {
	node := startServe(t, "--db", "sqlite://"+filepath.Join(t.TempDir(), "jobs.db"), "--poll", "20ms")
	runExamples(t, "../../docs/cli.md", 35, "PATH="+programs(t)+string(os.PathListSeparator)+os.Getenv("PATH"),
		"FAIRLEAD_SERVER="+node.url, "XDG_CONFIG_HOME="+t.TempDir(), asProgram+"=1")
}

// runExamples runs all examples of a document, and expects no fewer than least.
func runExamples(t *testing.T, document string, least int, env ...string) {
	t.Helper()
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	examples, dir := 0, t.TempDir()
	for _, block := range regexp.MustCompile("(?s)```console\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		for _, example := range strings.Split("\n"+block[1], "\n$ ")[1:] {
			command, want, _ := strings.Cut(example, "\n")
			shell := exec.CommandContext(t.Context(), "sh", "-c", command)
			shell.Env, shell.Dir = append(os.Environ(), env...), dir
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
	if examples < least {
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
