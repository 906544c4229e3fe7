package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/fairlead-io/fairlead/internal/sqlitetest"
)

// gettingStarted returns the parts of docs/getting-started.md: the library, the service up
// to the worker, and the rest.
func gettingStarted(t *testing.T) (library, service, worker string) {
	t.Helper()
	text, err := os.ReadFile("../../docs/getting-started.md")
	if err != nil {
		t.Fatal(err)
	}
	library, rest, served := strings.Cut(string(text), "\n## As a service\n")
	service, worker, worked := strings.Cut(rest, "\n### A worker in Python\n")
	if !served || !worked {
		t.Fatal("docs/getting-started.md has other headings")
	}
	return library, service, worker
}

// The program of the page is made as the page says, in a module of its own.
func TestTheLibraryCanBeStartedWithAsThePageSays(t *testing.T) {
	t.Parallel()
	library, _, _ := gettingStarted(t)
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	beside := t.TempDir()
	if err := os.Symlink(root, filepath.Join(beside, "fairlead")); err != nil {
		t.Fatal(err)
	}
	module := filepath.Join(beside, "greeter")
	in := func(dir, program string, args ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), program, args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=", "GOWORK=")
		return cmd
	}
	must := func(cmd *exec.Cmd) {
		t.Helper()
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
		}
	}
	commands := regexp.MustCompile("(?s)```sh\n(.*?)```").FindStringSubmatch(library)
	must(in(beside, "sh", "-ec", commands[1]))
	// By its own path, what is compiled of it already is not compiled again.
	must(in(module, "go", "work", "edit", "-dropuse=../fairlead", "-use="+root))
	files := regexp.MustCompile("(?s)In `(\\w+\\.go)`:\n\n```go\n(.*?)```").FindAllStringSubmatch(library, -1)
	if all := strings.Count(library, "```go\n"); len(files) != all {
		t.Fatalf("the page has %d blocks of Go, and names %d files", all, len(files))
	}
	for _, file := range files {
		if err := os.WriteFile(filepath.Join(module, file[1]), []byte(file[2]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	must(in(module, "sh", "-c", `test -z "$(gofmt -l .)"`))
	must(in(module, "go", "vet", "."))
	must(in(module, "go", "test", "."))
	must(in(module, "go", "build", "-o", "greeter", "."))

	greeter := in(module, filepath.Join(module, "greeter"))
	out, err := greeter.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := greeter.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "welcome, ada@example.org\n" {
		t.Errorf("the program printed %q: %v", line, err)
	}
	if err := greeter.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := greeter.Wait(); err != nil {
		t.Errorf("the program ended with %v", err)
	}
}

func TestTheServiceCanBeStartedWithAsThePageSays(t *testing.T) {
	t.Parallel()
	need(t, "python3")
	need(t, "curl")
	_, service, worker := gettingStarted(t)
	node := startServe(t, "--db", sqlitetest.URL(t), "--poll", "20ms")
	env := []string{
		"PATH=" + programs(t) + string(os.PathListSeparator) + os.Getenv("PATH"),
		"FAIRLEAD_SERVER=" + node.url, "XDG_CONFIG_HOME=" + t.TempDir(), asProgram + "=1",
	}
	examples := runExamplesIn(t, service, node.url, env...)
	python := startPythonWorker(t, "worker.py", node.url)
	if examples += runExamplesIn(t, worker, node.url, env...); examples < 9 {
		t.Errorf("only %d examples were found", examples)
	}
	if err := python.end(t, syscall.SIGTERM); err != nil {
		t.Errorf("the worker did not leave: %v", err)
	}
}
