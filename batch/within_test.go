package batch_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/sqlite"
)

// painting is a store, and a client that knows how to paint walls.
func painting(t *testing.T) (*sqlite.Store, *fairlead.Mux, *batch.Client) {
	t.Helper()
	store := sqlitetest.Open(t)
	t.Cleanup(func() { _ = store.Close() })
	mux := fairlead.NewMux()
	batch.Handle(mux, batch.Operation{TargetType: "wall", BatchType: "paint", Process: func(context.Context, batch.TaskArgs) error { return nil }})
	return store, mux, batch.NewClient(store).Knowing(mux)
}

func walls(n int) []batch.Change {
	changes := make([]batch.Change, n)
	for i := range changes {
		changes[i].Target = batch.Target{ID: fmt.Sprint(i), Type: "wall"}
	}
	return changes
}

// start starts a batch of walls within a transaction that commits or not.
func start(t *testing.T, store *sqlite.Store, c *batch.Client, n int, commit bool) batch.Batch {
	t.Helper()
	tx, err := store.DB().BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := c.Within(store.Tx(tx)).Start(t.Context(), batch.Batch{Name: "b", Type: "paint"}, walls(n)...)
	if err != nil {
		t.Fatal(err)
	}
	if err := map[bool]func() error{true: tx.Commit, false: tx.Rollback}[commit](); err != nil {
		t.Fatal(err)
	}
	return b
}

func TestABatchOfATransactionRunsOnceThatCommits(t *testing.T) {
	store, mux, c := painting(t)
	start(t, store, c, 3, false)
	b := start(t, store, c, 3000, true)
	node, err := engine.New(store, mux, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience.Limit)
	defer cancel()
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- node.Run(running) }()
	done, err := c.Wait(ctx, b.ID)
	if err != nil || done.State() != batch.Success || done.Tally.Success != 3000 {
		t.Errorf("it ended as %s with %+v, %v", done.State(), done.Tally, err)
	}
	stop()
	if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if all, err := c.List(t.Context(), batch.Filter{}); len(all) != 1 || err != nil {
		t.Errorf("there are %d batches, %v", len(all), err)
	}
}

func TestABatchOfATransactionIsRefusedAsOthersAre(t *testing.T) {
	store, _, c := painting(t)
	tx, err := store.DB().BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback() //nolint:errcheck // it only has to end
	within := c.Within(store.Tx(tx))
	for want, try := range map[string]func() error{
		"type: is \"wash\"": func() error {
			return only(within.Start(t.Context(), batch.Batch{Name: "b", Type: "wash"}, walls(1)...))
		},
		"tasks: is empty": func() error { return only(within.Start(t.Context(), batch.Batch{Name: "b", Type: "paint"})) },
		"tasks: has 10001 entries": func() error {
			return only(within.Start(t.Context(), batch.Batch{Name: "b", Type: "paint"}, walls(batch.MaxWithin+1)...))
		},
	} {
		if err := try(); !errors.Is(err, fairlead.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("want %s: %v", want, err)
		}
	}
}

func only(_ batch.Batch, err error) error { return err }

func TestWaitEndsWithItsContext(t *testing.T) {
	_, _, c := painting(t)
	b, err := c.Start(t.Context(), batch.Batch{Name: "b", Type: "paint"}, walls(1)...)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Wait(ctx, b.ID); !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
	if _, err := c.Wait(t.Context(), b.ID+1); !errors.Is(err, fairlead.ErrNotFound) {
		t.Errorf("of a batch that there is not: %v", err)
	}
}
