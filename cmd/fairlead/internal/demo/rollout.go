package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
)

const (
	hosts = 400
	// rest is how long a completed batch stays unchanged, so that users can retry it or roll
	// it back, before the next one begins.
	rest = 15 * time.Minute
)

// rolloutArgs contains the args of the job that starts a batch.
type rolloutArgs struct {
	After int64 `json:"after"` // ID of the previous batch; zero = none
}

// registerRollout adds the operation on hosts, and the handler that starts a batch of it.
func (d *Demo) registerRollout(mux *fairlead.Mux) {
	batch.Handle(mux, batch.Operation{
		TargetType: targetType, BatchType: batchType,
		BuildParam: func(context.Context, batch.TaskArgs) (json.RawMessage, error) {
			return json.RawMessage(`{"openssl":"3.0.13"}`), nil
		},
		Process: upgrade, Undo: downgrade,
	})
	fairlead.NewKind[rolloutArgs](rolloutKind).Handle(mux, d.rollOut)
}

// hostOf returns the number of a target, and the job that processes it: a later job of the
// same task may end differently.
func hostOf(ctx context.Context, task batch.TaskArgs) (host, job int64) {
	if _, err := fmt.Sscanf(task.Target.ID, "edge-%d", &host); err != nil {
		return 0, 0
	}
	if running, ok := fairlead.RunningJob(ctx); ok {
		job = running.ID
	}
	return host, job
}

// upgrade fails on one host in sixteen, and less often on a retry.
func upgrade(ctx context.Context, task batch.TaskArgs) error {
	host, job := hostOf(ctx, task)
	if err := work(ctx, time.Duration(200+host*37%700)*time.Millisecond); err != nil {
		return err
	}
	if host%16 != 0 || job%3 == 0 {
		return nil
	}
	if host%32 == 0 {
		return fmt.Errorf("%s: ssh: handshake failed: read: connection reset by peer", task.Target.ID)
	}
	return fmt.Errorf("%s: openssl 3.0.19 is held back: libcurl4 depends on openssl (< 3.0.18)", task.Target.ID)
}

// downgrade restores the old version, which some hosts no longer have.
func downgrade(ctx context.Context, task batch.TaskArgs) error {
	host, job := hostOf(ctx, task)
	if err := work(ctx, time.Duration(100+host*53%300)*time.Millisecond); err != nil {
		return err
	}
	if host%50 == 0 && job%2 == 0 {
		return errors.New("openssl 3.0.13 is no longer in the package archive")
	}
	return nil
}

// rollOut starts a batch, unless an earlier attempt of the job has done so.
func (d *Demo) rollOut(ctx context.Context, _ *fairlead.Job, args rolloutArgs) error {
	last, err := d.lastBatch(ctx)
	if err != nil || last.ID > args.After {
		return err
	}
	changes := make([]batch.Change, hosts)
	for i := range changes {
		id := fmt.Sprintf("edge-%03d", i+1)
		changes[i] = batch.Change{
			Target: batch.Target{ID: id, Name: id + ".acme.example", Type: targetType, Env: "prod"},
			After:  json.RawMessage(`{"openssl":"3.0.19"}`),
		}
	}
	started, err := d.batches.Start(ctx, batch.Batch{
		Name: batchName, Type: batchType, Description: "openssl 3.0.13 to 3.0.19 on the edge hosts",
		Creator: "release-train", Env: "prod", AZ: "eu-west-1a", Service: "edge", Info: json.RawMessage(`{"change":"CHG-2048"}`), Tenant: acme,
		MaxRunning: 6, Rate: 3, Canary: batch.Canary{Tasks: 10, Ratio: 0.5}, StopAfter: batch.Threshold{Percent: 25},
	}, changes...)
	if err != nil {
		return err
	}
	return fairlead.SetOutput(ctx, map[string]any{"batch": started.ID, "hosts": hosts})
}

// lastBatch returns the newest batch; its ID is zero if there is none.
func (d *Demo) lastBatch(ctx context.Context) (batch.Batch, error) {
	found, err := d.batches.List(ctx, batch.Filter{Names: []string{batchName}, Tenants: []string{acme}, Limit: 1})
	if err != nil || len(found) == 0 {
		return batch.Batch{}, err
	}
	return found[0], nil
}

// tendBatch enqueues the job that starts the next batch after the rest period of the last
// one. The key of the job contains the last batch, so that only one of several nodes
// enqueues it.
func (d *Demo) tendBatch(ctx context.Context, now time.Time) error {
	last, err := d.lastBatch(ctx)
	if err != nil || last.ID != 0 && (last.EndedAt.IsZero() || now.Sub(last.EndedAt) < rest) {
		return err
	}
	job := fairlead.NewKind[rolloutArgs](rolloutKind).Job(rolloutArgs{After: last.ID})
	job.Tenant, job.Key, job.KeyScope, job.OnDuplicate = acme, fmt.Sprint("demo rollout after ", last.ID), fairlead.KeyForever, fairlead.KeepDuplicate
	return d.jobs.Enqueue(ctx, job)
}
