package workers

import (
	"testing"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/sweep"
)

// A rate of zero means unlimited. A worker that must not start items also reports zero
// while its last items end, and must not be treated as unlimited.
func TestAWorkerThatWasToldToBeginNothingUsesAlmostNothing(t *testing.T) {
	held := driver.Held{ID: 7, Fence: 1}
	c := &crew{leases: map[driver.Held]*leased{}, freed: make(chan struct{})}
	job := &fairlead.Job{ID: held.ID}
	job.Fence = held.Fence
	c.add([]*fairlead.Job{job})
	wantShare := func(when string, rate float64, inFlight int32, want sweep.Share) {
		t.Helper()
		if got := c.usedShare(held, &fairleadv1.SaveShardRequest{Rate: rate, InFlight: inFlight}); got != want {
			t.Errorf("%s it uses %+v, want %+v", when, got, want)
		}
	}
	wantShare("at first", 0, 4, sweep.Share{InFlight: 4})
	c.tellShare(held, sweep.Share{Rate: 5, InFlight: 4})
	wantShare("with a share", 0, 4, sweep.Share{InFlight: 4})
	c.tellShare(held, sweep.Share{})
	wantShare("told to begin nothing", 0, 2, sweep.Share{Rate: sweep.LeastRate, InFlight: 2})
	wantShare("told to begin nothing, and still at its rate", 5, 2, sweep.Share{Rate: 5, InFlight: 2})
	c.tellShare(held, sweep.Share{InFlight: 1})
	wantShare("with a share again", 0, 1, sweep.Share{InFlight: 1})
	c.settled([]driver.Held{held})
	c.tellShare(held, sweep.Share{})
	wantShare("not known any more", 0, 1, sweep.Share{InFlight: 1})
}
