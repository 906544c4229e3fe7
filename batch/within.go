package batch

import (
	"context"
	"fmt"

	"github.com/fairlead-io/fairlead"
)

// MaxWithin is the maximum number of tasks in a batch that is started inside a transaction.
const MaxWithin = 10_000

// Within returns a client that works inside the caller's transaction tx, which the store's
// Tx method returns.
func (c *Client) Within(tx CallerTx) *TxClient { return &TxClient{client: c, tx: tx} }

// TxClient starts batches inside the caller's transaction. The batches start when the caller
// commits.
type TxClient struct {
	client *Client
	tx     CallerTx
}

// Start creates a batch of at most MaxWithin tasks. The batch starts when the caller
// commits, and is discarded if the caller rolls back. Start returns ErrInvalid if the batch
// or a change is invalid, or if no live node can perform the tasks.
func (c *TxClient) Start(ctx context.Context, batch Batch, changes ...Change) (Batch, error) {
	if len(changes) > MaxWithin {
		return Batch{}, &fairlead.InvalidError{Fields: []fairlead.FieldError{{Field: "tasks", Message: fmt.Sprintf(
			"has %d entries; a transaction can store at most %d: start the batch after the commit", len(changes), MaxWithin)}}}
	}
	in, err := c.client.newBuilder(ctx, c.tx.Nodes, batch)
	if err != nil {
		return Batch{}, err
	}
	var chunks []Chunk
	in.writer = newChunkWriter(func(_ context.Context, _ int64, some []Chunk) error {
		chunks = append(chunks, some...)
		return nil
	}, 0, 1, PassForward)
	if err := in.add(ctx, changes); err != nil {
		return Batch{}, err
	}
	total, err := in.close(ctx)
	if err != nil {
		return Batch{}, err
	}
	record := Record{Batch: in.batch}
	record.open(total, in.generics())
	if record, err = c.tx.AddBatch(ctx, record, chunks); err != nil {
		return Batch{}, err
	}
	return record.forUser(), nil
}
