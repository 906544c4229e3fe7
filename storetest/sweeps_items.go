package storetest

import (
	"context"
	"fmt"
	"strings"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/sweep"
)

// people returns a list of n items.
func people(n int) []string {
	items := make([]string, n)
	for i := range items {
		items[i] = fmt.Sprint("person ", i)
	}
	return items
}

// itemsOf returns all items of a sweep, read like by a run.
func (f *fixture) itemsOf(id int64) []string {
	f.Helper()
	var all []string
	for {
		some, err := f.store.SweepItems(f.ctx(), id, int64(len(all)))
		f.ok(err)
		if len(some) == 0 {
			return all
		}
		all = append(all, some...)
	}
}

// testSweepItems covers lists that are stored with their sweeps: source 002, data model
// (the list of users is part of the task, as an alternative to a URL).
func testSweepItems(c *chapter) {
	c.test("the list of a sweep is read as it was given, from any index on", func(f *fixture) {
		items := people(2500)
		items[3], items[7], items[1001] = "", `quotes " and 語 and \u0000 as text`, strings.Repeat("x", 64<<10)
		other := f.sweep("other", func(s *sweep.Sweep) { s.To, s.Items = 0, people(3) })
		s := f.sweep("s", func(s *sweep.Sweep) { s.To, s.Items = 0, items })
		f.equal("Listed", s.Source.Listed, int64(len(items)))
		f.equal("To", s.To, int64(len(items)))
		f.equal("the items that are returned with it", len(f.theSweep(s.ID).Items), 0)
		f.equal("the list", f.itemsOf(s.ID), items)
		f.equal("the list elsewhere", f.elsewhere().itemsOf(s.ID), items)
		f.equal("the list of another", f.itemsOf(other.ID), people(3))
		for _, from := range []int64{0, 1, 999, 1000, 2499} {
			some, err := f.store.SweepItems(f.ctx(), s.ID, from)
			f.ok(err)
			f.equal(fmt.Sprintf("the item %d", from), some[0], items[from])
		}
		for _, from := range []int64{-1, 2500, 1 << 40} {
			some, err := f.store.SweepItems(f.ctx(), s.ID, from)
			f.ok(err)
			f.equal(fmt.Sprintf("how many items there are from %d on", from), len(some), 0)
		}
		some, err := f.store.SweepItems(f.ctx(), unknown, 0)
		f.ok(err)
		f.equal("how many items an unknown sweep has", len(some), 0)
	})
	c.test("the list stays while its digest does, and goes with the sweep", func(f *fixture) {
		s := f.sweep("s", func(s *sweep.Sweep) { s.To, s.Items = 0, people(5) })
		s.Rate = 7
		changed := f.putSweep(s) // without items, as returned by the store
		f.equal("the list", f.itemsOf(s.ID), people(5))
		changed.Items, changed.To = people(7), 0
		f.ok(sweep.Normalize(&changed))
		replaced := f.putSweep(changed)
		f.equal("the other list", f.itemsOf(s.ID), people(7))
		replaced.Source, replaced.To = sweep.ItemSource{}, 3
		plain := f.putSweep(replaced)
		f.equal("the list of one that has none any more", len(f.itemsOf(s.ID)), 0)
		plain.Source = sweep.ItemSource{Listed: 7, Digest: changed.Source.Digest}
		_, err := f.store.PutSweep(f.ctx(), plain)
		f.wantErr(err, fairlead.ErrInvalid)
		gone := f.sweep("gone", func(s *sweep.Sweep) { s.To, s.Items = 0, people(5) })
		f.ok(f.store.DeleteSweep(f.ctx(), gone.ID))
		f.equal("the list of one that is gone", len(f.itemsOf(gone.ID)), 0)
	})
	c.test("the list of a sweep that was started stays as it is", func(f *fixture) {
		s := f.sweep("s", func(s *sweep.Sweep) { s.To, s.Items = 0, people(5) })
		f.steer(s.ID, func(_ context.Context, s *sweep.Record, _ sweep.Tx) error {
			s.Cut = true
			return nil
		})
		s = f.theSweep(s.ID)
		s.Items = people(5)
		f.ok(sweep.Normalize(&s))
		s = f.putSweep(s) // the list is the same
		s.Items = append(people(4), "another")
		f.ok(sweep.Normalize(&s))
		_, err := f.store.PutSweep(f.ctx(), s)
		f.wantErr(err, fairlead.ErrConflict)
		f.equal("the list", f.itemsOf(s.ID), people(5))
	})
}
