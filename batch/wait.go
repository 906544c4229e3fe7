package batch

import (
	"context"

	"github.com/fairlead-io/fairlead/internal/await"
)

// Wait blocks until a batch has completed, that is, until every task has ended and
// nothing is left to retry or roll back. It keeps waiting while the batch is paused.
// Wait returns ErrNotFound for an unknown batch. If the context ends first, Wait
// returns the context's error with the last known state of the batch.
func (c *Client) Wait(ctx context.Context, id int64) (Batch, error) {
	return await.Until(ctx, func(ctx context.Context) (Batch, bool, error) {
		b, err := c.Get(ctx, id)
		return b, !b.EndedAt.IsZero(), err
	})
}
