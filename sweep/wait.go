package sweep

import (
	"context"

	"github.com/fairlead-io/fairlead/internal/await"
)

// Wait blocks until a sweep has stopped or finished. It keeps waiting if the sweep was never
// started or is waiting at its gate. Wait returns ErrNotFound if the sweep does not exist.
// If ctx ends first, Wait returns its error together with the sweep's last known state.
func (c *Client) Wait(ctx context.Context, id int64) (Sweep, error) {
	return await.Until(ctx, func(ctx context.Context) (Sweep, bool, error) {
		s, err := c.ByID(ctx, id)
		return s, s.State == Stopped || s.State == Finished, err
	})
}
