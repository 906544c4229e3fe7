package storetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/hold"
	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/sweep"
)

// IdleRounds is the number of rounds for which the reads of an idle node are counted.
const IdleRounds = 3

// EmptyLanesCostNothing checks that an idle node reads no more with 20,000 empty lanes than
// with 20. reads returns the amount read in IdleRounds, on a separate store, with an
// optional limit.
func EmptyLanesCostNothing(t *testing.T, reads func(t *testing.T, lanes int, limit *fairlead.Limit) int64) {
	t.Helper()
	const few, slack = 20, 50
	many := tier.Size(t, 1000, 20_000, "has more lanes")
	for name, limit := range map[string]*fairlead.Limit{
		"without limits":       nil,
		"under a global limit": {Scope: fairlead.LimitGlobal, MaxRunning: 100},
	} {
		t.Run(name, func(t *testing.T) {
			least := reads(t, few, limit)
			most := reads(t, many, limit)
			for try := 1; most > least+slack && try < 3; try++ {
				most = min(most, reads(t, many, limit)) // a busy server may count earlier reads late
			}
			if most > least+slack {
				t.Errorf("%d rounds of an idle node read %d with %d empty lanes, and %d with %d", IdleRounds, most, many, least, few)
			}
		})
	}
}

// IdleNode joins a node without work, with an optional limit, and returns a function that
// performs n rounds of all of the node's queries.
func IdleNode(t *testing.T, store Store, limit *fairlead.Limit) (rounds func(n int)) {
	t.Helper()
	scope := &driver.Scope{Kinds: []string{IdleKind}}
	node, err := store.Join(t.Context(), fairlead.Node{Name: "idle", Kinds: scope.Kinds, Slots: 32}, time.Hour)
	if err == nil && limit != nil {
		err = store.SetLimit(t.Context(), *limit)
	}
	if err != nil {
		t.Fatal(err)
	}
	return func(n int) {
		t.Helper()
		for range n {
			if err := askEverything(t.Context(), store, node, scope); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// IdleKind is the kind of jobs that such a node would run.
const IdleKind = "a"

// askEverything makes all periodic queries of an idle node once, in the order of their
// intervals.
func askEverything(ctx context.Context, store Store, node fairlead.NodeID, scope *driver.Scope) error {
	const most = 1000
	claim := driver.Claim{Node: node, Scope: scope, Max: 32}
	suspects := claim
	suspects.Max, suspects.Solo = 1, true
	never := func(schedule.Schedule, schedule.View) schedule.Plan { return schedule.Plan{} }
	for _, step := range []func() error{
		func() error {
			_, err := store.Beat(ctx, driver.Beat{Node: node, Lease: time.Hour, Idle: claim.Max})
			return err
		},
		func() error { return claimNothing(ctx, store, claim) },
		func() error { return claimNothing(ctx, store, suspects) },
		func() error { return second(store.Promote(ctx, most)) },
		func() error { return second(store.Overdue(ctx, most)) },
		func() error { return second(store.Tick(ctx, most, never)) },
		func() error { return second(store.Batches(ctx, batch.Filter{Open: true})) },
		func() error {
			return second(store.Sweeps(ctx, sweep.Filter{States: []sweep.State{sweep.Running}}))
		},
		func() error { return second(store.Reap(ctx, driver.Reap{By: node, MaxCrashes: 1, Limit: most})) },
		func() error { return second(store.Nodes(ctx)) },
		func() error { return second(store.Held(ctx, node)) },
		func() error { return store.Report(ctx, nil) },
		func() error { // query of the stall check
			return second(store.Find(ctx, fairlead.Filter{States: []fairlead.State{fairlead.Ready}, Kinds: scope.Kinds, Queues: scope.Queues}))
		},
		func() error { return second(store.Usage(ctx)) }, // query of a metrics scrape
		func() error { return second(store.HoldLook(ctx)) },
		func() error { return second(store.HeldBack(ctx, hold.Place{})) },
		func() error {
			return second(store.Prune(ctx, driver.Retention{Succeeded: time.Hour, Failed: time.Hour, Cancelled: time.Hour, Skipped: time.Hour}, most))
		},
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func claimNothing(ctx context.Context, store Store, claim driver.Claim) error {
	jobs, err := store.Claim(ctx, claim)
	if len(jobs) > 0 {
		return errors.New("a store without jobs gave some")
	}
	return err
}

func second[T any](_ T, err error) error { return err }
