package postgres

import (
	"context"
	"log/slog"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/internal/patience"
)

// A transaction that is open on one key holds up the run that wants this key, and no
// other replacement, nor a job that replaces nothing.
func TestAnOpenTransactionOnAKeyHoldsUpTheRunThatWantsThisKeyAlone(t *testing.T) {
	at := migrated.Postgres(t)
	store := open(t, at, Options{QueryTimeout: 2 * patience.Limit})
	client := fairlead.NewClient(store)
	mux := fairlead.NewMux()
	ended := make(chan string, 10)
	mux.Handle("replace", fairlead.HandlerOptions{}, fairlead.HandlerFunc(func(_ context.Context, job *fairlead.Job) error {
		ended <- string(job.Args)
		return fairlead.Replace(&fairlead.Job{Kind: "next", Key: string(job.Args), OnDuplicate: fairlead.KeepDuplicate})
	}))
	mux.Handle("plain", fairlead.HandlerOptions{}, fairlead.HandlerFunc(func(context.Context, *fairlead.Job) error { return nil }))
	node, err := engine.New(store, mux, engine.Options{Name: "n", Slots: 2, QueueSize: 2, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	tx, err := connect(t, at).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	held := []*fairlead.Job{{Kind: "next", Key: `"held"`}}
	if err := fairlead.NormalizeJobs(held); err != nil {
		t.Fatal(err)
	}
	if err := store.Tx(tx).Enqueue(t.Context(), held); err != nil {
		t.Fatal(err)
	}
	running, stop := context.WithCancel(t.Context())
	over := make(chan error, 1)
	go func() { over <- node.Run(running) }()
	enqueue := func(kind, args string) *fairlead.Job {
		t.Helper()
		job := &fairlead.Job{Kind: kind, Args: []byte(args)}
		if err := client.Enqueue(t.Context(), job); err != nil {
			t.Fatal(err)
		}
		return job
	}
	await := func(what string, job *fairlead.Job) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), patience.Limit)
		defer cancel()
		done, err := client.Wait(ctx, job.ID)
		if err != nil || done.State != fairlead.Succeeded {
			t.Errorf("%s: %v, %v", what, done, err)
		}
	}
	waiting := enqueue("replace", `"held"`)
	<-ended
	await("a replacement under a free key", enqueue("replace", `"free"`))
	var others []*fairlead.Job
	for _, key := range []string{`"a"`, `"b"`, `"c"`, `"d"`, `"e"`} {
		others = append(others, enqueue("replace", key))
	}
	await("a job that replaces nothing", enqueue("plain", `""`))
	for _, job := range others {
		await("another replacement", job)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Error(err)
	}
	await("the replacement whose key was held", waiting)
	stop()
	if err := <-over; err != nil {
		t.Error(err)
	}
}
