package engine_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/sim/faulty"
)

// failing is a store that fails at what a node repeats, after it has done some of it.
type failing struct {
	driver.Store
	claims, promotes, expires, prunes, reaps atomic.Int64
	mended                                   atomic.Bool
}

// enough ends what would go on for ever: virtual time stands still while a node asks
// again and again without a pause.
const enough = 500

func (f *failing) fail(count *atomic.Int64) error {
	if count.Add(1) > enough || f.mended.Load() {
		return nil
	}
	return errors.New("no connection")
}

func (f *failing) Claim(ctx context.Context, claim driver.Claim) ([]*fairlead.Job, error) {
	if err := f.fail(&f.claims); err != nil {
		return nil, err
	}
	return f.Store.Claim(ctx, claim)
}

func (f *failing) Promote(ctx context.Context, limit int) (driver.Promotion, error) {
	if err := f.fail(&f.promotes); err != nil {
		return driver.Promotion{Moved: limit}, err
	}
	return f.Store.Promote(ctx, limit)
}

func (f *failing) Overdue(ctx context.Context, limit int) ([]driver.Held, error) {
	if err := f.fail(&f.expires); err != nil {
		return nil, err
	}
	return f.Store.Overdue(ctx, limit)
}

func (f *failing) Prune(ctx context.Context, keep driver.Retention, limit int) (int, error) {
	if err := f.fail(&f.prunes); err != nil {
		return limit, err
	}
	return f.Store.Prune(ctx, keep, limit)
}

func (f *failing) Reap(ctx context.Context, reap driver.Reap) (driver.Reaped, error) {
	if err := f.fail(&f.reaps); err != nil {
		return driver.Reaped{Jobs: reap.Limit}, err
	}
	return f.Store.Reap(ctx, reap)
}

func TestAStoreThatFailsIsAskedAgainAfterAPause(t *testing.T) {
	inBubble(t, func(w *world) {
		store := &failing{Store: w.store}
		w.engineStore = store
		w.handle("k", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error { return nil })
		job := &fairlead.Job{Kind: "k"}
		w.enqueue(job)
		w.run(engine.Options{}, func() {
			pass(10 * time.Minute)
			for what, count := range map[string]*atomic.Int64{"claim": &store.claims, "promote": &store.promotes, "expire": &store.expires, "prune": &store.prunes, "reap": &store.reaps} {
				if n := count.Load(); n == 0 || n > 300 {
					t.Errorf("in ten minutes in which all failed it was asked %d times to %s", n, what)
				}
			}
			store.mended.Store(true)
			w.wantSoon("the job, when the store works again", job, time.Minute)
		})
	})
}

func TestAStoreThatTakesNoSettlementsDoesNotKeepTheNodeFromEnding(t *testing.T) {
	inBubble(t, func(w *world) {
		var broken atomic.Bool
		w.engineStore = &awkward{Store: w.store, settle: func([]fairlead.Settlement) error {
			if broken.Load() {
				return fairlead.ErrUnavailable
			}
			return nil
		}}
		w.handle("k", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error { return nil })
		job := &fairlead.Job{Kind: "k"}
		stop := w.start(engine.Options{})
		broken.Store(true)
		w.enqueue(job)
		pass(time.Minute)
		w.want("its end is not stored", job, fairlead.Running)
		begin := time.Now()
		ended := make(chan error, 1)
		go func() { ended <- stop() }()
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(5 * time.Minute):
			t.Errorf("the node has not ended after %v", time.Since(begin))
			broken.Store(false)
			<-ended
		}
	})
}

func TestANodeThatIsAloneLooksForDeadNodesFourTimesPerLease(t *testing.T) {
	inBubble(t, func(w *world) {
		store := &failing{Store: w.store}
		store.mended.Store(true)
		w.engineStore = store
		w.handle("k", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error { return nil })
		w.run(engine.Options{Lease: 10 * time.Second}, func() {
			pass(time.Minute)
			before := store.reaps.Load()
			pass(100 * time.Second)
			if looks := store.reaps.Load() - before; looks < 35 || looks > 45 {
				t.Errorf("in ten leases it looked %d times, want about 40", looks)
			}
		})
	})
}

// plenty is a store in which there is more to keep house with than one call does.
type plenty struct {
	driver.Store
	promotes, expires, prunes, reaps atomic.Int64
}

// more returns how much a call does: as much as it may, a few times.
func more(count *atomic.Int64, limit int) int {
	if count.Add(1) <= 3 {
		return limit
	}
	return 0
}

func (p *plenty) Promote(_ context.Context, limit int) (driver.Promotion, error) {
	return driver.Promotion{Moved: more(&p.promotes, limit), Next: -1}, nil
}

func (p *plenty) Overdue(_ context.Context, limit int) ([]driver.Held, error) {
	return make([]driver.Held, more(&p.expires, limit)), nil
}

func (p *plenty) Expire(_ context.Context, overdue []driver.Held) (int, error) {
	return len(overdue), nil
}

func (p *plenty) Prune(_ context.Context, _ driver.Retention, limit int) (int, error) {
	return more(&p.prunes, limit), nil
}

func (p *plenty) Reap(_ context.Context, reap driver.Reap) (driver.Reaped, error) {
	return driver.Reaped{Jobs: more(&p.reaps, reap.Limit)}, nil
}

func TestHousekeepingGoesOnAtOnceWhileThereIsMore(t *testing.T) {
	inBubble(t, func(w *world) {
		store := &plenty{Store: w.store}
		w.engineStore = store
		w.handle("k", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error { return nil })
		w.run(engine.Options{Poll: time.Hour, Lease: 20 * time.Second}, func() {
			pass(26 * time.Second) // the node is trusted to reap, and has not looked again
			for what, count := range map[string]*atomic.Int64{"promote": &store.promotes, "expire": &store.expires, "prune": &store.prunes, "reap": &store.reaps} {
				if n := count.Load(); n < 4 {
					t.Errorf("it was asked %d times to %s", n, what)
				}
			}
		})
	})
}

func TestANodeThatEndsReleasesJobsOfAClaimWhoseAnswerWasLost(t *testing.T) {
	inBubble(t, func(w *world) {
		store := faulty.New(w.store)
		w.engineStore = store
		w.handle("k", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error { return nil })
		job := &fairlead.Job{Kind: "k"}
		w.run(engine.Options{Lease: time.Hour, Poll: time.Hour}, func() {
			pass(time.Minute)
			store.LoseAnswer(1, faulty.Claim)
			store.Fail(1, faulty.Held) // so that it cannot look for them at once
			w.enqueue(job)
			pass(time.Minute)
			w.want("the node does not know of it", job, fairlead.Running)
		})
		if got := w.get(job); got.State != fairlead.Ready || got.Attempt != 0 {
			t.Errorf("it is %s after attempt %d", got.State, got.Attempt)
		}
	})
}

func TestANodeThatCannotConfirmItsLeaseEndsItsHandlersBeforeItIsOver(t *testing.T) {
	inBubble(t, func(w *world) {
		const lease = 10 * time.Second
		var silent atomic.Bool
		w.engineStore = &awkward{Store: w.store, beat: func(context.Context) error {
			if silent.Load() {
				return errors.New("no connection")
			}
			return nil
		}}
		ended := make(chan time.Time, 10)
		w.handle("k", fairlead.HandlerOptions{}, func(ctx context.Context, _ *fairlead.Job) error {
			<-ctx.Done()
			ended <- time.Now()
			return ctx.Err()
		})
		stop := w.start(engine.Options{Lease: lease, Beat: 2 * time.Second})
		w.enqueue(&fairlead.Job{Kind: "k"})
		pass(time.Minute)
		silent.Store(true)
		begin := time.Now()
		select {
		case <-ended:
		case <-time.After(time.Minute):
		}
		if after := time.Since(begin); after >= lease {
			t.Errorf("its handler went on for %v", after)
		}
		silent.Store(false)
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}
