package sweep

import (
	"context"

	"github.com/fairlead-io/fairlead/internal/await"
)

// Wait blocks until a sweep has stopped or finished. It keeps waiting if the sweep was
// never started or is waiting at its gate. Wait returns ErrNotFound for an unknown
// sweep. If the context ends first, Wait returns the context's error with the last
// known state of the sweep.
func (c *Client) Wait(ctx context.Context, id int64) (Sweep, error) {
	return await.Until(ctx, func(ctx context.Context) (Sweep, bool, error) {
		s, err := c.ByID(ctx, id)
		return s, s.State == Stopped || s.State == Finished, err
	})
}
