package items

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sweeping"
	"github.com/fairlead-io/fairlead/sweep"
)

// Run is one run over a shard. It is meant for code that prepares calls.
type Run struct {
	Sweep *sweep.Sweep // the sweep when the run began
	Job   *fairlead.Job

	handler  *handler
	book     Book
	shard    sweep.Shard // as it was stored last
	begun    time.Time
	leased   func() time.Time
	heard    atomic.Pointer[time.Time] // when it asked for the orders that it goes by
	runner   *sweeping.Runner
	handling atomic.Pointer[handling]

	// Of those who save, one after the other.
	data    json.RawMessage
	confide func(json.RawMessage) // masks the data in errors and spans of the shard's job
	told    sweep.Share
	saved   time.Time
	counted int64 // items that had ended then
	forgave bool  // its crashes were forgotten
	sought  int   // how often in a row it looked for more of the rate

	ordered atomic.Bool // the sweep is to stop
	anew    atomic.Bool // the job is to be claimed again, as one that is no suspect

	// Items that handlers gave up of themselves, and how many they may. The runner
	// counts those whose attempts are used up.
	abandoned  atomic.Int64
	mayAbandon atomic.Int64 // negative: any number
}

// one tries an item.
func (r *Run) one(ctx context.Context, item sweeping.Item) sweeping.Outcome {
	outcome := r.handling.Load().one(ctx, item)
	if outcome.Verdict == sweeping.Abandon {
		r.afford(&outcome)
	}
	return outcome
}

// many tries several.
func (r *Run) many(ctx context.Context, items []sweeping.Item, outcomes []sweeping.Outcome) {
	r.handling.Load().many(ctx, items, outcomes)
	for i := range outcomes {
		if outcomes[i].Verdict == sweeping.Abandon {
			r.afford(&outcomes[i])
		}
	}
}

// afford lets a handler give an item up if the error budget allows it. Else the item
// stays to do, and the sweep stops.
func (r *Run) afford(outcome *sweeping.Outcome) {
	may := r.mayAbandon.Load()
	if may < 0 || r.abandoned.Add(1) <= may {
		return
	}
	r.abandoned.Add(-1)
	outcome.Verdict, outcome.Err = sweeping.Stop, fmt.Errorf("the error budget is used up: %w", outcome.Err)
}
