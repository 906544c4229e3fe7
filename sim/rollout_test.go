package sim_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/sim"
)

// before is the last state of this repository whose tables were other ones. Each change
// of the tables moves it on.
const before = "c51437e"

// Nodes of the version before run while one of this version changes the tables under
// them. Both work side by side, until the old ones have been replaced one by one.
func TestRollout(t *testing.T) {
	t.Parallel()
	older := buildOlder(t)
	for _, db := range []struct {
		name string
		url  func(t *testing.T) string
	}{
		{"sqlite", func(t *testing.T) string { return "sqlite://" + filepath.Join(t.TempDir(), "jobs.db") }},
		{"postgres", func(t *testing.T) string { return testdb.Postgres(t) }},
		{"mariadb", func(t *testing.T) string { return testdb.MySQL(t) }},
	} {
		t.Run(db.name, func(t *testing.T) {
			t.Parallel()
			const short = 1500
			var url string
			playUntilShown(t, func() sim.Scenario {
				s := everything(setting(t, jobsEnv, short))
				url = db.url(t)
				s.URL, s.Workers, s.Disturb, s.Every = url, 2, sim.KillOrPause, time.Second
				s.Older = sim.Older{Program: older, Workers: 2}
				return s
			}, func(r sim.Record, _ sim.Figures) error {
				byOld, byNew := 0, 0
				for _, e := range r.Events {
					switch {
					case e.What != sim.Started:
					case strings.HasPrefix(e.Process, "old"):
						byOld++
					default:
						byNew++
					}
				}
				t.Logf("%d runs by the version before, %d by this one", byOld, byNew)
				if byOld == 0 || byNew == 0 {
					return fmt.Errorf("%d runs by the version before, %d by this one", byOld, byNew)
				}
				return nil
			})
			refusesNewerTables(t, older, url)
		})
	}
}

// refusesNewerTables requires that a node of the version before, started once more, ends
// with the remedy.
func refusesNewerTables(t *testing.T, older, url string) {
	t.Helper()
	orders, err := json.Marshal(map[string]string{"URL": url, "Name": "late", "Dir": t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), older)
	command.Env = append(os.Environ(), "FAIRLEAD_SIM_WORKER="+string(orders))
	if _, err := command.StdinPipe(); err != nil { // a worker ends when this does
		t.Fatal(err)
	}
	text, err := command.CombinedOutput()
	if err == nil || !strings.Contains(string(text), "use a newer fairlead") {
		t.Errorf("a node of the version before met newer tables and ended with %v:\n%s", err, text)
	}
}

// buildOlder builds this test as it was before.
func buildOlder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	run := func(in string, name string, args ...string) (string, error) {
		command := exec.CommandContext(t.Context(), name, args...)
		command.Dir = in
		text, err := command.CombinedOutput()
		return strings.TrimSpace(string(text)), err
	}
	must := func(in string, name string, args ...string) {
		t.Helper()
		if text, err := run(in, name, args...); err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, text)
		}
	}
	root, err := run(".", "git", "rev-parse", "--show-toplevel")
	if err == nil {
		_, err = run(root, "git", "cat-file", "-e", before+"^{commit}")
	}
	if err != nil {
		t.Skipf("SKIPPED, NOT TESTED: this is no clone with the history of the repository: the version before, %s, cannot be built", before)
	}
	source := filepath.Join(dir, "source")
	if err := os.Mkdir(source, 0o700); err != nil {
		t.Fatal(err)
	}
	must(root, "git", "archive", "--format=tar", "--output", filepath.Join(dir, "source.tar"), before)
	must(source, "tar", "-xf", filepath.Join(dir, "source.tar"))
	program := filepath.Join(dir, "older.test")
	must(source, "go", "test", "-c", "-o", program, "./sim")
	return program
}
