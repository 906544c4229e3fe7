package engine

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead/hold"
)

// keepWitnessing records what keeps jobs waiting, while no other node does.
func (l *life) keepWitnessing(ctx context.Context) {
	witness := hold.NewWitness(l.holds, l.options.Poll, l.options.HoldRetention)
	l.newLoop("witness", l.options.Poll).run(ctx, func(ctx context.Context) (time.Duration, error) {
		return 0, witness.Look(ctx)
	})
}
