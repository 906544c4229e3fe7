package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/sweep"
)

func testSweepRaces(c *chapter) {
	c.test("if others steer the sweep Steer waits for them", func(f *fixture) {
		s := f.cut(2)
		const rivals, rounds = 6, 5
		var inside, overlaps atomic.Int32
		f.ok(first(f.rivals(rivals, func(_ int, store Store) error {
			for range rounds {
				begun, err := store.Steer(f.ctx(), s.ID, true, func(ctx context.Context, s *sweep.Record, tx sweep.Tx) error {
					if inside.Add(1) > 1 {
						overlaps.Add(1)
					}
					defer inside.Add(-1)
					s.Run++
					return tx.Grant(ctx, []sweep.Shard{{Number: 1, Share: sweep.Share{InFlight: s.Run}}})
				})
				if err != nil {
					return err
				}
				if !begun {
					return errors.New("it did not wait")
				}
			}
			return nil
		})))
		f.equal("how often two steered at once", overlaps.Load(), int32(0))
		f.equal("how often it was steered", f.theSweep(s.ID).Run, rivals*rounds)
		f.equal("the last share", f.shards(s.ID)[1].Share.InFlight, rivals*rounds)
	})
	c.test("unless wait is set: then Steer returns false at once", func(f *fixture) {
		s, other := f.sweep("s"), f.sweep("other")
		held := f.hold(s.ID, func(_ context.Context, s *sweep.Record, _ sweep.Tx) error {
			s.Run++
			return nil
		})
		stores := []Store{f.store}
		if !f.SerialWrites {
			stores = append(stores, f.elsewhere().store)
		}
		var begun []bool
		var errs []error
		for _, store := range stores {
			is, err := store.Steer(f.ctx(), s.ID, false, func(context.Context, *sweep.Record, sweep.Tx) error {
				return errors.New("act was called")
			})
			begun, errs = append(begun, is), append(errs, err)
			if !f.SerialWrites { // other sweeps are not blocked
				is, err := store.Steer(f.ctx(), other.ID, false, func(context.Context, *sweep.Record, sweep.Tx) error { return nil })
				begun, errs = append(begun, !is), append(errs, err)
			}
		}
		f.ok(held())
		f.ok(first(errs))
		for _, is := range begun {
			f.equal("it was steered", is, false)
		}
		is, err := f.store.Steer(f.ctx(), s.ID, false, func(_ context.Context, s *sweep.Record, _ sweep.Tx) error {
			s.Run++
			return nil
		})
		f.ok(err)
		f.equal("it was steered then", is, true)
		f.equal("how often it was steered", f.theSweep(s.ID).Run, 2)
	})
	c.test("Checkpoint does not wait for whoever steers the sweep", func(f *fixture) {
		f.needs(OtherWriters)
		s := f.cut(3)
		f.employ(s.ID, 0, 1)
		jobs := f.claim(f.join(), 2)
		f.checkpoint(markAt(s, jobs[0], 1))
		f.grant(s.ID, sweep.Share{Rate: 5, InFlight: 1})
		held := f.hold(s.ID, func(ctx context.Context, s *sweep.Record, tx sweep.Tx) error {
			s.State, s.Data = sweep.Stopping, []byte(`1`)
			more := many(1)
			if err := fairlead.NormalizeJobs(more); err != nil {
				return err
			}
			if _, _, err := tx.Shards(ctx); err != nil {
				return err
			}
			if err := tx.Employ(ctx, []int{2}, more); err != nil {
				return err
			}
			return tx.Grant(ctx, []sweep.Shard{{Number: 0, Share: sweep.Share{Rate: 2, InFlight: 2}}, {Number: 1, Share: sweep.Share{Rate: 3, InFlight: 3}}})
		})
		ctx, cancel := context.WithTimeout(f.ctx(), patient)
		defer cancel()
		orders, err := f.store.Checkpoint(ctx, markAt(s, jobs[0], 10))
		other, otherErr := f.elsewhere().store.Checkpoint(ctx, sweep.Checkpoint{Sweep: s.ID, Number: 1, Job: jobs[1].ID, Fence: jobs[1].Fence, Mark: 110})
		f.ok(held())
		f.ok(err)
		f.ok(otherErr)
		f.equal("the orders meanwhile", orders, sweep.Orders{Share: sweep.Share{Rate: 5, InFlight: 1}, Left: s.Budget.Items})
		f.equal("those of the other", other, sweep.Orders{Left: s.Budget.Items})
		f.equal("the mark", f.shards(s.ID)[0].Mark, int64(10))
		f.equal("the most that it may have been told", f.shards(s.ID)[0].Told, sweep.Share{Rate: 5, InFlight: 2})
		orders = f.checkpoint(markAt(s, jobs[0], 20))
		f.equal("the orders then", orders, sweep.Orders{Stop: true, Share: sweep.Share{Rate: 2, InFlight: 2}, Data: []byte(`1`), Left: s.Budget.Items})
	})
	c.test("of a run that loses its lease just now, nothing is stored once another has begun", func(f *fixture) {
		s, job := f.sweeping()
		g := f.elsewhere()
		for round := range f.rounds(15) {
			before := f.shards(s.ID)[0].Mark
			node := f.join()
			var late, taken error
			var next *fairlead.Job
			var seen []sweep.Shard
			together(
				func() { _, late = f.store.Checkpoint(f.ctx(), markAt(s, job, before+1)) },
				func() { next, seen, taken = g.takeOver(s.ID, job, node) },
			)
			f.ok(taken)
			if late != nil {
				f.wantErr(late, fairlead.ErrLeaseLost)
			}
			f.equal(fmt.Sprint("the shards of round ", round), f.shards(s.ID), seen)
			f.equal("the run before has stored something", late == nil, seen[0].Mark > before)
			f.wantRefused(markAt(s, job, before+2), fairlead.ErrLeaseLost)
			job = next
		}
	})
	c.test("of many that cut or employ at once the shards stay whole", func(f *fixture) {
		s := f.cut(2)
		errs := f.rivals(6, func(i int, store Store) error {
			_, err := store.Steer(f.ctx(), s.ID, true, func(ctx context.Context, s *sweep.Record, tx sweep.Tx) error {
				if err := tx.Cut(ctx, ranges(s.ID, 2+i)); err != nil {
					return err
				}
				jobs := many(1)
				if err := fairlead.NormalizeJobs(jobs); err != nil {
					return err
				}
				return tx.Employ(ctx, []int{1}, jobs)
			})
			return err
		})
		f.wantOneWinner(errs)
		f.equal("the jobs", f.tally(fairlead.Filter{}), map[fairlead.State]int64{fairlead.Ready: 1})
	})
}

// hold steers a sweep and keeps it locked until release is called.
func (f *fixture) hold(sw int64, act steered) (release func() error) {
	f.Helper()
	inside, enough, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		_, err := f.store.Steer(f.ctx(), sw, true, func(ctx context.Context, s *sweep.Record, tx sweep.Tx) error {
			if err := act(ctx, s, tx); err != nil {
				return err
			}
			close(inside)
			<-enough
			return nil
		})
		done <- err
	}()
	select {
	case <-inside:
	case err := <-done:
		f.Fatalf("it was not steered: %v", err)
	case <-time.After(patient):
		f.Fatal("it was not steered in time")
	}
	return func() error {
		close(enough)
		return <-done
	}
}

// takeOver takes the job of a shard from its node, gives it to another, and reads the state
// stored by the previous run.
func (f *fixture) takeOver(sweep int64, job *fairlead.Job, node fairlead.NodeID) (*fairlead.Job, []sweep.Shard, error) {
	if err := f.store.Leave(f.ctx(), job.Node); err != nil {
		return nil, nil, err
	}
	for {
		if _, err := f.store.Reap(f.ctx(), driver.Reap{MaxCrashes: patience, Limit: 10}); err != nil {
			return nil, nil, err
		}
		for _, solo := range []bool{false, true} {
			jobs, err := f.store.Claim(f.ctx(), driver.Claim{Node: node, Scope: everything(), Max: 1, Solo: solo})
			if err != nil {
				return nil, nil, err
			}
			if len(jobs) > 0 {
				shards, err := f.store.Shards(f.ctx(), sweep)
				return jobs[0], shards, err
			}
		}
	}
}
