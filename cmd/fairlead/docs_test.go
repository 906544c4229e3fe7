package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The examples of the documentation are what the program really answers.
func TestTheExamplesOfTheDocumentationAreTrue(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		if os.Getenv("REQUIRE_DBS") != "" {
			t.Fatal("curl is missing: make test installs it")
		}
		t.Skip("curl is missing")
	}
	for file, least := range map[string]int{"api.md": 30, "workers.md": 10, "tasks.md": 7} {
		t.Run(file, func(t *testing.T) {
			node := startServe(t, "--db", "sqlite://"+filepath.Join(t.TempDir(), "jobs.db"))
			runExamples(t, filepath.Join("../../docs", file), least, node.url)
		})
	}
}

// The examples of docs/cli.md are what the program really prints.
func TestTheExamplesOfTheCommandLineAreTrue(t *testing.T) {
	node := startServe(t, "--db", "sqlite://"+filepath.Join(t.TempDir(), "jobs.db"), "--poll", "20ms")
	runExamples(t, "../../docs/cli.md", 35, node.url, "PATH="+programs(t)+string(os.PathListSeparator)+os.Getenv("PATH"),
		"FAIRLEAD_SERVER="+node.url, "XDG_CONFIG_HOME="+t.TempDir(), asProgram+"=1")
}

// The examples of docs/schedules.md are true of both.
func TestTheExamplesOfSchedulesAreTrue(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is missing")
	}
	node := startServe(t, "--db", "sqlite://"+filepath.Join(t.TempDir(), "jobs.db"), "--poll", "20ms")
	runExamples(t, "../../docs/schedules.md", 15, node.url, "PATH="+programs(t)+string(os.PathListSeparator)+os.Getenv("PATH"),
		"FAIRLEAD_SERVER="+node.url, "XDG_CONFIG_HOME="+t.TempDir(), asProgram+"=1")
}

// The examples of docs/sweeps.md are true of both.
func TestTheExamplesOfSweepsAreTrue(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is missing")
	}
	node := startServe(t, "--db", "sqlite://"+filepath.Join(t.TempDir(), "jobs.db"), "--poll", "20ms")
	runExamples(t, "../../docs/sweeps.md", 25, node.url, "PATH="+programs(t)+string(os.PathListSeparator)+os.Getenv("PATH"),
		"FAIRLEAD_SERVER="+node.url, "XDG_CONFIG_HOME="+t.TempDir(), asProgram+"=1")
}

// runExamples runs all examples of a document against a service, and expects no
// fewer than least.
func runExamples(t *testing.T, document string, least int, url string, env ...string) {
	t.Helper()
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	examples, dir := 0, t.TempDir()
	env = append(env, "FAIRLEAD="+url)
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
			env = append(env, learned(url, string(got))...)
			examples++
		}
	}
	if examples < least {
		t.Errorf("only %d examples were found", examples)
	}
}

// learned is what later examples call what an answer has brought.
func learned(url, answer string) (variables []string) {
	if m := regexp.MustCompile(`^{"id":"(\d+)","session":"([^"]+)"`).FindStringSubmatch(answer); m != nil {
		variables = append(variables, "WORKER="+url+"/api/v1/workers/"+m[1], "SESSION="+m[2])
	}
	if m := regexp.MustCompile(`^{"jobs":.*?"fence":"(\d+)"`).FindStringSubmatch(answer); m != nil {
		variables = append(variables, "FENCE="+m[1])
	}
	return variables
}

// fits tells whether a text is as another in which … stands for anything.
func fits(pattern, text string) bool {
	parts := strings.Split(pattern, "…")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile("(?s)^" + strings.Join(parts, ".*") + "$").MatchString(text)
}
