package storetest

import (
	"context"
	"errors"
	"time"

	"github.com/fairlead-io/fairlead"
)

// Idle does once, in the order of their pace, all that a node without work asks of
// its store again and again. Tests of a store count what the store reads meanwhile:
// lanes that hold nothing must not show in it, however many there are.
func Idle(ctx context.Context, store fairlead.Store, node fairlead.NodeID, scope *fairlead.Scope) error {
	const most = 1000
	claim := fairlead.Claim{Node: node, Scope: scope, Max: 32}
	suspects := claim
	suspects.Max, suspects.Solo = 1, true
	never := func(fairlead.Schedule, fairlead.View) fairlead.Plan { return fairlead.Plan{} }
	for _, step := range []func() error{
		func() error {
			_, err := store.Beat(ctx, fairlead.Beat{Node: node, Lease: time.Hour, Idle: claim.Max})
			return err
		},
		func() error { return claimNothing(ctx, store, claim) },
		func() error { return claimNothing(ctx, store, suspects) },
		func() error { return second(store.Promote(ctx, most)) },
		func() error { return second(store.Expire(ctx, most)) },
		func() error { return second(store.Tick(ctx, most, never)) },
		func() error { return second(store.Batches(ctx, fairlead.BatchFilter{Open: true})) },
		func() error {
			return second(store.Sweeps(ctx, fairlead.SweepFilter{States: []fairlead.SweepState{fairlead.SweepRunning}}))
		},
		func() error { return second(store.Reap(ctx, fairlead.Reap{By: node, MaxCrashes: 1, Limit: most})) },
		func() error { return second(store.Nodes(ctx)) },
		func() error { return second(store.Held(ctx, node)) },
		func() error { return store.Report(ctx, nil) },
		func() error { // what watches for stalls asks
			return second(store.Find(ctx, fairlead.Filter{States: []fairlead.State{fairlead.Ready}, Kinds: scope.Kinds, Queues: scope.Queues}))
		},
		func() error { return second(store.Usage(ctx)) }, // a scrape
		func() error {
			return second(store.Prune(ctx, fairlead.Retention{Succeeded: time.Hour, Failed: time.Hour, Cancelled: time.Hour, Skipped: time.Hour}, most))
		},
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func claimNothing(ctx context.Context, store fairlead.Store, claim fairlead.Claim) error {
	jobs, err := store.Claim(ctx, claim)
	if len(jobs) > 0 {
		return errors.New("a store without jobs gave some")
	}
	return err
}

func second[T any](_ T, err error) error { return err }
