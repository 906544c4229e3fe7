package scope

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/server/internal/caller"
	"github.com/fairlead-io/fairlead/sweep"
)

// zetas are one of each kind of thing that a tenant has, and it is zeta's.
type zetas struct{ job, schedule, batch, sweep int64 }

func newZetas(t *testing.T, store Store) (made zetas) {
	t.Helper()
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	job := &fairlead.Job{Kind: "noop", Tenant: "zeta"}
	must(fairlead.NewClient(store).Enqueue(ctx, job))
	made.job = job.ID
	s, err := schedule.NewClient(store).Put(ctx, schedule.Schedule{Name: "s", Cron: "@daily", Job: fairlead.Job{Kind: "noop", Tenant: "zeta"}})
	must(err)
	made.schedule = s.ID
	_, err = store.Join(ctx, fairlead.Node{Name: "n", Kinds: []string{"wall.paint"}}, time.Hour)
	must(err)
	b, err := batch.NewClient(store).Start(ctx, batch.Batch{Name: "b", Type: "paint", Tenant: "zeta"}, batch.Change{Target: batch.Target{ID: "1", Type: "wall"}})
	must(err)
	made.batch = b.ID
	sw, err := sweep.NewClient(store).Put(ctx, sweep.Sweep{Name: "w", Kind: "count", To: 9, Tenant: "zeta"})
	must(err)
	made.sweep = sw.ID
	return made
}

// second returns the error of a call with another result before it.
func second[T any](_ T, err error) error { return err }

// Services look up objects before they change them. If one forgets to, its store still
// knows whose they are.
func TestTheStoreOfACallerTouchesNothingOfOthers(t *testing.T) {
	store := sqlitetest.Open(t)
	defer store.Close()
	z, own := newZetas(t, store), Restricted{store: store}
	errTouched := errors.New("it is touched")
	ctx := caller.With(t.Context(), caller.Caller{Identity: caller.Identity{Name: "acme's", Role: access.RoleOperator, Tenants: []string{"acme"}}})
	for name, err := range map[string]error{
		"Get":      second(own.Get(ctx, z.job)),
		"Attempts": second(own.Attempts(ctx, z.job)),
		"Explain":  second(own.Explain(ctx, z.job)),
		"Extend":   second(own.Extend(ctx, fairlead.Extension{ID: z.job})),
		"Operate":  own.Operate(ctx, z.job, fairlead.Operation{Op: fairlead.OpCancel}),
		"Resolve":  own.Resolve(ctx, fairlead.Settlement{ID: z.job}),

		"Act": second(own.Act(ctx, z.schedule, func(schedule.Schedule, schedule.View) (schedule.Plan, error) {
			return schedule.Plan{}, errTouched
		})),
		"PutSchedule": second(own.PutSchedule(ctx, schedule.Schedule{ID: z.schedule, Name: "s", Version: 1, Job: fairlead.Job{Kind: "noop", Tenant: "acme"}}, false)),

		"AddChunks":   own.AddChunks(ctx, z.batch, nil),
		"DropChunks":  own.DropChunks(ctx, z.batch, 9),
		"DeleteBatch": own.DeleteBatch(ctx, z.batch),
		"Chunks":      second(own.Chunks(ctx, z.batch, batch.ChunkFilter{})),
		"Conduct":     second(own.Conduct(ctx, z.batch, true, func(context.Context, *batch.Record, batch.Tx) error { return errTouched })),

		"Shards":       second(own.Shards(ctx, z.sweep)),
		"SweepItems":   second(own.SweepItems(ctx, z.sweep, 0)),
		"FailedItems":  second(own.FailedItems(ctx, sweep.ItemFilter{Sweep: z.sweep})),
		"SweepLogs":    second(own.SweepLogs(ctx, sweep.LogFilter{Sweep: z.sweep})),
		"SweepEvents":  second(own.SweepEvents(ctx, sweep.EventFilter{Sweep: z.sweep})),
		"AddSweepLogs": own.AddSweepLogs(ctx, []sweep.Log{{Sweep: z.sweep, Level: "info", Text: "x"}}),
		"Checkpoint":   second(own.Checkpoint(ctx, sweep.Checkpoint{Sweep: z.sweep})),
		"Steer":        second(own.Steer(ctx, z.sweep, true, func(context.Context, *sweep.Record, sweep.Tx) error { return errTouched })),
		"PutSweep":     second(own.PutSweep(ctx, sweep.Sweep{ID: z.sweep, Name: "w", Kind: "count", To: 9, Version: 1, Tenant: "acme"})),

		"DeleteSweep":    own.DeleteSweep(ctx, z.sweep),
		"DeleteSchedule": own.DeleteSchedule(ctx, z.schedule),
	} {
		if !errors.Is(err, fairlead.ErrNotFound) {
			t.Errorf("%s: %v, want that it does not exist", name, err)
		}
	}
	for name, err := range map[string]error{
		"Nodes": second(own.Nodes(ctx)), "Held": second(own.Held(ctx, 1)), "Limits": second(own.Limits(ctx)), "Verify": second(own.Verify(ctx)),
		"Secret": second(own.Secret(ctx, "x")), "Drain": own.Drain(ctx, 1, true), "SetLimit": own.SetLimit(ctx, fairlead.Limit{Scope: fairlead.LimitGlobal}),
		"PutTenant": second(own.PutTenant(ctx, fairlead.Tenant{Name: "acme"})), "DeleteTenant": own.DeleteTenant(ctx, "acme"),
		"Pause": own.Pause(ctx, fairlead.Pause{Scope: fairlead.PauseQueue, Name: "q"}), "Resume": own.Resume(ctx, fairlead.Pause{Scope: fairlead.PauseQueue, Name: "q"}),
		"PutCalendar": second(own.PutCalendar(ctx, schedule.Calendar{Name: "c"})), "DeleteCalendar": own.DeleteCalendar(ctx, "c"),
		"Tick": second(own.Tick(ctx, 1, func(schedule.Schedule, schedule.View) schedule.Plan { return schedule.Plan{} })),
	} {
		if !errors.Is(err, caller.ErrForbidden) {
			t.Errorf("%s: %v, want that it is forbidden", name, err)
		}
	}
	for _, pause := range []fairlead.Pause{{Scope: fairlead.PauseQueue, Name: "q"}, {Scope: fairlead.PauseTenant, Name: "acme", Reason: "unpaid"}, {Scope: fairlead.PauseTenant, Name: "zeta"}} {
		if err := own.store.Pause(ctx, pause); err != nil {
			t.Fatal(err)
		}
	}
	if pauses, err := own.Pauses(ctx); err != nil || len(pauses) != 1 || pauses[0].Reason != "unpaid" {
		t.Errorf("the caller sees the pauses %+v, %v", pauses, err)
	}
	for name, err := range map[string]error{
		"Enqueue": own.Enqueue(ctx, []*fairlead.Job{{Kind: "noop", Tenant: "zeta"}}), "EnqueueOnce": second(own.EnqueueOnce(ctx, fairlead.Once{}, []*fairlead.Job{{Kind: "noop", Tenant: "zeta"}})),
		"CreateBatch": second(own.CreateBatch(ctx, batch.Batch{Tenant: "zeta"})), "CreateBatch, then": second(own.CreateBatch(ctx, batch.Batch{Tenant: "acme", Then: []fairlead.Job{{Kind: "noop", Tenant: "zeta"}}})),
		"Pause": own.Pause(ctx, fairlead.Pause{Scope: fairlead.PauseTenant, Name: "zeta"}), "of no tenant": own.Enqueue(ctx, []*fairlead.Job{{Kind: "noop"}}),
		"Resume": own.Resume(ctx, fairlead.Pause{Scope: fairlead.PauseTenant, Name: "zeta"}),
	} {
		if err == nil || errors.Is(err, fairlead.ErrNotFound) || errors.Is(err, caller.ErrForbidden) {
			t.Errorf("%s: %v, want that it is not their tenant", name, err)
		}
	}
}

// An empty list of tenants stands for all of them: a filter that names only tenants of
// others must not become one.
func TestAFilterThatNamesOnlyOthersFindsNothing(t *testing.T) {
	store := sqlitetest.Open(t)
	defer store.Close()
	newZetas(t, store)
	if _, err := store.PutTenant(t.Context(), fairlead.Tenant{Name: "zeta"}); err != nil {
		t.Fatal(err)
	}
	own, zeta := Restricted{store: store}, []string{"zeta"}
	count := func(identity caller.Identity) map[string]int64 {
		ctx := caller.With(t.Context(), caller.Caller{Identity: identity})
		found := map[string]int64{}
		add := func(name string, n int64, err error) {
			if found[name] = n; err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		jobs, err := own.Find(ctx, fairlead.Filter{Tenants: zeta, Kinds: []string{"noop"}, Limit: 9})
		add("Find", int64(len(jobs)), err)
		page, err := own.FindPage(ctx, fairlead.Filter{Tenants: zeta, Kinds: []string{"noop"}, Limit: 9})
		add("FindPage", int64(len(page.Jobs)), err)
		tally, err := own.Tally(ctx, fairlead.Filter{Tenants: zeta, Kinds: []string{"noop"}})
		add("Tally", tally[fairlead.Ready], err)
		counted, err := own.TallyUpTo(ctx, fairlead.Filter{Tenants: zeta, Kinds: []string{"noop"}}, 9)
		add("TallyUpTo", counted.Total(), err)
		batches, err := own.Batches(ctx, batch.Filter{Tenants: zeta, Limit: 9})
		add("Batches", int64(len(batches)), err)
		sweeps, err := own.Sweeps(ctx, sweep.Filter{Tenants: zeta, Limit: 9})
		add("Sweeps", int64(len(sweeps)), err)
		schedules, err := own.Schedules(ctx, schedule.Filter{Tenants: zeta, Limit: 9})
		add("Schedules", int64(len(schedules)), err)
		tenants, err := own.Tenants(ctx, fairlead.TenantFilter{Names: zeta, Limit: 9})
		add("Tenants", int64(len(tenants)), err)
		return found
	}
	for name, n := range count(caller.Identity{Role: access.RoleViewer, Tenants: []string{"acme"}}) {
		if n != 0 {
			t.Errorf("%s finds %d of others", name, n)
		}
	}
	for name, n := range count(caller.Identity{Role: access.RoleViewer, Tenants: []string{"acme", "zeta"}}) {
		if n != 1 {
			t.Errorf("%s finds %d of their own, want 1", name, n)
		}
	}
}

// broken is a store that cannot count.
type broken struct{ Store }

func (broken) Usage(context.Context) (fairlead.UsageReport, error) {
	return fairlead.UsageReport{}, fairlead.ErrUnavailable
}

func TestWhatCannotBeCountedIsNotCountedAsNothing(t *testing.T) {
	for _, tenants := range [][]string{nil, {"acme"}} {
		ctx := caller.With(t.Context(), caller.Caller{Identity: caller.Identity{Name: "c", Role: access.RoleViewer, Tenants: tenants}})
		if report, err := (Restricted{store: broken{}}).Usage(ctx); !errors.Is(err, fairlead.ErrUnavailable) {
			t.Errorf("who is bound to %v is told %+v, %v", tenants, report, err)
		}
	}
}

// conflicting is a store in which each name is taken, and that can be asked a few times.
type conflicting struct {
	Store
	left int
}

func (c *conflicting) PutSweep(context.Context, sweep.Sweep) (sweep.Sweep, error) {
	return sweep.Sweep{}, fairlead.ErrConflict
}

func (c *conflicting) PutSchedule(context.Context, schedule.Schedule, bool) (schedule.Schedule, error) {
	return schedule.Schedule{}, fairlead.ErrConflict
}

func (c *conflicting) Sweeps(_ context.Context, filter sweep.Filter) ([]sweep.Record, error) {
	if c.left--; c.left < 0 {
		return nil, fairlead.ErrUnavailable
	}
	if len(filter.IDs) > 0 || len(filter.Tenants) == 0 {
		return []sweep.Record{{Sweep: sweep.Sweep{ID: 1, Version: 3, Tenant: "acme"}}}, nil
	}
	return nil, nil
}

func (c *conflicting) Schedules(_ context.Context, filter schedule.Filter) ([]schedule.Schedule, error) {
	if c.left--; c.left < 0 {
		return nil, fairlead.ErrUnavailable
	}
	if len(filter.IDs) > 0 || len(filter.Tenants) == 0 {
		return []schedule.Schedule{{ID: 1, Version: 3}}, nil
	}
	return nil, nil
}

// Whose name it is must be known before anything is said of it.
func TestAConflictWhoseReasonCannotBeFoundOutIsNotTold(t *testing.T) {
	ctx := caller.With(t.Context(), caller.Caller{Identity: caller.Identity{Role: access.RoleOperator, Tenants: []string{"acme"}}})
	for name, c := range map[string]struct {
		put   func(Restricted) error
		looks int
	}{
		"a sweep": {func(s Restricted) error {
			return second(s.PutSweep(ctx, sweep.Sweep{ID: 1, Name: "n", Version: 3, Tenant: "acme"}))
		}, 4},
		"a schedule": {func(s Restricted) error {
			return second(s.PutSchedule(ctx, schedule.Schedule{ID: 1, Name: "n", Version: 3, Job: fairlead.Job{Kind: "noop", Tenant: "acme"}}, false))
		}, 4},
	} {
		for left := range c.looks {
			if err := c.put(Restricted{store: &conflicting{left: left}}); !errors.Is(err, fairlead.ErrUnavailable) {
				t.Errorf("%s after %d looks: %v", name, left, err)
			}
		}
		if err := c.put(Restricted{store: &conflicting{left: c.looks}}); !errors.Is(err, fairlead.ErrConflict) || !strings.Contains(err.Error(), "cannot be used") {
			t.Errorf("%s whose name is another's: %v", name, err)
		}
	}
}
