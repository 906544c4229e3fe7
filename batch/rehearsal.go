package batch

import "context"

// Rehearsal checks a batch's tasks as a Draft does, but stores nothing. Programs use it to
// report invalid tasks before starting a batch.
type Rehearsal struct {
	builder
}

// Rehearse checks a batch and returns a Rehearsal for checking its tasks. It returns
// ErrInvalid if the batch is invalid or no live node knows its type.
func (c *Client) Rehearse(ctx context.Context, batch Batch) (*Rehearsal, error) {
	in, err := c.newBuilder(ctx, c.store.Nodes, batch)
	if err != nil {
		return nil, err
	}
	in.writer = newChunkWriter(func(context.Context, int64, []Chunk) error { return nil }, 0, 1, PassForward)
	return &Rehearsal{builder: *in}, nil
}

// Add checks one task per change. It returns ErrInvalid under the same conditions as
// Draft.Add, but accepts more tasks after an error.
func (r *Rehearsal) Add(ctx context.Context, changes ...Change) error { return r.add(ctx, changes) }

// Close returns the number of tasks that were added. It returns ErrInvalid if no tasks were
// added.
func (r *Rehearsal) Close(ctx context.Context) (total int, err error) { return r.close(ctx) }
