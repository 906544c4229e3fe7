package main

import (
	"bufio"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/internal/testdb"
)

// asRunner makes the test binary behave like the command itself.
const asRunner = "FAIRLEAD_TESTDB_RUNNER"

func TestMain(m *testing.M) {
	if os.Getenv(asRunner) != "" {
		main()
	}
	os.Exit(m.Run())
}

func TestExitCodeIsTheCommands(t *testing.T) {
	for script, want := range map[string]int{
		"exit 0":        0,
		"exit 7":        7,
		"kill -TERM $$": 128 + int(syscall.SIGTERM),
	} {
		runner := command(t, "sh", "-c", script)
		runner.Env = append(runner.Env, testdb.PostgresEnv+"=given", testdb.MySQLEnv+"=given")
		err := runner.Run()
		if got := runner.ProcessState.ExitCode(); got != want {
			t.Errorf("%s: exit code %d, want %d (%v)", script, got, want, err)
		}
	}
}

func TestServersOfTheEnvironmentAreLeftAlone(t *testing.T) {
	runner := command(t, "sh", "-c", "echo $"+testdb.PostgresEnv+" $"+testdb.MySQLEnv)
	runner.Env = append(runner.Env, testdb.PostgresEnv+"=pg", testdb.MySQLEnv+"=my")
	output, err := runner.Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := string(output); got != "pg my\n" {
		t.Errorf("the command saw %q", got)
	}
}

func TestServersRunOnlyDuringTheCommand(t *testing.T) {
	testdb.Postgres(t) // skips where there is none
	testdb.MySQL(t)
	temporary := shortTempDir(t)
	runner := command(t, "sh", "-c", "echo $"+testdb.PostgresEnv+" $"+testdb.MySQLEnv+"; ls $TMPDIR")
	runner.Env = append(runner.Env, testdb.PostgresEnv+"=", testdb.MySQLEnv+"=", "TMPDIR="+temporary)
	output, err := runner.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"postgres://", "mysql://", "fairlead-postgresql-", "fairlead-mariadb-"} {
		if !strings.Contains(string(output), want) {
			t.Errorf("no %s in what the command saw:\n%s", want, output)
		}
	}
	left, err := os.ReadDir(temporary)
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestSignalReachesGrandchildren(t *testing.T) {
	marker := t.TempDir() + "/terminated"
	// The outer shell dies of the signal at once, as go test does; the inner one
	// must get it too.
	runner := command(t, "sh", "-c",
		`sh -c 'trap "touch '$0'; exit" TERM; echo started; while :; do sleep 0.01; done' & wait`, marker)
	runner.Env = append(runner.Env, testdb.PostgresEnv+"=given", testdb.MySQLEnv+"=given")
	output, err := runner.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := runner.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(output).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if err := runner.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := runner.Wait(); !errors.As(err, &exit) {
		t.Errorf("the runner ended with %v", err)
	}
	awaitFile(t, marker)
}

// command returns the command that runs argv under the runner.
func command(t *testing.T, argv ...string) *exec.Cmd {
	t.Helper()
	runner := exec.CommandContext(t.Context(), os.Args[0], append([]string{"--"}, argv...)...)
	runner.Env = append(os.Environ(), asRunner+"=1")
	runner.Stderr = os.Stderr
	return runner
}

// shortTempDir returns a directory that the servers' users may enter and that is not too
// deep for Unix sockets, unlike t.TempDir.
func shortTempDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "run-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func awaitFile(t *testing.T, path string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience.Limit)
	defer cancel()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s never appeared", path)
		case <-ticker.C:
		}
	}
}
