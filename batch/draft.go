package batch

import "context"

// Draft is a batch in the making: tasks are added to it, and it cannot be seen
// before it is opened.
type Draft struct {
	intake
	client *Client
}

// Begin makes a batch to add tasks to. It fails with ErrInvalid, also if no live
// node knows its type.
func (c *Client) Begin(ctx context.Context, batch Batch) (*Draft, error) {
	in, err := c.intake(ctx, c.store.Nodes, batch)
	if err != nil {
		return nil, err
	}
	if in.batch, err = c.store.CreateBatch(ctx, in.batch); err != nil {
		return nil, err
	}
	in.writer = newChunkWriter(c.store.AddChunks, in.batch.ID, 1, PassForward)
	return &Draft{intake: *in, client: c}, nil
}

// ID is that of the batch.
func (n *Draft) ID() int64 { return n.batch.ID }

// Add adds tasks. It fails with ErrInvalid, also if no live node knows how to do
// such a task, and then nothing more can be added.
func (n *Draft) Add(ctx context.Context, changes ...Change) error {
	return n.add(ctx, changes)
}

// Open lets the batch begin: from now on it can be seen. It fails with ErrInvalid if
// it has no tasks.
func (n *Draft) Open(ctx context.Context) (Batch, error) {
	total, err := n.close(ctx)
	if err != nil {
		return Batch{}, err
	}
	return n.client.act(ctx, n.batch.ID, func(b *Record) error {
		if !b.Opened { // else the answer was lost
			b.open(total, n.generics())
		}
		return nil
	})
}
