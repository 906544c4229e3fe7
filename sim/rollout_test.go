package sim_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/internal/usercache"
	"github.com/fairlead-io/fairlead/sim"
)

// before is the last state of this repository whose tables were other ones. Each change
// of the tables moves it on.
const before = "4125200a"

// Nodes of the version before run while one of this version changes the tables under
// them. Both work side by side, until the old ones have been replaced one by one.
func TestRollout(t *testing.T) {
	tier.Long(t, "builds the version before, and kills processes")
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

// refusesNewerTables requires that a node of the previous version, started again, ends with
// an error that names the remedy.
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

// buildOlder builds this test as it was before, unless that was done earlier: the user's
// cache keeps the program. Of several processes one builds, and the others wait for it. A
// build that is interrupted leaves nothing that the next one would take for a program.
func buildOlder(t *testing.T) string {
	t.Helper()
	root, err := output(t, ".", "git", "rev-parse", "--show-toplevel")
	if err == nil {
		_, err = output(t, root, "git", "cat-file", "-e", before+"^{commit}")
	}
	if err != nil {
		t.Skipf("SKIPPED, NOT TESTED: this is no clone with the history of the repository: the version before, %s, cannot be built", before)
	}
	dir, err := usercache.Dir(filepath.Join("fairlead-sim", fmt.Sprintf("%s-%s-%s-%s", before, runtime.Version(), runtime.GOOS, runtime.GOARCH)))
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "older.test")
	err = usercache.WithLock(filepath.Join(dir, "lock"), func() error {
		if _, err := os.Stat(program); err == nil {
			return nil
		}
		source, made := t.TempDir(), program+".new"
		must(t, root, "git", "archive", "--format=tar", "--output", filepath.Join(source, "source.tar"), before)
		must(t, source, "tar", "-xf", "source.tar")
		must(t, source, "go", "test", "-c", "-o", made, "./sim")
		return os.Rename(made, program)
	})
	if err != nil {
		t.Fatal(err)
	}
	return program
}

// output runs a program in a directory.
func output(t *testing.T, in, name string, args ...string) (string, error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), name, args...)
	command.Dir = in
	text, err := command.CombinedOutput()
	return strings.TrimSpace(string(text)), err
}

// must runs a program that has to succeed.
func must(t *testing.T, in, name string, args ...string) {
	t.Helper()
	if text, err := output(t, in, name, args...); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, text)
	}
}
