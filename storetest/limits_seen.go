package storetest

import "github.com/fairlead-io/fairlead"

// testLimitsSeen covers limits that may have changed since a caller read them.
func testLimitsSeen(c *chapter) {
	for _, limit := range []fairlead.Limit{
		{Scope: fairlead.LimitGlobal, MaxRunning: 10, Order: fairlead.OrderFair},
		{Scope: fairlead.LimitQueue, Name: "q", Rate: 0.1, Burst: 3},
		{Scope: fairlead.LimitKind, Name: "k", PerKey: 2},
	} {
		c.test(named("a limit of", limit.Scope, "that was seen is set, and conflicts if it was changed since"), func(f *fixture) {
			none, changed := fairlead.Limit{Scope: limit.Scope, Name: limit.Name}, limit
			changed.MaxRunning = 5
			f.ok(f.store.SetLimitSeen(f.ctx(), limit, none))
			f.wantErr(f.store.SetLimitSeen(f.ctx(), changed, none), fairlead.ErrConflict)
			f.wantLimit(limit)
			f.ok(f.store.SetLimitSeen(f.ctx(), changed, limit))
			f.wantErr(f.elsewhere().store.SetLimitSeen(f.ctx(), limit, limit), fairlead.ErrConflict)
			f.wantLimit(changed)
			f.limit(none)
			f.wantErr(f.store.SetLimitSeen(f.ctx(), limit, changed), fairlead.ErrConflict)
			f.ok(f.store.SetLimitSeen(f.ctx(), limit, none))
			f.wantLimit(limit)
		})
	}
	c.test("of callers that have seen the same limit one sets it", func(f *fixture) {
		seen := fairlead.Limit{Scope: fairlead.LimitKind, Name: "k"}
		won := 0
		for _, err := range f.rivals(4, func(i int, store Store) error {
			limit := seen
			limit.MaxRunning = i + 1
			return store.SetLimitSeen(f.ctx(), limit, seen)
		}) {
			if err == nil {
				won++
			} else {
				f.wantErr(err, fairlead.ErrConflict)
			}
		}
		f.equal("winners", won, 1)
	})
}

// wantLimit checks that the given limit is the only one.
func (f *fixture) wantLimit(want fairlead.Limit) {
	f.Helper()
	limits, err := f.store.Limits(f.ctx())
	f.ok(err)
	if len(limits) != 1 || limits[0].Limit != want {
		f.Fatalf("the limits are %+v, want %+v", limits, want)
	}
}
