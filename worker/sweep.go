package worker

import (
	"context"
	"fmt"

	"connectrpc.com/connect"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/sweep"
	"github.com/fairlead-io/fairlead/sweep/items"
)

// HandleSweep registers the function that handles items for sweeps of the given kind. It is
// the counterpart of items.Handle for workers: the worker fetches and handles the items, and
// reports progress to the service about once a second. The mux must be the one passed to
// Run. The options configure this worker's access to item files and tables. The service's
// own options do not apply. If a sweep uses a file or table that the options do not give
// access to, it stops with an error.
func HandleSweep[T any](mux *fairlead.Mux, kind string, options items.Options, handle func(ctx context.Context, item items.Item[T]) error) {
	items.HandleIn(mux, openBook, kind, options, handle)
}

// serviceKey is where handlers find the service.
type serviceKey struct{}

// openBook is the library of a worker.
func openBook(ctx context.Context, job *fairlead.Job) (items.Book, error) {
	remote, ok := ctx.Value(serviceKey{}).(*service)
	if !ok {
		return nil, fairlead.Fatal(fmt.Errorf("kind %q was registered with worker.HandleSweep and is not run by worker.Run; use sweep.Handle", job.Kind))
	}
	return &shardBook{service: remote, job: job}, nil
}

// shardBook is the book of a shard that the service keeps.
type shardBook struct {
	service *service
	job     *fairlead.Job
}

// Load finds the shard. The service sees to Resume with it.
func (b *shardBook) Load(ctx context.Context) (sweep.Sweep, sweep.Shard, error) {
	bounded, cancel := b.service.brief(ctx)
	defer cancel()
	id, session := b.service.worker()
	out, err := b.service.client.LoadShard(bounded, &fairleadv1.LoadShardRequest{Id: id, Session: session, Job: b.job.ID, Fence: b.job.Fence})
	if err != nil {
		if connect.CodeOf(err) == connect.CodeInvalidArgument && connect.IsWireError(err) {
			return sweep.Sweep{}, sweep.Shard{}, fairlead.Fatal(err)
		}
		return sweep.Sweep{}, sweep.Shard{}, failure(ctx, err)
	}
	found, err := sweepOf(out.GetSweep())
	return found, shardOf(found.ID, b.job, out), err
}

// Resume has nothing to do.
func (b *shardBook) Resume(context.Context) error { return nil }

// Steer has nothing to do: the service does it for runs without a share.
func (b *shardBook) Steer(context.Context) error { return nil }

// Checkpoint tells the service how far the run has come.
func (b *shardBook) Checkpoint(ctx context.Context, c sweep.Checkpoint) (sweep.Orders, error) {
	bounded, cancel := b.service.brief(ctx)
	defer cancel()
	id, session := b.service.worker()
	out, err := b.service.client.SaveShard(bounded, &fairleadv1.SaveShardRequest{
		Id: id, Session: session, Job: c.Job, Fence: c.Fence,
		To: c.To, Mark: &c.Mark, Window: c.Window, Pending: c.Pending, Source: c.Source,
		Done: c.Done, Abandoned: c.Abandoned, Errors: c.Errors, Measured: c.Measured,
		Rate: c.Used.Rate, InFlight: int32(c.Used.InFlight), Ended: c.Ended,
		Failed: failedNotes(c.Failed), Redone: c.Redone, Again: c.Again,
	})
	if err != nil {
		return sweep.Orders{}, failure(ctx, err)
	}
	return sweep.Orders{
		Stop: out.GetStop(), Share: sweep.Share{Rate: out.GetRate(), InFlight: int(out.GetInFlight())}, Data: out.GetArgs(), Left: out.GetBudgetLeft(),
	}, nil
}

// mostNotes is how many notes one call takes.
const mostNotes = 1000

// Retries lists failed items that are to be tried again.
func (b *shardBook) Retries(ctx context.Context, from int64, most int) ([]int64, error) {
	bounded, cancel := b.service.brief(ctx)
	defer cancel()
	id, session := b.service.worker()
	out, err := b.service.client.ListRetries(bounded, &fairleadv1.ListRetriesRequest{
		Id: id, Session: session, Job: b.job.ID, Fence: b.job.Fence, From: from, Limit: int32(most),
	})
	if err != nil {
		return nil, failure(ctx, err)
	}
	return out.GetIndexes(), nil
}

// Items reads the list of the sweep.
func (b *shardBook) Items(ctx context.Context, from int64) ([]string, error) {
	bounded, cancel := b.service.brief(ctx)
	defer cancel()
	id, session := b.service.worker()
	out, err := b.service.client.ListShardItems(bounded, &fairleadv1.ListShardItemsRequest{
		Id: id, Session: session, Job: b.job.ID, Fence: b.job.Fence, From: from,
	})
	if err != nil {
		return nil, failure(ctx, err)
	}
	return out.GetItems(), nil
}

// AddLogs stores lines about items.
func (b *shardBook) AddLogs(ctx context.Context, lines []sweep.Log) error {
	var notes []*fairleadv1.LineNote
	for _, line := range lines {
		notes = append(notes, &fairleadv1.LineNote{Index: &line.Index, Level: levelTo(line.Level), Text: line.Text})
	}
	for len(notes) > 0 {
		n := min(len(notes), mostNotes)
		if err := b.note(ctx, &fairleadv1.NoteItemsRequest{Lines: notes[:n]}); err != nil {
			return err
		}
		notes = notes[n:]
	}
	return nil
}

// Stop stops the sweep.
func (b *shardBook) Stop(ctx context.Context, reason string) error {
	if reason == "" {
		reason = "the worker gave no reason"
	}
	return b.note(ctx, &fairleadv1.NoteItemsRequest{Stop: reason})
}

func (b *shardBook) note(ctx context.Context, in *fairleadv1.NoteItemsRequest) error {
	bounded, cancel := b.service.brief(ctx)
	defer cancel()
	in.Id, in.Session = b.service.worker()
	in.Job, in.Fence = b.job.ID, b.job.Fence
	_, err := b.service.client.NoteItems(bounded, in)
	return failure(ctx, err)
}
