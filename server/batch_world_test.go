package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/server"
)

// walls are what batches of the type paint are done to.
type walls struct {
	mu      sync.Mutex
	colours map[string]string
	wet     map[string]bool // these cannot be painted
	held    chan struct{}   // nil: painting does not wait; else painting waits until it is closed
}

func (w *walls) colour(id string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.colours[id]
}

func (w *walls) dry(id string, dry bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wet[id] = !dry
}

func (w *walls) operation() batch.Operation {
	return batch.Operation{
		TargetType: "wall", BatchType: "paint",
		Check: func(task batch.TaskArgs) error {
			if strings.Contains(string(task.After), "invisible") {
				return fairlead.Invalid(fairlead.FieldError{Field: "after.colour", Message: "cannot be seen; choose another"})
			}
			return nil
		},
		BuildParam: func(_ context.Context, task batch.TaskArgs) (json.RawMessage, error) {
			return json.Marshal(map[string]string{"colour": w.colour(task.Target.ID)})
		},
		Process: func(ctx context.Context, task batch.TaskArgs) error {
			if w.held != nil {
				select {
				case <-w.held:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			var want struct{ Colour string }
			if err := json.Unmarshal(task.After, &want); err != nil {
				return err
			}
			w.mu.Lock()
			defer w.mu.Unlock()
			if w.wet[task.Target.ID] {
				return errors.New("the wall is wet")
			}
			w.colours[task.Target.ID] = want.Colour
			return nil
		},
	}
}

// newPaintedAPI serves a store with a node that paints walls.
func newPaintedAPI(t testing.TB) (*api, *walls) {
	store := sqlitetest.Open(t)
	world := &walls{colours: map[string]string{}, wet: map[string]bool{}}
	mux := fairlead.NewMux()
	batch.Handle(mux, world.operation())
	log := slog.New(slog.DiscardHandler)
	node, err := engine.New(store, mux, engine.Options{Name: "here", Slots: 4, Poll: 20 * time.Millisecond, Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	handler, err := server.New(node, store, server.Options{Version: "test", Log: log, Kinds: mux})
	if err != nil {
		t.Fatal(err)
	}
	a := &api{TB: t, url: served(t, handler, store), store: store}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- node.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	a.eventually("the node joins", node.Ready)
	return a, world
}

const batches = "/api/v1/batches"

// untilState waits for a batch to be in a state.
func (a *api) untilState(path, want string) (batch map[string]any) {
	a.Helper()
	a.eventually(path+" is "+want, func() bool {
		batch, _ = a.send(200, "GET", path, "")
		return batch["state"] == want
	})
	return batch
}

func tallyOf(batch map[string]any, state string) float64 {
	return batch["tally"].(map[string]any)[state].(float64)
}

// refusals returns the fields of a problem with their messages.
func refusals(problem map[string]any) map[string]string {
	out := map[string]string{}
	list, _ := problem["errors"].([]any)
	for _, entry := range list {
		e := entry.(map[string]any)
		out[e["field"].(string)] = e["message"].(string)
	}
	return out
}
