package batch

import "context"

// Rehearsal takes the tasks of a batch as a Draft does, and stores nothing: it is for
// programs that show what would be refused before they begin.
type Rehearsal struct {
	intake
}

// Rehearse checks a batch, to check tasks of it. It fails with ErrInvalid, also if no live
// node knows its type.
func (c *Client) Rehearse(ctx context.Context, batch Batch) (*Rehearsal, error) {
	in, err := c.intake(ctx, c.store.Nodes, batch)
	if err != nil {
		return nil, err
	}
	in.writer = newChunkWriter(func(context.Context, int64, []Chunk) error { return nil }, 0, 1, PassForward)
	return &Rehearsal{intake: *in}, nil
}

// Add checks tasks. It fails with ErrInvalid as Draft.Add does; more can be added all the
// same.
func (r *Rehearsal) Add(ctx context.Context, changes ...Change) error { return r.add(ctx, changes) }

// Close returns how many tasks there are. It fails with ErrInvalid if there is none.
func (r *Rehearsal) Close(ctx context.Context) (total int, err error) { return r.close(ctx) }
