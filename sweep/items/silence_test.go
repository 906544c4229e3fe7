package items_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/sweep"
)

// cutOff is a store that a node cannot reach while it is set.
type cutOff struct {
	driver.Store
	cut atomic.Bool
}

var errCutOff = errors.New("cut off")

func (c *cutOff) err() error {
	if c.cut.Load() {
		return errCutOff
	}
	return nil
}

func (c *cutOff) Beat(ctx context.Context, beat driver.Beat) (driver.BeatAnswer, error) {
	if err := c.err(); err != nil {
		return driver.BeatAnswer{}, err
	}
	return c.Store.Beat(ctx, beat)
}

func (c *cutOff) Claim(ctx context.Context, claim driver.Claim) ([]*fairlead.Job, error) {
	if err := c.err(); err != nil {
		return nil, err
	}
	return c.Store.Claim(ctx, claim)
}

func (c *cutOff) Settle(ctx context.Context, settlements []fairlead.Settlement) ([]fairlead.Settled, error) {
	if err := c.err(); err != nil {
		return nil, err
	}
	return c.Store.Settle(ctx, settlements)
}

func (c *cutOff) Checkpoint(ctx context.Context, checkpoint sweep.Checkpoint) (sweep.Orders, error) {
	if err := c.err(); err != nil {
		return sweep.Orders{}, err
	}
	return c.Store.Checkpoint(ctx, checkpoint)
}

func (c *cutOff) Steer(ctx context.Context, id int64, wait bool, act func(context.Context, *sweep.Record, sweep.Tx) error) (bool, error) {
	if err := c.err(); err != nil {
		return false, err
	}
	return c.Store.Steer(ctx, id, wait, act)
}

func (c *cutOff) Reap(ctx context.Context, reap driver.Reap) (driver.Reaped, error) {
	if err := c.err(); err != nil {
		return driver.Reaped{}, err
	}
	return c.Store.Reap(ctx, reap)
}

// perSecond counts the items that were begun in each second since a time.
func (w *world) perSecond(since time.Time) map[int]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	counts := map[int]int{}
	for _, at := range w.begun {
		if at.After(since) {
			counts[int(at.Sub(since)/time.Second)]++
		}
	}
	return counts
}

// If a node is cut off the others have its rate long before its lease is over. It is
// never exceeded, whether the node comes back before that or never.
func TestTheRateOfANodeThatIsCutOffIsTheOthers(t *testing.T) {
	const watched = 30 * time.Second
	for name, gone := range map[string]time.Duration{"for long": watched, "for a while": 7 * time.Second, "for a moment": 2 * time.Second} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				const rate, back = 1000, 6
				link := &cutOff{Store: w.store}
				first, second := w.nodeOn(link, done), w.node(done)
				s := w.start(sweep.Sweep{To: 1_000_000, Shards: 4, InFlight: 16, Rate: rate})
				time.Sleep(20 * time.Second)
				since := time.Now()
				link.cut.Store(true)
				time.Sleep(gone)
				link.cut.Store(false)
				time.Sleep(watched - gone)
				counts := w.perSecond(since)
				for second := range int(watched / time.Second) {
					if counts[second] > rate*101/100 {
						t.Errorf("%d items were begun in second %d", counts[second], second)
					}
					if second >= back && counts[second] < rate*80/100 {
						t.Errorf("only %d items were begun in second %d", counts[second], second)
					}
				}
				if _, err := w.sweeps.Stop(w.t.Context(), s.ID, "me", ""); err != nil {
					t.Fatal(err)
				}
				w.until(s.ID, sweep.Stopped)
				first()
				second()
			})
		})
	}
}

// If no other node runs a shard of the sweep, its rate is back when the lease of the node
// is over.
func TestTheOnlyShardOfANodeThatIsCutOffGoesOnAfterItsLease(t *testing.T) {
	inBubble(t, func(w *world) {
		const rate, lease = 1000, 10
		link := &cutOff{Store: w.store}
		first := w.nodeOn(link, done)
		s := w.start(sweep.Sweep{To: 1_000_000, InFlight: 16, Rate: rate})
		time.Sleep(5 * time.Second)
		second := w.node(done)
		time.Sleep(5 * time.Second)
		since := time.Now()
		link.cut.Store(true)
		time.Sleep(20 * time.Second)
		counts := w.perSecond(since)
		for second := range 20 {
			if counts[second] > rate || second > lease && counts[second] < rate*99/100 {
				t.Errorf("%d items were begun in second %d", counts[second], second)
			}
		}
		link.cut.Store(false)
		if _, err := w.sweeps.Stop(w.t.Context(), s.ID, "me", ""); err != nil {
			t.Fatal(err)
		}
		w.until(s.ID, sweep.Stopped)
		first()
		second()
	})
}
