package server_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/httpcall"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/server"
	"github.com/fairlead-io/fairlead/sweep"
)

// counting goes over the shards of sweeps of the kind count: half of each when it is
// begun, and the rest when it is let.
type counting struct {
	store server.Store
	held  chan struct{}
}

func (c *counting) work(ctx context.Context, job *fairlead.Job) error {
	var args sweep.ShardArgs
	if err := json.Unmarshal(job.Args, &args); err != nil {
		return err
	}
	shards, err := c.store.Shards(ctx, args.Sweep)
	if err != nil {
		return err
	}
	shard := shards[args.Shard]
	if shard.Again > 0 {
		return c.again(ctx, job, shard)
	}
	half := max(shard.Mark, shard.From+(shard.To-shard.From)/2)
	odd := []sweep.FailedItem{{Index: shard.From, Attempts: 5, Error: "it is odd"}}
	save := func(mark int64, ended bool) (sweep.Orders, error) {
		orders, err := c.store.Checkpoint(ctx, sweep.Checkpoint{
			Sweep: args.Sweep, Number: args.Shard, Job: job.ID, Fence: job.Fence, Mark: mark,
			Done: mark - shard.From - 1, Abandoned: 1, Errors: 5, Measured: 10, Ended: ended, Failed: odd,
		})
		if err != nil {
			return orders, err
		}
		return orders, sweep.Steer(ctx, c.store, args.Sweep)
	}
	ticks := time.NewTicker(10 * time.Millisecond)
	defer ticks.Stop()
	for {
		orders, err := save(half, false)
		if err != nil || orders.Stop {
			return err
		}
		select {
		case <-c.held:
			_, err := save(shard.To, true)
			return err
		case <-ctx.Done():
			return ctx.Err()
		case <-ticks.C:
		}
	}
}

// again handles a shard with items to retry: it processes them once the test permits it.
func (c *counting) again(ctx context.Context, job *fairlead.Job, shard sweep.Shard) error {
	select {
	case <-c.held:
	case <-ctx.Done():
		return ctx.Err()
	}
	items, err := c.store.FailedItems(ctx, sweep.ItemFilter{Sweep: shard.Sweep, Again: true})
	if err != nil {
		return err
	}
	last := sweep.Checkpoint{
		Sweep: shard.Sweep, Number: shard.Number, Job: job.ID, Fence: job.Fence, Mark: shard.Mark,
		Done: shard.Done + shard.Again, Abandoned: shard.Abandoned - shard.Again, Ended: true,
	}
	for _, item := range items {
		last.Redone = append(last.Redone, item.Index)
	}
	if _, err := c.store.Checkpoint(ctx, last); err != nil {
		return err
	}
	return sweep.Steer(ctx, c.store, shard.Sweep)
}

// newCountingAPI serves a store with a node that counts items, and that manages sweeps
// whose shards have ended.
func newCountingAPI(t testing.TB) (*api, *counting) {
	store := sqlitetest.Open(t)
	world := &counting{store: store, held: make(chan struct{})}
	mux := fairlead.NewMux()
	mux.Handle(sweep.KindOf("count"), fairlead.HandlerOptions{}, fairlead.HandlerFunc(world.work))
	log := slog.New(slog.DiscardHandler)
	node, err := engine.New(store, mux, engine.Options{Name: "here", Slots: 4, Poll: 20 * time.Millisecond, Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	guard, err := httpcall.NewGuard(nil, true)
	if err != nil {
		t.Fatal(err)
	}
	handler, err := server.New(node, store, server.Options{Version: "test", Log: log, Guard: guard})
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

const sweeps = "/api/v1/sweeps"

// untilSweep waits for a sweep to be as wanted, and sees to it as nodes do.
func (a *api) untilSweep(path, what string, holds func(sweep map[string]any) bool) (s map[string]any) {
	a.Helper()
	a.eventually(path+" is "+what, func() bool {
		s, _ = a.send(200, "GET", path, "")
		if holds(s) {
			return true
		}
		found, err := a.store.Sweeps(a.Context(), sweep.Filter{Names: []string{s["name"].(string)}})
		if err != nil || len(found) != 1 {
			a.Fatalf("%v: %v", found, err)
		}
		if err := sweep.Steer(a.Context(), a.store, found[0].ID); err != nil {
			a.Fatal(err)
		}
		return false
	})
	return s
}

// inState returns a condition: whether a sweep is in the given state.
func inState(state string) func(map[string]any) bool {
	return func(sweep map[string]any) bool { return sweep["state"] == state }
}
