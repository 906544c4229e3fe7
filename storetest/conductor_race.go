package storetest

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/driver"
)

func testConductorRaces(c *chapter) {
	c.test("if others act upon the batch Conduct waits for them", func(f *fixture) {
		b := f.batch()
		const rivals, rounds = 6, 5
		var inside, overlaps atomic.Int32
		f.ok(first(f.rivals(rivals, func(_ int, store Store) error {
			for range rounds {
				begun, err := store.Conduct(f.ctx(), b.ID, true, func(ctx context.Context, b *batch.Record, tx batch.Tx) error {
					if inside.Add(1) > 1 {
						overlaps.Add(1)
					}
					defer inside.Add(-1)
					_, err := tx.Chunks(ctx, batch.ChunkFilter{})
					b.Total++
					return err
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
		f.equal("how often two acted at once", overlaps.Load(), int32(0))
		f.equal("how often it was acted upon", f.theBatch(b.ID).Total, rivals*rounds)
	})
	c.test("unless wait is set: then it returns false at once", func(f *fixture) {
		b, other := f.batch(), f.batch()
		acting, enough, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
		go func() {
			_, err := f.store.Conduct(f.ctx(), b.ID, true, func(_ context.Context, b *batch.Record, _ batch.Tx) error {
				close(acting)
				<-enough
				b.Total++
				return nil
			})
			done <- err
		}()
		<-acting
		stores := []Store{f.store}
		if !f.SerialWrites {
			stores = append(stores, f.elsewhere().store)
		}
		var begun []bool
		var errs []error
		for _, store := range stores {
			is, err := store.Conduct(f.ctx(), b.ID, false, func(context.Context, *batch.Record, batch.Tx) error {
				return errors.New("act was called")
			})
			begun, errs = append(begun, is), append(errs, err)
			if !f.SerialWrites { // other batches are not blocked
				is, err := store.Conduct(f.ctx(), other.ID, false, func(context.Context, *batch.Record, batch.Tx) error { return nil })
				begun, errs = append(begun, !is), append(errs, err)
			}
		}
		close(enough)
		f.ok(<-done)
		f.ok(first(errs))
		for _, is := range begun {
			f.equal("it was acted upon", is, false)
		}
		f.equal("how often it was acted upon", f.theBatch(b.ID).Total, 1)
		is, err := f.store.Conduct(f.ctx(), b.ID, false, func(_ context.Context, b *batch.Record, _ batch.Tx) error {
			b.Total++
			return nil
		})
		f.ok(err)
		f.equal("it was acted upon then", is, true)
		f.equal("how often it was acted upon then", f.theBatch(b.ID).Total, 2)
	})
	c.test("of a recall and a claim at once each job is taken by one", func(f *fixture) {
		b, p := f.opened(40)
		g, node := f.elsewhere(), f.join()
		for range f.rounds(8) {
			f.letOut(b, p)
			var recalled []int64
			var claimed []*fairlead.Job
			var recallErr, claimErr error
			together(
				func() {
					_, recallErr = f.store.Conduct(f.ctx(), b.ID, true, func(ctx context.Context, _ *batch.Record, tx batch.Tx) (err error) {
						recalled, err = tx.Recall(ctx, p.First, p.Last())
						return err
					})
				},
				func() {
					for range 10 {
						jobs, err := g.store.Claim(f.ctx(), driver.Claim{Node: node, Scope: everything(), Max: 4})
						claimed, claimErr = append(claimed, jobs...), errors.Join(claimErr, err)
					}
				},
			)
			f.ok(recallErr)
			f.ok(claimErr)
			for _, job := range claimed { // jobs that were not recalled
				f.settle(to(fairlead.Succeed, job))
			}
			rest := f.claimAs(driver.Claim{Node: node, Scope: everything(), Max: 1000}) // jobs that were just about to be moved
			for _, job := range rest {
				f.settle(to(fairlead.Succeed, job))
			}
			taken := append(append(ids(claimed), recalled...), ids(rest)...)
			f.equal("what was taken", sorted(taken), ids(taskJobs(b, p)))
			f.count(b, p, strings.Repeat("s", p.Size))
			for _, id := range append(ids(claimed), ids(rest)...) {
				f.ok(operations(f.store).Delete(f.ctx(), id))
			}
		}
	})
	c.test("of many who add chunks under the same number at once one does, and no ID is given twice", func(f *fixture) {
		b := f.batch()
		for number := range 5 {
			f.wantOneWinner(f.rivals(6, func(_ int, store Store) error {
				return store.AddChunks(f.ctx(), b.ID, []batch.Chunk{chunk(10*number, 3), chunk(10*number+1, 2)})
			}))
		}
		var last int64
		byFirst := map[int64]int{}
		for _, p := range f.chunks(b.ID, batch.ChunkFilter{}) {
			byFirst[p.First] = p.Size
			last = max(last, p.Last())
		}
		f.equal("the chunks", len(byFirst), 10)
		used := map[int64]bool{}
		for start, size := range byFirst {
			for id := start; id < start+int64(size); id++ {
				f.equal("the ID is used", used[id], false)
				used[id] = true
			}
		}
		f.equal("the last ID is used", used[last], true)
	})
}
