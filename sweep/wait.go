package sweep

import (
	"context"

	"github.com/fairlead-io/fairlead/internal/await"
)

// Wait waits until a sweep has stopped or finished. One that was never started, or waits
// for the business, is waited for. It fails with ErrNotFound, and with the error of the
// context, together with the sweep as it was seen last.
func (c *Client) Wait(ctx context.Context, id int64) (Sweep, error) {
	return await.Until(ctx, func(ctx context.Context) (Sweep, bool, error) {
		s, err := c.ByID(ctx, id)
		return s, s.State == Stopped || s.State == Finished, err
	})
}
