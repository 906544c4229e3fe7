package batch

import "context"

// Draft is a batch under construction. The program adds tasks to the draft and then opens
// it. Lists of batches omit the batch until it is opened.
type Draft struct {
	builder
	client *Client
}

// Begin creates a draft of a batch. It returns ErrInvalid if the batch is invalid or no live
// node knows its type.
func (c *Client) Begin(ctx context.Context, batch Batch) (*Draft, error) {
	in, err := c.newBuilder(ctx, c.store.Nodes, batch)
	if err != nil {
		return nil, err
	}
	if in.batch, err = c.store.CreateBatch(ctx, in.batch); err != nil {
		return nil, err
	}
	in.writer = newChunkWriter(c.store.AddChunks, in.batch.ID, 1, PassForward)
	return &Draft{builder: *in, client: c}, nil
}

// ID returns the batch's ID.
func (n *Draft) ID() int64 { return n.batch.ID }

// Add adds one task per change. It returns ErrInvalid if a change is invalid or no live node
// can perform the task. After an error, the draft accepts no more tasks.
func (n *Draft) Add(ctx context.Context, changes ...Change) error {
	return n.add(ctx, changes)
}

// Open starts the batch. It returns ErrInvalid if no tasks have been added.
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
