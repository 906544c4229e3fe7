package batch

import (
	"context"

	"github.com/fairlead-io/fairlead/internal/await"
)

// Wait waits until a batch has completed: every task has ended, and nothing is to be
// retried or rolled back. A paused batch is waited for as long as it is paused. It fails
// with ErrNotFound, and with the error of the context, together with the batch as it was
// seen last.
func (c *Client) Wait(ctx context.Context, id int64) (Batch, error) {
	return await.Until(ctx, func(ctx context.Context) (Batch, bool, error) {
		b, err := c.Get(ctx, id)
		return b, !b.EndedAt.IsZero(), err
	})
}
