package storetest

import (
	"context"
	"errors"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/sweep"
)

// normal returns a job with its defaults filled in.
func (f *fixture) normal(changes ...func(*fairlead.Job)) *fairlead.Job {
	f.Helper()
	job := with(changes...)
	f.ok(fairlead.NormalizeJobs([]*fairlead.Job{job}))
	return job
}

// declaredEdges returns calls for declared objects: schedules, calendars, tenants, tokens,
// batches and sweeps.
func (f *fixture) declaredEdges() []edgeCall {
	ctx := f.ctx()
	var calls []edgeCall
	add := func(name string, do func(f *fixture) (any, error)) { calls = append(calls, edgeCall{name, do}) }
	add("PutSchedule of a taken name", func(f *fixture) (any, error) {
		f.plan("é ✓")
		_, err := f.tryPut(f.hourly("é ✓"), false)
		return nil, err
	})
	add("PutSchedule that takes another's name", func(f *fixture) (any, error) {
		f.plan("a")
		s := f.plan("b")
		s.Name = "a"
		_, err := f.tryPut(s, false)
		return nil, err
	})
	add("PutSchedule of an old version under another name", func(f *fixture) (any, error) {
		s := f.plan("a")
		f.put(s)
		s.Name = "b"
		_, err := f.tryPut(s, false)
		return nil, err
	})
	add("PutSchedule of none", func(f *fixture) (any, error) {
		s := f.hourly("a")
		s.ID, s.Version = noJob, 1
		_, err := f.tryPut(s, false)
		return nil, err
	})
	add("PutSchedule with a missing calendar", func(f *fixture) (any, error) {
		_, err := f.tryPut(f.hourly("a", func(s *schedule.Schedule) { s.Calendar = "nowhere" }), false)
		return nil, err
	})
	add("PutSchedule of none with a missing calendar", func(f *fixture) (any, error) {
		s := f.hourly("a", func(s *schedule.Schedule) { s.Calendar = "nowhere" })
		s.ID, s.Version = noJob, 1
		_, err := f.tryPut(s, false)
		return nil, err
	})
	add("PutSchedule of a taken name with a missing calendar", func(f *fixture) (any, error) {
		f.plan("a")
		_, err := f.tryPut(f.hourly("a", func(s *schedule.Schedule) { s.Calendar = "nowhere" }), false)
		return nil, err
	})
	add("DeleteSchedule of none", func(f *fixture) (any, error) { return nil, f.store.DeleteSchedule(ctx, noJob) })
	add("Act upon none", func(f *fixture) (any, error) {
		return f.store.Act(ctx, noJob, func(s schedule.Schedule, v schedule.View) (schedule.Plan, error) { return leave(s, v), nil })
	})
	add("Act that is refused", func(f *fixture) (any, error) {
		return f.store.Act(ctx, f.plan("s").ID, func(schedule.Schedule, schedule.View) (schedule.Plan, error) {
			return schedule.Plan{}, errors.New("no")
		})
	})
	add("Fires of none", func(f *fixture) (any, error) { return f.store.Fires(ctx, schedule.FireFilter{Schedule: noJob}) })
	add("Schedules of none", func(f *fixture) (any, error) {
		return f.store.Schedules(ctx, schedule.Filter{IDs: []int64{noJob, noJob, 0, -1}})
	})
	add("Schedules named twice", func(f *fixture) (any, error) {
		s := f.plan("a")
		found, err := f.store.Schedules(ctx, schedule.Filter{IDs: []int64{s.ID, s.ID}, Names: []string{"a", "a"}, Limit: -1})
		return len(found), err
	})
	add("PutCalendar twice", func(f *fixture) (any, error) {
		f.calendar(schedule.Calendar{Name: "c"})
		_, err := f.store.PutCalendar(ctx, schedule.Calendar{Name: "c"})
		return nil, err
	})
	add("PutCalendar of an old version", func(f *fixture) (any, error) {
		c := f.calendar(schedule.Calendar{Name: "c"})
		f.calendar(c)
		_, err := f.store.PutCalendar(ctx, c)
		return nil, err
	})
	add("PutCalendar of none", func(f *fixture) (any, error) {
		_, err := f.store.PutCalendar(ctx, schedule.Calendar{Name: "c", Version: 4})
		return nil, err
	})
	add("DeleteCalendar of none", func(f *fixture) (any, error) { return nil, f.store.DeleteCalendar(ctx, "none ") })
	add("DeleteCalendar in use", func(f *fixture) (any, error) {
		f.calendar(schedule.Calendar{Name: "c"})
		f.plan("s", keepingC)
		return nil, f.store.DeleteCalendar(ctx, "c")
	})
	add("PutTenant twice", func(f *fixture) (any, error) {
		_, err := f.store.PutTenant(ctx, fairlead.Tenant{Name: "t"})
		f.ok(err)
		_, err = f.store.PutTenant(ctx, fairlead.Tenant{Name: "t"})
		return nil, err
	})
	add("PutTenant of none", func(f *fixture) (any, error) {
		_, err := f.store.PutTenant(ctx, fairlead.Tenant{Name: "t", Version: 9})
		return nil, err
	})
	add("PutTenant of an old version", func(f *fixture) (any, error) {
		t, err := f.store.PutTenant(ctx, fairlead.Tenant{Name: "t"})
		f.ok(err)
		_, err = f.store.PutTenant(ctx, t)
		f.ok(err)
		_, err = f.store.PutTenant(ctx, t)
		return nil, err
	})
	add("PutTenant below none", func(f *fixture) (any, error) {
		_, err := f.store.PutTenant(ctx, fairlead.Tenant{Name: "t", Parent: "none"})
		return nil, err
	})
	add("PutTenant below itself", func(f *fixture) (any, error) {
		t, err := f.store.PutTenant(ctx, fairlead.Tenant{Name: "t"})
		f.ok(err)
		t.Parent = "t"
		_, err = f.store.PutTenant(ctx, t)
		return nil, err
	})
	add("DeleteTenant of none", func(f *fixture) (any, error) { return nil, f.store.DeleteTenant(ctx, "none") })
	add("DeleteTenant with children", func(f *fixture) (any, error) {
		_, err := f.store.PutTenant(ctx, fairlead.Tenant{Name: "t"})
		f.ok(err)
		_, err = f.store.PutTenant(ctx, fairlead.Tenant{Name: "u", Parent: "t"})
		f.ok(err)
		return nil, f.store.DeleteTenant(ctx, "t")
	})
	add("AddToken of a taken name", func(f *fixture) (any, error) {
		_, err := f.store.AddToken(ctx, access.Token{Name: "n", Hash: [32]byte{1}})
		f.ok(err)
		_, err = f.store.AddToken(ctx, access.Token{Name: "n", Hash: [32]byte{2}})
		return nil, err
	})
	add("FindToken of none", func(f *fixture) (any, error) {
		_, err := f.store.FindToken(ctx, [32]byte{9})
		return nil, err
	})
	add("DeleteToken of none", func(f *fixture) (any, error) { return nil, f.store.DeleteToken(ctx, noJob) })
	add("TouchToken of none", func(f *fixture) (any, error) { return nil, f.store.TouchToken(ctx, noJob) })
	add("Audit nothing", func(f *fixture) (any, error) { return nil, f.store.Audit(ctx, nil) })
	add("AddChunks to none", func(f *fixture) (any, error) { return nil, f.store.AddChunks(ctx, noJob, []batch.Chunk{{Number: 1}}) })
	add("AddChunks of nothing", func(f *fixture) (any, error) { return nil, f.store.AddChunks(ctx, noJob, nil) })
	add("DropChunks of none", func(f *fixture) (any, error) { return nil, f.store.DropChunks(ctx, noJob, 1) })
	add("DeleteBatch of none", func(f *fixture) (any, error) { return nil, f.store.DeleteBatch(ctx, noJob) })
	add("Conduct none", func(f *fixture) (any, error) {
		return f.store.Conduct(ctx, noJob, true, func(context.Context, *batch.Record, batch.Tx) error { return nil })
	})
	add("Conduct none, without waiting", func(f *fixture) (any, error) {
		return f.store.Conduct(ctx, noJob, false, func(context.Context, *batch.Record, batch.Tx) error { return nil })
	})
	add("Chunks of none", func(f *fixture) (any, error) { return f.store.Chunks(ctx, noJob, batch.ChunkFilter{}) })
	add("DeleteSweep of none", func(f *fixture) (any, error) { return nil, f.store.DeleteSweep(ctx, noJob) })
	add("PutSweep of none", func(f *fixture) (any, error) {
		_, err := f.store.PutSweep(ctx, sweep.Sweep{ID: noJob, Version: 1, Name: "s"})
		return nil, err
	})
	add("Shards of none", func(f *fixture) (any, error) { return f.store.Shards(ctx, noJob) })
	add("Steer none", func(f *fixture) (any, error) {
		return f.store.Steer(ctx, noJob, true, func(context.Context, *sweep.Record, sweep.Tx) error { return nil })
	})
	add("Checkpoint of none", func(f *fixture) (any, error) {
		_, err := f.store.Checkpoint(ctx, sweep.Checkpoint{Sweep: noJob})
		return nil, err
	})
	add("FailedItems of none", func(f *fixture) (any, error) { return f.store.FailedItems(ctx, sweep.ItemFilter{Sweep: noJob}) })
	add("AddSweepLogs of nothing", func(f *fixture) (any, error) { return nil, f.store.AddSweepLogs(ctx, nil) })
	return calls
}
