package sim_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/engine"
	tests "github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/internal/tier"
)

// tasksEnv is how many tasks there are; the full test has 5000.
const tasksEnv = "FAIRLEAD_SIM_TASKS"

// The server is restarted in order, and then killed, under the running tasks of a
// batch. What a task remembers is stored, or the task runs again: none fails.
func TestTasksOutliveTheirDatabase(t *testing.T) {
	tier.Long(t, "kills database servers, and waits for leases to end")
	t.Parallel()
	for _, db := range []struct {
		name  string
		start func(context.Context, testdb.Options) (*testdb.Server, error)
		url   func(t *testing.T, admin string) string
	}{
		{"postgres", testdb.StartPostgres, func(_ *testing.T, admin string) string { return admin }},
		{"mariadb", testdb.StartMySQL, newMySQLDatabase},
	} {
		t.Run(db.name, func(t *testing.T) {
			t.Parallel()
			server := privateServer(t, db.start)
			store, err := openPatient(t.Context(), db.url(t, server.URL()))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = store.Close() })
			tasks := setting(t, tasksEnv, 600)
			p := &painters{applied: make(chan int64, 10*tasks)}
			p.start(t, store)
			batch := p.paint(t, store, tasks)
			p.await(t, tasks/4)
			if err := server.Restart(t.Context()); err != nil {
				t.Fatal(err)
			}
			p.await(t, tasks/4)
			if err := server.Kill(); err != nil {
				t.Fatal(err)
			}
			if err := server.Restart(t.Context()); err != nil {
				t.Fatal(err)
			}
			wantPainted(t, store, batch)
		})
	}
}

// painters is a set of nodes that process tasks. Each task remembers the state before it.
type painters struct {
	applied chan int64 // tasks
}

// start runs two nodes until the test ends.
func (p *painters) start(t *testing.T, store driver.Store) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var running sync.WaitGroup
	t.Cleanup(func() { cancel(); running.Wait() })
	for i := range 2 {
		mux := fairlead.NewMux()
		batch.Handle(mux, batch.Operation{
			TargetType: "wall", BatchType: "paint",
			BuildParam: func(context.Context, batch.TaskArgs) (json.RawMessage, error) {
				return json.RawMessage(`{"colour":"old"}`), nil
			},
			Process: func(ctx context.Context, task batch.TaskArgs) error {
				select {
				case <-ctx.Done():
					return ctx.Err()
				case <-time.After(20 * time.Millisecond):
				}
				p.applied <- task.Task
				return nil
			},
		})
		node, err := engine.New(store, mux, engine.Options{Name: fmt.Sprint("painter ", i), Slots: 10, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		running.Go(func() {
			if err := node.Run(ctx); err != nil && !errors.Is(err, context.Canceled) {
				t.Errorf("a node ended with: %v", err)
			}
		})
	}
}

// paint creates a batch of tasks whose state before is unknown.
func (p *painters) paint(t *testing.T, store driver.Store, tasks int) batch.Batch {
	t.Helper()
	changes := make([]batch.Change, tasks)
	for i := range changes {
		changes[i] = batch.Change{Target: batch.Target{ID: fmt.Sprint(i), Type: "wall"}, After: json.RawMessage(`{"colour":"new"}`)}
	}
	client := batch.NewClient(store)
	for begin := time.Now(); ; {
		batch, err := client.Start(t.Context(), batch.Batch{Name: "spring", Type: "paint"}, changes...)
		if err == nil {
			return batch
		}
		if !errors.Is(err, fairlead.ErrInvalid) || time.Since(begin) > tests.Limit { // until a node is there
			t.Fatal(err)
		}
		<-time.After(10 * time.Millisecond)
	}
}

// await returns when so many more tasks have been applied.
func (p *painters) await(t *testing.T, tasks int) {
	t.Helper()
	limit := time.After(tests.Limit)
	for range tasks {
		select {
		case <-p.applied:
		case <-limit:
			t.Fatal("the tasks are not done")
		}
	}
}

// wantPainted waits until a batch has completed, and requires that no task has failed.
func wantPainted(t *testing.T, store driver.Store, b batch.Batch) {
	t.Helper()
	client := batch.NewClient(store)
	for begin := time.Now(); b.EndedAt.IsZero(); {
		found, err := client.Get(t.Context(), b.ID)
		switch {
		case err == nil:
			b = found
		case !errors.Is(err, fairlead.ErrUnavailable):
			t.Fatal(err)
		}
		if time.Since(begin) > tests.Limit {
			t.Fatalf("it has not completed: %+v", b.Tally)
		}
		<-time.After(20 * time.Millisecond)
	}
	if b.Tally == (batch.Tally{Success: b.Total}) {
		return
	}
	t.Errorf("it ended as %+v", b.Tally)
	failed, err := client.Tasks(t.Context(), batch.TaskFilter{Batch: b.ID, States: []batch.TaskState{batch.TaskFail}, Limit: 5})
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range failed {
		t.Errorf("task %d: %s", task.ID, task.Info)
	}
}
