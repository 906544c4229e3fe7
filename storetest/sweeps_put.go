package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
)

// elaborateSweep is a sweep of which everything is special.
func elaborateSweep() fairlead.Sweep {
	return fairlead.Sweep{
		Name: "Züge ", Kind: "scrüb", Data: json.RawMessage(`{"b" : 1.0,"a":"<ü>"}`),
		Source: fairlead.ItemSource{Table: &fairlead.Table{Database: "main", Name: "user", Key: "id", Columns: []string{"name", "mail"}}},
		From:   3, To: 1_000_000_000_000_000_000, InFlight: 9000, Rate: 1234.5678, Adaptive: true, Window: 16_000, Shards: 1000, PerCall: 7,
		Attempts: 3, Backoff: 1500 * time.Millisecond, Timeout: time.Minute, Budget: fairlead.Budget{Items: 5, Percent: 0.1, PerMinute: 3},
		OnExhausted: fairlead.ExhaustedStop, Queue: "sg", Tenant: "acme", Priority: -4,
		Gate: fairlead.Gate{BeforeCreate: "https://example.com/create", BeforeRun: "https://example.com/run?x=1", Timeout: time.Hour},
	}
}

// everyStanding has no field that is empty.
func everyStanding(at time.Time) fairlead.SweepStatus {
	return fairlead.SweepStatus{
		State: fairlead.SweepStopped, Reason: "why\x00 not", Run: 2, AskedAt: at.Add(time.Second), StartedAt: at.Add(2 * time.Second),
		EndedAt: at.Add(3 * time.Second), Cut: true, Forgiven: 7,
	}
}

func testPutSweep(c *chapter) {
	c.test("PutSweep creates the sweep if its Version is zero and returns it as stored", func(f *fixture) {
		want := elaborateSweep()
		want.SweepStatus = everyStanding(f.now())
		stored := f.putSweep(want)
		want.ID, want.Version, want.CreatedAt = stored.ID, stored.Version, f.now()
		f.equal("the answer", stored, want)
		f.equal("the sweep", f.theSweep(stored.ID), want)
		f.equal("the sweep elsewhere", f.elsewhere().theSweep(stored.ID), want)
		f.equal("its shards", len(f.shards(stored.ID)), 0)
	})
	c.test("Total is what is said as long as there are no shards", func(f *fixture) {
		s := f.sweep("s", func(s *fairlead.Sweep) { s.From = 10 })
		f.equal("what has been done", s.SweepProgress, fairlead.SweepProgress{Total: 990})
		s = f.sweep("unknown", func(s *fairlead.Sweep) { s.To, s.Source.File = 0, "users.txt" })
		f.equal("what has been done", f.theSweep(s.ID).SweepProgress, fairlead.SweepProgress{})
	})
	c.test("IDs of sweeps grow, and are not given again", func(f *fixture) {
		last := int64(0)
		for range 5 {
			s := f.sweep("again")
			if s.ID <= last || s.Version == 0 {
				f.Fatalf("a sweep after %d has ID %d and Version %d", last, s.ID, s.Version)
			}
			last = s.ID
			f.ok(f.store.DeleteSweep(f.ctx(), s.ID))
		}
	})
	c.test("else it replaces what people say of the one of that ID and Version", func(f *fixture) {
		first := f.putSweep(func() fairlead.Sweep {
			s := elaborateSweep()
			s.State = fairlead.SweepCreated
			return s
		}())
		f.Advance(time.Minute)
		want := newSweep("renamed", func(s *fairlead.Sweep) { s.Tenant = "other" })
		want.ID, want.Version = first.ID, first.Version
		second := f.putSweep(want)
		if second.Version <= first.Version {
			f.Fatalf("version %d follows %d", second.Version, first.Version)
		}
		f.ok(fairlead.NormalizeSweep(&want))
		want.Version, want.CreatedAt, want.Total = second.Version, first.CreatedAt, 1000
		f.equal("the answer", second, want)
		f.equal("the sweeps", f.sweeps(fairlead.SweepFilter{}), []fairlead.Sweep{want})
	})
	c.test("How it stands counts only if it is created", func(f *fixture) {
		s := f.cut(2)
		f.steer(s.ID, func(_ context.Context, s *fairlead.Sweep, _ fairlead.SweepTx) error {
			s.Run, s.Reason = 3, "because"
			return nil
		})
		want := f.theSweep(s.ID)
		change := want
		change.SweepStatus, change.Rate = everyStanding(f.now()), 5
		want.Rate = 5
		stored := f.putSweep(change)
		want.Version = stored.Version
		f.equal("the answer", stored, want)
		f.equal("the sweep", f.theSweep(s.ID), want)
		f.equal("its shards", len(f.shards(s.ID)), 2)
	})
	c.test("it fails with ErrConflict if another sweep has the name", func(f *fixture) {
		f.sweep("taken")
		_, err := f.tryPutSweep(newSweep("taken"))
		f.wantErr(err, fairlead.ErrConflict)
		other := f.sweep("other")
		other.Name = "taken"
		_, err = f.tryPutSweep(other)
		f.wantErr(err, fairlead.ErrConflict)
		f.equal("the names", sweepNames(f.sweeps(fairlead.SweepFilter{})), []string{"other", "taken"})
	})
	c.test("a name is told from one in other case, or with a space at its end", func(f *fixture) {
		for _, name := range []string{"acme", "Acme", "acme "} {
			f.sweep(name)
		}
		f.equal("the sweeps of a name", sweepNames(f.sweeps(fairlead.SweepFilter{Names: []string{"acme"}})), []string{"acme"})
	})
	c.test("it fails with ErrConflict if this one has another Version by now, and changes nothing", func(f *fixture) {
		first := f.sweep("s")
		second := f.putSweep(first)
		first.Rate = 7
		_, err := f.tryPutSweep(first)
		f.wantErr(err, fairlead.ErrConflict)
		f.equal("the sweep", f.theSweep(first.ID), second)
	})
	c.test("it fails with ErrConflict if CheckSweepChange refuses it, and changes nothing", func(f *fixture) {
		s := f.cut(1)
		change := s
		change.To, change.Rate = 2000, 7
		_, err := f.tryPutSweep(change)
		f.wantErr(err, fairlead.ErrConflict)
		f.equal("the sweep", f.theSweep(s.ID), s)
		created := f.sweep("created")
		created.To, created.Kind = 2000, "other"
		f.putSweep(created)
	})
	c.test("it fails with ErrNotFound if there is no such sweep, or not any more", func(f *fixture) {
		s := f.sweep("s")
		f.ok(f.store.DeleteSweep(f.ctx(), s.ID))
		_, err := f.tryPutSweep(s)
		f.wantErr(err, fairlead.ErrNotFound)
		s.ID = unknown
		_, err = f.tryPutSweep(s)
		f.wantErr(err, fairlead.ErrNotFound)
	})
	c.test("of many that create one sweep at once exactly one wins", func(f *fixture) {
		s := newSweep("s")
		f.ok(fairlead.NormalizeSweep(&s))
		f.wantOneWinner(f.rivals(6, func(_ int, store fairlead.Store) error {
			_, err := store.PutSweep(f.ctx(), s)
			return err
		}))
		f.equal("the sweeps", len(f.sweeps(fairlead.SweepFilter{})), 1)
	})
	c.test("of many that replace one Version of a sweep at once exactly one wins", func(f *fixture) {
		s := f.sweep("s")
		f.wantOneWinner(f.rivals(6, func(_ int, store fairlead.Store) error {
			_, err := store.PutSweep(f.ctx(), s)
			return err
		}))
	})
}

func testDeleteSweep(c *chapter) {
	c.test("Grant and DeleteSweep leave all that is known of another sweep as it is", func(f *fixture) {
		known := func(s fairlead.Sweep) []any {
			return []any{f.theSweep(s.ID), f.shards(s.ID), f.events(s.ID), f.failed(fairlead.ItemFilter{Sweep: s.ID}), f.logs(fairlead.LogFilter{Sweep: s.ID})}
		}
		kept, _ := f.failing(2, 3)
		s, _ := f.failing(1, 3)
		for _, sweep := range []fairlead.Sweep{kept, s} {
			f.ok(f.store.AddSweepLogs(f.ctx(), []fairlead.SweepLog{{Sweep: sweep.ID, Text: "a line"}}))
			f.steer(sweep.ID, func(ctx context.Context, _ *fairlead.Sweep, tx fairlead.SweepTx) error {
				return tx.Record(ctx, fairlead.SweepEvent{Action: "what"})
			})
		}
		before := known(kept)
		f.grant(s.ID, fairlead.Share{Rate: 1, InFlight: 1})
		f.setState(s.ID, fairlead.SweepStopped)
		f.ok(f.store.DeleteSweep(f.ctx(), s.ID))
		f.equal("what is known of the other", known(kept), before)
	})
	c.test("DeleteSweep removes a sweep with all that is known of it", func(f *fixture) {
		s, job := f.sweeping()
		kept := f.sweep("kept")
		f.note(s, job, fairlead.FailedItem{Index: 3})
		f.ok(f.store.AddSweepLogs(f.ctx(), []fairlead.SweepLog{{Sweep: s.ID, Text: "gone"}, {Sweep: kept.ID, Text: "kept"}}))
		f.steer(s.ID, func(ctx context.Context, s *fairlead.Sweep, tx fairlead.SweepTx) error {
			s.State = fairlead.SweepStopped
			return tx.Record(ctx, fairlead.SweepEvent{Action: "stop"})
		})
		f.ok(f.store.DeleteSweep(f.ctx(), s.ID))
		f.equal("the sweeps", sweepNames(f.sweeps(fairlead.SweepFilter{})), []string{"kept"})
		f.equal("its shards", len(f.shards(s.ID)), 0)
		f.equal("its failed items", len(f.failed(fairlead.ItemFilter{Sweep: s.ID})), 0)
		f.equal("its log", len(f.logs(fairlead.LogFilter{Sweep: s.ID})), 0)
		f.equal("its history", len(f.events(s.ID)), 0)
		f.equal("the log of another", len(f.logs(fairlead.LogFilter{Sweep: kept.ID})), 1)
		f.sweep(s.Name)
	})
	c.test("it fails with ErrConflict unless it is created, stopped or finished", func(f *fixture) {
		for _, state := range []fairlead.SweepState{fairlead.SweepWaiting, fairlead.SweepRunning, fairlead.SweepStopping} {
			s := f.sweep(string(state), inState(state))
			f.wantErr(f.store.DeleteSweep(f.ctx(), s.ID), fairlead.ErrConflict)
			f.theSweep(s.ID)
		}
		for _, state := range []fairlead.SweepState{fairlead.SweepCreated, fairlead.SweepStopped, fairlead.SweepFinished} {
			f.ok(f.store.DeleteSweep(f.ctx(), f.sweep(string(state), inState(state)).ID))
		}
	})
	c.test("it fails with ErrNotFound", func(f *fixture) {
		f.wantErr(f.store.DeleteSweep(f.ctx(), unknown), fairlead.ErrNotFound)
	})
}

func testListSweeps(c *chapter) {
	c.test("Sweeps returns the sweeps that match, newest first, a page at a time", func(f *fixture) {
		var all []fairlead.Sweep
		for i := range 5 {
			all = append(all, f.sweep(fmt.Sprint("s", i)))
		}
		list := func(filter fairlead.SweepFilter) []string { return sweepNames(f.sweeps(filter)) }
		f.equal("all", list(fairlead.SweepFilter{}), []string{"s4", "s3", "s2", "s1", "s0"})
		f.equal("the first page", list(fairlead.SweepFilter{Limit: 2}), []string{"s4", "s3"})
		f.equal("the second page", list(fairlead.SweepFilter{Limit: 2, Below: all[3].ID}), []string{"s2", "s1"})
	})
	c.test("a filter chooses sweeps by ID, name, state and tenant, all of it", func(f *fixture) {
		tenant := func(name string) func(*fairlead.Sweep) { return func(s *fairlead.Sweep) { s.Tenant = name } }
		a := f.sweep("a", tenant("acme"))
		f.sweep("b", tenant("acme"), inState(fairlead.SweepRunning))
		d := f.sweep("c", tenant("other"), inState(fairlead.SweepRunning))
		running, created := []fairlead.SweepState{fairlead.SweepRunning}, []fairlead.SweepState{fairlead.SweepCreated, fairlead.SweepStopped}
		list := func(filter fairlead.SweepFilter) []string { return sweepNames(f.sweeps(filter)) }
		f.equal("by ID", list(fairlead.SweepFilter{IDs: []int64{a.ID, d.ID, unknown}}), []string{"c", "a"})
		f.equal("by name", list(fairlead.SweepFilter{Names: []string{"c", "b", "none"}}), []string{"c", "b"})
		f.equal("by tenant", list(fairlead.SweepFilter{Tenants: []string{"acme", "none"}}), []string{"b", "a"})
		f.equal("by state", list(fairlead.SweepFilter{States: running}), []string{"c", "b"})
		f.equal("by states", list(fairlead.SweepFilter{States: created}), []string{"a"})
		f.equal("by state, a page", list(fairlead.SweepFilter{States: running, Limit: 1, Below: d.ID}), []string{"b"})
		f.equal("by all", list(fairlead.SweepFilter{IDs: []int64{a.ID, d.ID}, Names: []string{"a", "b"}, Tenants: []string{"acme"}, States: created, Below: d.ID}), []string{"a"})
		f.equal("by all but one", list(fairlead.SweepFilter{Names: []string{"a"}, Tenants: []string{"other"}}), []string(nil))
	})
	c.test("each sweep has the sum of what its shards have stored", func(f *fixture) {
		const shards, large = 3, int64(300_000_000_000_000_000)
		s := f.sweep("s")
		f.cut(2)
		f.steer(s.ID, func(ctx context.Context, s *fairlead.Sweep, tx fairlead.SweepTx) error {
			s.State, s.Cut = fairlead.SweepRunning, true
			parts := ranges(s.ID, shards)
			for i := range parts {
				parts[i].From, parts[i].To, parts[i].Mark = large*int64(i), large*int64(i+1), large*int64(i)
			}
			return tx.Cut(ctx, parts)
		})
		f.equal("what has been done", f.theSweep(s.ID).SweepProgress, fairlead.SweepProgress{Total: shards * large})
		f.employ(s.ID, 0, 1, 2)
		for i, job := range f.claim(f.join(), shards) {
			f.checkpoint(fairlead.Checkpoint{
				Sweep: s.ID, Number: i, Job: job.ID, Fence: job.Fence, Mark: large*int64(i) + large/2, Done: large/2 + 10, Abandoned: 3, Errors: 20, Measured: 1.5, Ended: i == 2,
			})
		}
		want := fairlead.SweepProgress{Total: shards * large, Marked: shards * large / 2, Done: shards * (large/2 + 10), Abandoned: 9, Errors: 60, InWindow: 39, Rate: 3}
		f.equal("what has been done", f.theSweep(s.ID).SweepProgress, want)
		found := f.theSweep(s.ID)
		f.equal("what has been done", fairlead.ProgressOf(&found, f.shards(s.ID)), want)
		f.setState(s.ID, fairlead.SweepStopping)
		want.Rate = 0
		f.equal("what has been done", f.theSweep(s.ID).SweepProgress, want)
		f.equal("what has been done of the other", f.sweeps(fairlead.SweepFilter{Names: []string{"cut into 2"}})[0].SweepProgress, fairlead.SweepProgress{Total: 200})
	})
	c.test("Shards returns the shards of a sweep, in order", func(f *fixture) {
		s, other := f.cut(12), f.cut(3)
		f.equal("the shards", f.shards(s.ID), ranges(s.ID, 12))
		f.equal("those of another", f.shards(other.ID), ranges(other.ID, 3))
		f.equal("those of none", len(f.shards(unknown)), 0)
	})
}
