package batch

import (
	"context"

	"github.com/fairlead-io/fairlead/internal/await"
)

// Wait blocks until a batch has completed, that is, until every task has ended and nothing
// is left to retry or roll back. It keeps waiting while the batch is paused. Wait returns
// ErrNotFound if the batch does not exist. If ctx ends first, Wait returns its error
// together with the batch's last known state.
func (c *Client) Wait(ctx context.Context, id int64) (Batch, error) {
	return await.Until(ctx, func(ctx context.Context) (Batch, bool, error) {
		b, err := c.Get(ctx, id)
		return b, !b.EndedAt.IsZero(), err
	})
}
