package worker

import (
	"context"
	"fmt"

	"connectrpc.com/connect"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/api/rpc"
)

// failure returns the error of a call to the service as a store would return it. It is the
// only place where a code decides what happens to a run.
//
// A process that is not the worker any more gets ErrLeaseLost and joins again. A call
// without a decision of the service is ErrUnavailable: the run is not to blame. ctx is the
// caller's context, without the bound of the call: only it shows that the caller cancelled.
// A token that is refused is not the run's fault either. Beats fail then too, and when the
// lease has ended, the service refuses to let the worker join.
func failure(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	switch code := connect.CodeOf(err); {
	case code == connect.CodeAborted, code == connect.CodePermissionDenied:
		return fmt.Errorf("%w: %w", fairlead.ErrLeaseLost, err)
	case ctx.Err() != nil:
		return err
	case code == connect.CodeUnauthenticated, rpc.Passes(err):
		return fmt.Errorf("%w: %w", fairlead.ErrUnavailable, err)
	}
	return err
}
