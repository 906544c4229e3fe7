package sweeping_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-io/fairlead/internal/pace"
	"github.com/fairlead-io/fairlead/internal/source"
	"github.com/fairlead-io/fairlead/internal/sweeping"
)

func TestTheRateHoldsAndCanBeChanged(t *testing.T) {
	in(t, 1e15, func(t *testing.T, w *world) {
		w.source = source.Indexes{To: 1e15}
		shard := w.shard()
		shard.InFlight, shard.Rate, shard.Every = 50, 1000, time.Hour
		shard.Handle = func(context.Context, sweeping.Item) sweeping.Outcome { return sweeping.Outcome{} }
		shard.Save = func(context.Context, sweeping.Checkpoint) (sweeping.Orders, error) {
			return sweeping.Orders{}, nil
		}
		runner, err := sweeping.New(shard)
		if err != nil {
			t.Fatal(err)
		}
		last := int64(0)
		expect := func(what string, want int64) {
			done := runner.Progress().Counts.Done
			if got := done - last; math.Abs(float64(got-want)) > 0.01*float64(want)+1 {
				t.Errorf("%s %d items were done, want %d", what, got, want)
			}
			last = done
		}
		finished := make(chan struct{})
		go func() {
			defer close(finished)
			if _, err := runner.Run(t.Context()); err != nil {
				t.Error(err)
			}
		}()
		for _, c := range []struct {
			rate float64
			want int64
		}{{1000, 10_000}, {10, 100}, {50_000, 500_000}, {pace.Held, 0}, {0.5, 5}} {
			runner.Order(sweeping.Orders{Rate: &c.rate})
			time.Sleep(10 * time.Second)
			synctest.Wait() // anything due now belongs to this rate
			expect(fmt.Sprintf("at %v per second", c.rate), c.want)
		}
		runner.Stop()
		<-finished
	})
}

// Items fetched at a high rate do not start all at once after the rate is lowered.
func TestALowerRateHoldsFromNowOn(t *testing.T) {
	for name, c := range map[string]struct {
		failures int           // failures of each item
		lowered  time.Duration // time since the start, when some items are waiting for permits
	}{
		"new items":              {0, 10500 * time.Microsecond},
		"items that have failed": {1, time.Second + 10500*time.Microsecond},
	} {
		t.Run(name, func(t *testing.T) {
			const items = 2000
			in(t, items, func(t *testing.T, w *world) {
				start, late := time.Now(), 0
				w.outcome = func(item sweeping.Item) sweeping.Outcome {
					if time.Since(start) > c.lowered {
						late++
					}
					if item.Attempt <= c.failures {
						return sweeping.Failed(errors.New("not yet"))
					}
					return sweeping.Outcome{}
				}
				shard := w.shard()
				shard.InFlight, shard.Rate, shard.Backoff = 2, 50_000, func(int) time.Duration { return time.Until(start.Add(time.Second)) }
				runner, err := sweeping.New(shard)
				if err != nil {
					t.Fatal(err)
				}
				ended := make(chan sweeping.Ending, 1)
				go func() {
					ending, err := runner.Run(t.Context())
					if err != nil {
						t.Error(err)
					}
					ended <- ending
				}()
				time.Sleep(c.lowered)
				if done := runner.Progress().Counts.Done; done == 0 || done == items {
					t.Errorf("%d items were done by then", done)
				}
				rate := 10.0
				runner.Order(sweeping.Orders{Rate: &rate})
				time.Sleep(time.Second)
				synctest.Wait()
				if late < 9 || late > 11 {
					t.Errorf("at ten per second %d items were begun in a second", late)
				}
				rate = pace.Unlimited
				runner.Order(sweeping.Orders{Rate: &rate})
				w.mustBeComplete(<-ended)
			})
		})
	}
}
