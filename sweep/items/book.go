package items

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/sweep"
)

// Book reads and writes a shard's progress on behalf of the run that processes it. A node's
// books use the node's store. A remote worker's books use the service.
type Book interface {
	// Load reads the shard. An error that a retry cannot fix is fairlead.Fatal.
	Load(ctx context.Context) (sweep.Sweep, sweep.Shard, error)
	// Resume reports that the run continues a shard that another run had begun.
	Resume(ctx context.Context) error
	// Steer shares the rate of the sweep again, so that the run gets its share. It does
	// nothing if another node holds the sweep's lock.
	Steer(ctx context.Context) error
	// Checkpoint stores the run's progress and returns its next orders. It returns
	// fairlead.ErrLeaseLost if the run has lost its lease.
	Checkpoint(ctx context.Context, checkpoint sweep.Checkpoint) (sweep.Orders, error)
	// Retries lists at most the given number of failed items of the shard that wait for a
	// retry, starting at an index.
	Retries(ctx context.Context, from int64, most int) ([]int64, error)
	// Items returns items of the list that is stored with the sweep, starting at an index.
	// See sweep.Store.
	Items(ctx context.Context, from int64) ([]string, error)
	// AddLogs stores log lines about items.
	AddLogs(ctx context.Context, lines []sweep.Log) error
	// Stop stops the sweep. Stopping a sweep that no longer runs has no effect.
	Stop(ctx context.Context, reason string) error
}

// Library returns the book for the shard that a job processes. The book is valid until the
// job's run ends.
type Library func(ctx context.Context, job *fairlead.Job) (Book, error)

// inStore is the library of a store.
func inStore(store sweep.Store) Library {
	client := sweep.NewClient(store)
	return func(_ context.Context, job *fairlead.Job) (Book, error) {
		b := &storeBook{store: store, client: client, job: job}
		if err := json.Unmarshal(job.Args, &b.args); err != nil {
			return nil, fairlead.Fatal(fmt.Errorf("args: %w", err))
		}
		return b, nil
	}
}

// storeBook is the book of a shard in a store.
type storeBook struct {
	store  sweep.Store
	client *sweep.Client
	job    *fairlead.Job
	args   sweep.ShardArgs
	shard  sweep.Shard // as it was loaded
}

// Load finds the shard of the job.
func (b *storeBook) Load(ctx context.Context) (sweep.Sweep, sweep.Shard, error) {
	s, err := b.client.ByID(ctx, b.args.Sweep)
	if errors.Is(err, fairlead.ErrNotFound) {
		return s, sweep.Shard{}, fairlead.Fatal(err)
	}
	if err != nil {
		return s, sweep.Shard{}, err
	}
	shards, err := b.store.Shards(ctx, b.args.Sweep)
	if err != nil {
		return s, sweep.Shard{}, err
	}
	if b.args.Shard < 0 || b.args.Shard >= len(shards) || shards[b.args.Shard].Job != b.job.ID {
		// Any caller may enqueue such a job; only a sweep employs one.
		return s, sweep.Shard{}, fairlead.Fatal(fmt.Errorf("sweep %d has no shard %d that this job processes", b.args.Sweep, b.args.Shard))
	}
	b.shard = shards[b.args.Shard]
	return s, b.shard, nil
}

// Resume tells the business, if it wants to know.
func (b *storeBook) Resume(ctx context.Context) error {
	return sweep.Resume(ctx, b.store, b.args.Sweep)
}

// Steer looks at the sweep.
func (b *storeBook) Steer(ctx context.Context) error {
	return sweep.Steer(ctx, b.store, b.args.Sweep)
}

// Checkpoint stores how far the run has come.
func (b *storeBook) Checkpoint(ctx context.Context, checkpoint sweep.Checkpoint) (sweep.Orders, error) {
	return b.store.Checkpoint(ctx, checkpoint)
}

// Retries lists failed items that are to be tried again.
func (b *storeBook) Retries(ctx context.Context, from int64, most int) ([]int64, error) {
	return sweep.ShardRetries(ctx, b.store, b.shard, from, most)
}

// Items reads the list of the sweep.
func (b *storeBook) Items(ctx context.Context, from int64) ([]string, error) {
	return b.store.SweepItems(ctx, b.args.Sweep, from)
}

// AddLogs stores lines about items.
func (b *storeBook) AddLogs(ctx context.Context, lines []sweep.Log) error {
	return b.store.AddSweepLogs(ctx, lines)
}

// Stop stops the sweep; its history names no one for it.
func (b *storeBook) Stop(ctx context.Context, reason string) error {
	_, err := b.client.Stop(ctx, b.args.Sweep, "", reason)
	if errors.Is(err, fairlead.ErrConflict) || errors.Is(err, fairlead.ErrNotFound) {
		return nil // it does not run any more
	}
	return err
}
