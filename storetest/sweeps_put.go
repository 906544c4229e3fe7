package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/sweep"
)

// elaborateSweep returns a sweep with every field set.
func elaborateSweep() sweep.Sweep {
	return sweep.Sweep{
		Name: "Züge ", Kind: "scrüb", Data: json.RawMessage(`{"b" : 1.0,"a":"<ü>"}`),
		Source: sweep.ItemSource{Table: &sweep.Table{Database: "main", Name: "user", Key: "id", Columns: []string{"name", "mail"}}},
		From:   3, To: 1_000_000_000_000_000_000, InFlight: 9000, Rate: 1234.5678, Adaptive: true, Window: 16_000, Shards: 1000, PerCall: 7,
		Attempts: 3, Backoff: 1500 * time.Millisecond, Timeout: time.Minute, Budget: sweep.Budget{Items: 5, Percent: 0.1, PerMinute: 3},
		OnExhausted: sweep.ExhaustedStop, Queue: "sg", Tenant: "acme", Priority: -4,
		Gate: sweep.Gate{BeforeCreate: "https://example.com/create", BeforeRun: "https://example.com/run?x=1", Timeout: time.Hour},
	}
}

// everyStanding returns a status with all fields set, except those derived from shards.
func everyStanding(at time.Time) sweep.Status {
	return sweep.Status{
		State: sweep.Stopped, Reason: "why\x00 not", Run: 2, StartedAt: at.Add(2 * time.Second), EndedAt: at.Add(3 * time.Second),
		Silent: []sweep.Silence{{Shard: 3, Since: at.Add(4 * time.Second), Free: true}, {Shard: 4}},
	}
}

// everySweepLedger returns a ledger with all fields set.
func everySweepLedger(at time.Time) sweep.Ledger {
	return sweep.Ledger{
		AskedAt: at.Add(time.Second), Cut: true, Forgiven: 7, Earlier: 8,
		Lately: []sweep.Failing{{At: at.Add(5 * time.Second), Items: 9}, {At: at.Add(6 * time.Second), Items: 10}},
	}
}

func testPutSweep(c *chapter) {
	c.test("PutSweep creates the sweep if its Version is zero and returns it as stored", func(f *fixture) {
		want := elaborateSweep()
		want.Status = everyStanding(f.now())
		stored := f.putSweep(want)
		want.ID, want.Version, want.CreatedAt, want.Total = stored.ID, stored.Version, f.now(), want.To-want.From
		f.equal("the answer", stored, want)
		f.equal("the sweep, and its empty ledger", f.sweepRecord(stored.ID), sweep.Record{Sweep: want})
		f.equal("the sweep elsewhere", f.elsewhere().sweepRecord(stored.ID), sweep.Record{Sweep: want})
		f.equal("its shards", len(f.shards(stored.ID)), 0)
	})
	c.test("Total is what is said as long as there are no shards", func(f *fixture) {
		s := f.sweep("s", func(s *sweep.Sweep) { s.From = 10 })
		f.equal("what has been done", s.Progress, sweep.Progress{Total: 990})
		s = f.sweep("unknown", func(s *sweep.Sweep) { s.To, s.Source.File = 0, "users.txt" })
		f.equal("what has been done", f.theSweep(s.ID).Progress, sweep.Progress{})
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
		first := f.putSweep(func() sweep.Sweep {
			s := elaborateSweep()
			s.State = sweep.Created
			return s
		}())
		f.Advance(time.Minute)
		want := newSweep("renamed", func(s *sweep.Sweep) { s.Tenant = "other" })
		want.ID, want.Version = first.ID, first.Version
		second := f.putSweep(want)
		if second.Version <= first.Version {
			f.Fatalf("version %d follows %d", second.Version, first.Version)
		}
		f.ok(sweep.Normalize(&want))
		want.Version, want.CreatedAt, want.Total = second.Version, first.CreatedAt, 1000
		f.equal("the answer", second, want)
		f.equal("the sweeps", f.sweeps(sweep.Filter{}), []sweep.Sweep{want})
	})
	c.test("How it stands counts only if it is created", func(f *fixture) {
		s := f.cut(2)
		f.steer(s.ID, func(_ context.Context, s *sweep.Record, _ sweep.Tx) error {
			s.Run, s.Reason, s.Ledger = 3, "because", everySweepLedger(f.now())
			return nil
		})
		want := f.sweepRecord(s.ID)
		change := want.Sweep
		change.Status, change.Rate = everyStanding(f.now()), 5
		want.Rate = 5
		stored := f.putSweep(change)
		want.Version = stored.Version
		f.equal("the answer", stored, want.Sweep)
		f.equal("the sweep and its ledger", f.sweepRecord(s.ID), want)
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
		f.equal("the names", sweepNames(f.sweeps(sweep.Filter{})), []string{"other", "taken"})
	})
	c.test("a name is told from one in other case, or with a space at its end", func(f *fixture) {
		for _, name := range []string{"acme", "Acme", "acme "} {
			f.sweep(name)
		}
		f.equal("the sweeps of a name", sweepNames(f.sweeps(sweep.Filter{Names: []string{"acme"}})), []string{"acme"})
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
		f.ok(sweep.Normalize(&s))
		f.wantOneWinner(f.rivals(6, func(_ int, store Store) error {
			_, err := store.PutSweep(f.ctx(), s)
			return err
		}))
		f.equal("the sweeps", len(f.sweeps(sweep.Filter{})), 1)
	})
	c.test("of many that replace one Version of a sweep at once exactly one wins", func(f *fixture) {
		s := f.sweep("s")
		f.wantOneWinner(f.rivals(6, func(_ int, store Store) error {
			_, err := store.PutSweep(f.ctx(), s)
			return err
		}))
	})
}

func testDeleteSweep(c *chapter) {
	c.test("Grant and DeleteSweep leave all that is known of another sweep as it is", func(f *fixture) {
		known := func(s sweep.Sweep) []any {
			return []any{f.theSweep(s.ID), f.shards(s.ID), f.events(s.ID), f.failed(sweep.ItemFilter{Sweep: s.ID}), f.logs(sweep.LogFilter{Sweep: s.ID})}
		}
		kept, _ := f.failing(2, 3)
		s, _ := f.failing(1, 3)
		for _, sw := range []sweep.Sweep{kept, s} {
			f.ok(f.store.AddSweepLogs(f.ctx(), []sweep.Log{{Sweep: sw.ID, Text: "a line"}}))
			f.steer(sw.ID, func(ctx context.Context, _ *sweep.Record, tx sweep.Tx) error {
				return tx.Record(ctx, sweep.Event{Action: "what"})
			})
		}
		before := known(kept)
		f.grant(s.ID, sweep.Share{Rate: 1, InFlight: 1})
		f.setState(s.ID, sweep.Stopped)
		f.ok(f.store.DeleteSweep(f.ctx(), s.ID))
		f.equal("what is known of the other", known(kept), before)
	})
	c.test("DeleteSweep removes a sweep with all that is known of it", func(f *fixture) {
		s, job := f.sweeping()
		kept := f.sweep("kept")
		f.note(s, job, sweep.FailedItem{Index: 3})
		f.ok(f.store.AddSweepLogs(f.ctx(), []sweep.Log{{Sweep: s.ID, Text: "gone"}, {Sweep: kept.ID, Text: "kept"}}))
		f.steer(s.ID, func(ctx context.Context, s *sweep.Record, tx sweep.Tx) error {
			s.State = sweep.Stopped
			return tx.Record(ctx, sweep.Event{Action: "stop"})
		})
		f.ok(f.store.DeleteSweep(f.ctx(), s.ID))
		f.equal("the sweeps", sweepNames(f.sweeps(sweep.Filter{})), []string{"kept"})
		f.equal("its shards", len(f.shards(s.ID)), 0)
		f.equal("its failed items", len(f.failed(sweep.ItemFilter{Sweep: s.ID})), 0)
		f.equal("its log", len(f.logs(sweep.LogFilter{Sweep: s.ID})), 0)
		f.equal("its history", len(f.events(s.ID)), 0)
		f.equal("the log of another", len(f.logs(sweep.LogFilter{Sweep: kept.ID})), 1)
		f.sweep(s.Name)
	})
	c.test("it fails with ErrConflict unless it is created, stopped or finished", func(f *fixture) {
		for _, state := range []sweep.State{sweep.Waiting, sweep.Running, sweep.Stopping} {
			s := f.sweep(string(state), inState(state))
			f.wantErr(f.store.DeleteSweep(f.ctx(), s.ID), fairlead.ErrConflict)
			f.theSweep(s.ID)
		}
		for _, state := range []sweep.State{sweep.Created, sweep.Stopped, sweep.Finished} {
			f.ok(f.store.DeleteSweep(f.ctx(), f.sweep(string(state), inState(state)).ID))
		}
	})
	c.test("it fails with ErrNotFound", func(f *fixture) {
		f.wantErr(f.store.DeleteSweep(f.ctx(), unknown), fairlead.ErrNotFound)
	})
}

func testListSweeps(c *chapter) {
	c.test("Sweeps returns the sweeps that match, newest first, a page at a time", func(f *fixture) {
		var all []sweep.Sweep
		for i := range 5 {
			all = append(all, f.sweep(fmt.Sprint("s", i)))
		}
		list := func(filter sweep.Filter) []string { return sweepNames(f.sweeps(filter)) }
		f.equal("all", list(sweep.Filter{}), []string{"s4", "s3", "s2", "s1", "s0"})
		f.equal("the first page", list(sweep.Filter{Limit: 2}), []string{"s4", "s3"})
		f.equal("the second page", list(sweep.Filter{Limit: 2, Below: all[3].ID}), []string{"s2", "s1"})
	})
	c.test("a filter chooses sweeps by ID, name, state and tenant, all of it", func(f *fixture) {
		tenant := func(name string) func(*sweep.Sweep) { return func(s *sweep.Sweep) { s.Tenant = name } }
		a := f.sweep("a", tenant("acme"))
		f.sweep("b", tenant("acme"), inState(sweep.Running))
		d := f.sweep("c", tenant("other"), inState(sweep.Running))
		running, created := []sweep.State{sweep.Running}, []sweep.State{sweep.Created, sweep.Stopped}
		list := func(filter sweep.Filter) []string { return sweepNames(f.sweeps(filter)) }
		f.equal("by ID", list(sweep.Filter{IDs: []int64{a.ID, d.ID, unknown}}), []string{"c", "a"})
		f.equal("by name", list(sweep.Filter{Names: []string{"c", "b", "none"}}), []string{"c", "b"})
		f.equal("by tenant", list(sweep.Filter{Tenants: []string{"acme", "none"}}), []string{"b", "a"})
		f.equal("by state", list(sweep.Filter{States: running}), []string{"c", "b"})
		f.equal("by states", list(sweep.Filter{States: created}), []string{"a"})
		f.equal("by state, a page", list(sweep.Filter{States: running, Limit: 1, Below: d.ID}), []string{"b"})
		f.equal("by all", list(sweep.Filter{IDs: []int64{a.ID, d.ID}, Names: []string{"a", "b"}, Tenants: []string{"acme"}, States: created, Below: d.ID}), []string{"a"})
		f.equal("by all but one", list(sweep.Filter{Names: []string{"a"}, Tenants: []string{"other"}}), []string(nil))
	})
	c.test("each sweep has the sum of what its shards have stored", func(f *fixture) {
		const shards, large = 3, int64(300_000_000_000_000_000)
		s := f.sweep("s")
		f.cut(2)
		f.steer(s.ID, func(ctx context.Context, s *sweep.Record, tx sweep.Tx) error {
			s.State, s.Cut = sweep.Running, true
			parts := ranges(s.ID, shards)
			for i := range parts {
				parts[i].From, parts[i].To, parts[i].Mark = large*int64(i), large*int64(i+1), large*int64(i)
			}
			return tx.Cut(ctx, parts)
		})
		f.equal("what has been done", f.theSweep(s.ID).Progress, sweep.Progress{Total: shards * large})
		f.employ(s.ID, 0, 1, 2)
		for i, job := range f.claim(f.join(), shards) {
			f.checkpoint(sweep.Checkpoint{
				Sweep: s.ID, Number: i, Job: job.ID, Fence: job.Fence, Mark: large*int64(i) + large/2, Done: large/2 + 10, Abandoned: 3, Errors: 20, Measured: 1.5, Ended: i == 2,
				Behind: int64(i), // source 002, sliding window: all items before its beginning are done
			})
		}
		want := sweep.Progress{Total: shards * large, Marked: shards*large/2 - 3, Done: shards * (large/2 + 10), Abandoned: 9, Errors: 60, InWindow: 42, Rate: 3}
		f.equal("what has been done", f.theSweep(s.ID).Progress, want)
		found := f.sweepRecord(s.ID)
		f.equal("what has been done", sweep.ProgressOf(&found, f.shards(s.ID)), want)
		f.setState(s.ID, sweep.Stopping)
		want.Rate = 0
		f.equal("what has been done", f.theSweep(s.ID).Progress, want)
		f.equal("what has been done of the other", f.sweeps(sweep.Filter{Names: []string{"cut into 2"}})[0].Progress, sweep.Progress{Total: 200})
	})
	c.test("Shards returns the shards of a sweep, in order", func(f *fixture) {
		s, other := f.cut(12), f.cut(3)
		f.equal("the shards", f.shards(s.ID), ranges(s.ID, 12))
		f.equal("those of another", f.shards(other.ID), ranges(other.ID, 3))
		f.equal("those of none", len(f.shards(unknown)), 0)
	})
}
