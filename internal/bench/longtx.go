package bench

import (
	"context"
	"fmt"
)

// longTx is drain (if a number of jobs is given) or sustained, beside a
// transaction that was opened before and stays open: the database must keep
// every row version that it could still see. A scheduler that has to step over
// them slows down, which the first and the last third show.
func (b Bench) longTx(ctx context.Context) (Result, error) {
	release, err := b.Server.HoldSnapshot(ctx)
	if err != nil {
		return Result{}, fmt.Errorf("hold a snapshot: %w", err)
	}
	work := b.sustained
	if b.Spec.Jobs > 0 {
		work = b.drain
	}
	result, err := work(ctx)
	return result, firstError(err, release())
}
