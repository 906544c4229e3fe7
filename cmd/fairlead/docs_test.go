package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/internal/transcript"
	"github.com/fairlead-io/fairlead/worker"
)

// The examples of the documentation are what the program really answers.
func TestTheExamplesOfTheDocumentationAreTrue(t *testing.T) {
	t.Parallel()
	need(t, "curl")
	for file, least := range map[string]int{"api.md": 28, "access.md": 6, "workers.md": 10, "tasks.md": 7} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			node := startServe(t, "--db", sqlitetest.URL(t))
			runExamples(t, filepath.Join("../../docs", file), least, node.url)
		})
	}
}

// The examples of docs/cli.md are what the program really prints.
func TestTheExamplesOfTheCommandLineAreTrue(t *testing.T) {
	t.Parallel()
	node := startServe(t, "--db", sqlitetest.URL(t), "--poll", "20ms", "--lease", "5m") // the examples name its node, which must not join anew on a busy machine
	runExamples(t, "../../docs/cli.md", 35, node.url, "PATH="+programs(t)+string(os.PathListSeparator)+os.Getenv("PATH"),
		"FAIRLEAD_SERVER="+node.url, "XDG_CONFIG_HOME="+t.TempDir(), asProgram+"=1")
}

// The examples of docs/schedules.md are true of both.
func TestTheExamplesOfSchedulesAreTrue(t *testing.T) {
	t.Parallel()
	need(t, "curl")
	node := startServe(t, "--db", sqlitetest.URL(t), "--poll", "20ms")
	runExamples(t, "../../docs/schedules.md", 15, node.url, "PATH="+programs(t)+string(os.PathListSeparator)+os.Getenv("PATH"),
		"FAIRLEAD_SERVER="+node.url, "XDG_CONFIG_HOME="+t.TempDir(), asProgram+"=1")
}

// The examples of docs/what-if.md are true of both.
func TestTheExamplesOfWhatIfAreTrue(t *testing.T) {
	t.Parallel()
	need(t, "curl")
	node := startServe(t, "--db", sqlitetest.URL(t), "--poll", "20ms")
	runExamples(t, "../../docs/what-if.md", 9, node.url, "PATH="+programs(t)+string(os.PathListSeparator)+os.Getenv("PATH"),
		"FAIRLEAD_SERVER="+node.url, "XDG_CONFIG_HOME="+t.TempDir(), asProgram+"=1")
}

// The examples of docs/alerts.md are true of both.
func TestTheExamplesOfAlertsAreTrue(t *testing.T) {
	t.Parallel()
	need(t, "curl")
	node := startServe(t, "--db", sqlitetest.URL(t))
	runExamples(t, "../../docs/alerts.md", 6, node.url, "PATH="+programs(t)+string(os.PathListSeparator)+os.Getenv("PATH"),
		"FAIRLEAD_SERVER="+node.url, "XDG_CONFIG_HOME="+t.TempDir(), asProgram+"=1")
}

// The examples of docs/bulks.md are true of both.
func TestTheExamplesOfBulksAreTrue(t *testing.T) {
	t.Parallel()
	need(t, "curl")
	node := startServe(t, "--db", sqlitetest.URL(t), "--poll", "20ms")
	runExamples(t, "../../docs/bulks.md", 9, node.url, "PATH="+programs(t)+string(os.PathListSeparator)+os.Getenv("PATH"),
		"FAIRLEAD_SERVER="+node.url, "XDG_CONFIG_HOME="+t.TempDir(), asProgram+"=1")
}

// The examples of docs/batches.md are true of both, with a worker that paints walls.
func TestTheExamplesOfBatchesAreTrue(t *testing.T) {
	t.Parallel()
	need(t, "curl")
	node := startServe(t, "--db", sqlitetest.URL(t), "--poll", "20ms")
	mux := fairlead.NewMux()
	batch.Handle(mux, paintingWalls())
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- worker.Run(ctx, mux, worker.Options{Server: node.url, Poll: 20 * time.Millisecond, Logger: slog.New(slog.DiscardHandler)})
	}()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	node.untilHandled(t, "wall.paint")
	runExamples(t, "../../docs/batches.md", 20, node.url, "PATH="+programs(t)+string(os.PathListSeparator)+os.Getenv("PATH"),
		"FAIRLEAD_SERVER="+node.url, "XDG_CONFIG_HOME="+t.TempDir(), asProgram+"=1")
}

// paintingWalls returns the operation in the documentation.
func paintingWalls() batch.Operation {
	type coat struct {
		Colour string `json:"colour"`
	}
	var mu sync.Mutex
	walls := map[string]coat{}
	return batch.Operation{
		TargetType: "wall", BatchType: "paint",
		BuildParam: func(_ context.Context, task batch.TaskArgs) (json.RawMessage, error) {
			mu.Lock()
			defer mu.Unlock()
			return json.Marshal(walls[task.Target.ID])
		},
		Process: func(_ context.Context, task batch.TaskArgs) error {
			if task.Target.ID == "wet" {
				return errors.New("the wall is wet")
			}
			var want coat
			if err := json.Unmarshal(task.After, &want); err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			walls[task.Target.ID] = want
			return nil
		},
	}
}

// untilHandled waits until a live node handles a kind.
func (s *served) untilHandled(t *testing.T, kind string) {
	t.Helper()
	ticks := time.NewTicker(20 * time.Millisecond)
	defer ticks.Stop()
	for deadline := time.Now().Add(patience.Limit); !s.handles(t, kind); <-ticks.C {
		if time.Now().After(deadline) {
			t.Fatalf("no node handles %s", kind)
		}
	}
}

func (s *served) handles(t *testing.T, kind string) bool {
	t.Helper()
	raw, err := json.Marshal(s.json(t, http.MethodGet, "/api/v1/nodes", ""))
	return err == nil && strings.Contains(string(raw), strconv.Quote(kind))
}

// The examples of pages about backups, upgrades and other schedulers are true of the
// program, each on a server of its own.
func TestTheExamplesOfOperatorsAreTrue(t *testing.T) {
	t.Parallel()
	for file, least := range map[string]int{"backup.md": 6, "upgrade.md": 3, "migrating/quartz.md": 2, "migrating/xxl-job.md": 1, "migrating/cron.md": 2} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			if file == "backup.md" {
				need(t, "sqlite3")
			}
			node := startServe(t, "--db", sqlitetest.URL(t))
			runExamples(t, filepath.Join("../../docs", file), least, node.url, "PATH="+programs(t)+string(os.PathListSeparator)+os.Getenv("PATH"),
				"FAIRLEAD_SERVER="+node.url, "XDG_CONFIG_HOME="+t.TempDir(), asProgram+"=1")
		})
	}
}

// The examples of the pages about sweeps are true of both.
func TestTheExamplesOfSweepsAreTrue(t *testing.T) {
	t.Parallel()
	need(t, "curl")
	for file, least := range map[string]int{"sweeps.md": 25, "sweep-sources.md": 5} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			node := startServe(t, "--db", sqlitetest.URL(t), "--poll", "20ms")
			runExamples(t, filepath.Join("../../docs", file), least, node.url, "PATH="+programs(t)+string(os.PathListSeparator)+os.Getenv("PATH"),
				"FAIRLEAD_SERVER="+node.url, "XDG_CONFIG_HOME="+t.TempDir(), asProgram+"=1")
		})
	}
}

// need skips a test if a program is missing, unless everything has to be there.
func need(t *testing.T, program string) {
	t.Helper()
	testdb.Program(t, program)
}

// runExamples runs all examples of a document against a service, and expects no
// fewer than least.
func runExamples(t *testing.T, document string, least int, url string, env ...string) {
	t.Helper()
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	if examples := runExamplesIn(t, string(text), url, env...); examples < least {
		t.Errorf("only %d examples were found", examples)
	}
}

// runExamplesIn runs the examples of a text, and returns how many there are.
func runExamplesIn(t *testing.T, text, url string, env ...string) (examples int) {
	t.Helper()
	dir := t.TempDir()
	env = append(env, "FAIRLEAD="+url)
	for _, example := range transcript.Of(text) {
		got, err := example.Run(t.Context(), dir, append(os.Environ(), env...))
		if err != nil {
			t.Fatalf("%s: %v", example.Command, err)
		}
		if !example.Fits(got) {
			t.Errorf("$ %s\n got %s\nwant %s", example.Command, got, example.Want)
		}
		env = append(env, learned(url, got)...)
		examples++
	}
	return examples
}

// learned returns the variables for values from a response that later examples use.
func learned(url, answer string) (variables []string) {
	if m := regexp.MustCompile(`^{"id":"(\d+)","session":"([^"]+)"`).FindStringSubmatch(answer); m != nil {
		variables = append(variables, "WORKER="+url+"/api/v1/workers/"+m[1], "SESSION="+m[2])
	}
	if m := regexp.MustCompile(`^{"jobs":.*?"fence":"(\d+)"`).FindStringSubmatch(answer); m != nil {
		variables = append(variables, "FENCE="+m[1])
	}
	return variables
}
