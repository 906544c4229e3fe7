package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/alert"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/sweep"
)

// RunBroken checks that no method panics if the database breaks during a call: a node that
// panics takes all of its jobs with it. RunBroken gives each table another name in turn,
// with rename, which bypasses the store.
func RunBroken(t *testing.T, store Store, tables []string, rename func(t *testing.T, table, to string)) {
	t.Helper()
	if len(tables) == 0 {
		t.Fatal("there are no tables")
	}
	stride := tier.Size(t, 8, 1, "breaks every table")
	for i := 0; i < len(tables); i += stride {
		table := tables[i]
		b := newBreakable(t, store)
		rename(t, table, table+"_gone")
		for _, verb := range b.verbs() {
			b.try(table, verb)
		}
		rename(t, table+"_gone", table)
	}
}

// breakable is a store with one object of each type.
type breakable struct {
	*testing.T
	store                      Store
	client                     *fairlead.Client
	schedules                  *schedule.Client
	batches                    *batch.Client
	sweeps                     *sweep.Client
	node                       fairlead.NodeID
	scope                      *driver.Scope
	ready, later, parked, left *fairlead.Job
	running                    []*fairlead.Job
	batch                      batch.Batch
	sweep                      sweep.Sweep
	schedule                   schedule.Schedule
}

func newBreakable(t *testing.T, store Store) *breakable {
	t.Helper()
	b := &breakable{T: t, scope: &driver.Scope{Kinds: []string{"a"}}}
	b.ask(store)
	f, ctx := &fixture{TB: t, outer: t, store: store}, t.Context()
	var err error
	b.node, err = store.Join(ctx, fairlead.Node{Name: "n", Kinds: []string{"a", batch.TaskKind("wall", "paint")}}, lease)
	f.ok(err)
	enqueue := func(job *fairlead.Job) *fairlead.Job {
		job.Kind = "a"
		f.ok(b.client.Enqueue(ctx, job))
		return job
	}
	name := fmt.Sprint("n", b.node)
	enqueue(&fairlead.Job{Priority: 5})
	enqueue(&fairlead.Job{Priority: 5, ConcurrencyKey: name})
	b.running, err = store.Claim(ctx, driver.Claim{Node: b.node, Scope: b.scope, Max: 2})
	f.ok(err)
	f.equal("claimed", len(b.running), 2)
	b.parked = enqueue(&fairlead.Job{ConcurrencyKey: name})
	b.ready, b.left, b.later = enqueue(&fairlead.Job{}), enqueue(&fairlead.Job{}), enqueue(&fairlead.Job{NotBefore: f.now().Add(time.Hour)})
	b.schedule, err = b.schedules.Put(ctx, schedule.Schedule{Name: name, Cron: "@yearly", Job: fairlead.Job{Kind: "a"}})
	f.ok(err)
	b.batch, err = b.batches.Start(ctx, batch.Batch{Name: name, Type: "paint"}, batch.Change{Target: batch.Target{ID: "1", Type: "wall"}})
	f.ok(err)
	b.sweep, err = b.sweeps.Put(ctx, sweep.Sweep{Name: name, Kind: "scrub", To: 10})
	f.ok(err)
	b.sweep, err = b.sweeps.Start(ctx, b.sweep.ID, "me")
	f.ok(err)
	return b
}

// ask directs all calls to a store.
func (b *breakable) ask(store Store) {
	b.store, b.client = store, fairlead.NewClient(store)
	b.schedules, b.batches, b.sweeps = schedule.NewClient(store), batch.NewClient(store), sweep.NewClient(store)
}

// verbs returns the calls to a store, by name. Those that change the most come last.
func (b *breakable) verbs() []brokenVerb {
	s, c, id := b.store, b.client, b.ready.ID
	settle := fairlead.Settlement{ID: b.running[0].ID, Fence: b.running[0].Fence, Move: fairlead.Succeed, FreeKey: true}
	again := fairlead.Settlement{ID: b.running[1].ID, Fence: b.running[1].Fence, Move: fairlead.Again, FreeKey: true}
	shard := sweep.Checkpoint{Sweep: b.sweep.ID, Job: b.running[0].ID, Fence: b.running[0].Fence, To: 10}
	keep := driver.Retention{Succeeded: time.Nanosecond, Failed: time.Nanosecond, Cancelled: time.Nanosecond, Skipped: time.Nanosecond}
	return []brokenVerb{
		{"Get", func(ctx context.Context) error { return only(s.Get(ctx, id)) }},
		{"Find", func(ctx context.Context) error { return only(s.Find(ctx, fairlead.Filter{Limit: 10})) }},
		{"Tally", func(ctx context.Context) error { return only(s.Tally(ctx, fairlead.Filter{})) }},
		{"Attempts", func(ctx context.Context) error { return only(s.Attempts(ctx, id)) }},
		{"Nodes", func(ctx context.Context) error { return only(s.Nodes(ctx)) }},
		{"Pauses", func(ctx context.Context) error { return only(s.Pauses(ctx)) }},
		{"Now", func(ctx context.Context) error { return only(s.Now(ctx)) }},
		{"Explain of a ready job", func(ctx context.Context) error { return only(s.Explain(ctx, id)) }},
		{"Explain of a scheduled job", func(ctx context.Context) error { return only(s.Explain(ctx, b.later.ID)) }},
		{"Explain of a parked job", func(ctx context.Context) error { return only(s.Explain(ctx, b.parked.ID)) }},
		{"Limits", func(ctx context.Context) error { return only(s.Limits(ctx)) }},
		{"Verify", func(ctx context.Context) error { return only(s.Verify(ctx)) }},
		{"Usage", func(ctx context.Context) error { return only(s.Usage(ctx)) }},
		{"Tenants", func(ctx context.Context) error { return only(c.Tenants(ctx, fairlead.TenantFilter{})) }},
		{"Schedules", func(ctx context.Context) error { return only(b.schedules.List(ctx, schedule.Filter{})) }},
		{"Fires", func(ctx context.Context) error { return only(b.schedules.Fires(ctx, schedule.FireFilter{})) }},
		{"Calendars", func(ctx context.Context) error { return only(b.schedules.Calendars(ctx)) }},
		{"Alerts", func(ctx context.Context) error { return only(s.Alerts(ctx)) }},
		{"SetAlert", func(ctx context.Context) error {
			return only(s.SetAlert(ctx, alert.Rule{Name: "a", Scope: alert.Global}))
		}},
		{"RemoveAlert", func(ctx context.Context) error { return s.RemoveAlert(ctx, "a") }},
		{"TakeLook", func(ctx context.Context) error {
			_, _, err := s.TakeLook(ctx, time.Second)
			return err
		}},
		{"AlertCounts", func(ctx context.Context) error {
			return only(s.AlertCounts(ctx, time.Unix(0, 0), time.Unix(0, 0).Add(alert.Bucket)))
		}},
		{"EndLook", func(ctx context.Context) error { return only(s.EndLook(ctx, alert.Found{Version: 1})) }},
		{"Batches", func(ctx context.Context) error { return only(b.batches.List(ctx, batch.Filter{})) }},
		{"Tasks", func(ctx context.Context) error {
			return only(b.batches.Tasks(ctx, batch.TaskFilter{Batch: b.batch.ID}))
		}},
		{"Sweeps", func(ctx context.Context) error { return only(b.sweeps.List(ctx, sweep.Filter{})) }},
		{"Shards", func(ctx context.Context) error { return only(b.sweeps.Shards(ctx, b.sweep.ID)) }},
		{"SweepLogs", func(ctx context.Context) error { return only(b.sweeps.Logs(ctx, sweep.LogFilter{Sweep: b.sweep.ID})) }},
		{"FailedItems", func(ctx context.Context) error {
			return only(b.sweeps.FailedItems(ctx, sweep.ItemFilter{Sweep: b.sweep.ID}))
		}},
		{"SweepHistory", func(ctx context.Context) error {
			return only(b.sweeps.History(ctx, sweep.EventFilter{Sweep: b.sweep.ID}))
		}},
		{"Held", func(ctx context.Context) error { return only(s.Held(ctx, b.node)) }},
		{"Beat", func(ctx context.Context) error { return only(s.Beat(ctx, driver.Beat{Node: b.node, Lease: lease})) }},
		{"Report", func(ctx context.Context) error { return s.Report(ctx, []driver.Starts{{}}) }},
		{"Save", func(ctx context.Context) error {
			return s.Save(ctx, fairlead.Save{ID: settle.ID, Fence: settle.Fence, Memo: json.RawMessage("1")})
		}},
		{"Extend", func(ctx context.Context) error { return only(c.Extend(ctx, fairlead.Extension{ID: id})) }},
		{"Resolve", func(ctx context.Context) error { return c.Resolve(ctx, settle.ID, settle.Fence, nil, nil) }},
		{"Enqueue", func(ctx context.Context) error {
			return c.Enqueue(ctx, &fairlead.Job{Kind: "a", Key: "k", ConcurrencyKey: "c"})
		}},
		{"EnqueueOnce", func(ctx context.Context) error {
			return only(c.EnqueueOnce(ctx, fairlead.Once{Caller: "me", Key: "k"}, &fairlead.Job{Kind: "a"}))
		}},
		{"Promote", func(ctx context.Context) error { return only(s.Promote(ctx, 10)) }},
		{"Reap", func(ctx context.Context) error {
			return only(s.Reap(ctx, driver.Reap{By: b.node, MaxCrashes: 3, Limit: 10}))
		}},
		{"Overdue", func(ctx context.Context) error { return only(s.Overdue(ctx, 10)) }},
		{"Expire", func(ctx context.Context) error { return only(s.Expire(ctx, []driver.Held{{ID: 1, Fence: 1}})) }},
		{"Trigger", func(ctx context.Context) error { return only(b.schedules.Trigger(ctx, b.schedule.ID, nil)) }},
		{"Tick", func(ctx context.Context) error {
			return only(s.Tick(ctx, 10, func(schedule.Schedule, schedule.View) schedule.Plan { return schedule.Plan{} }))
		}},
		{"conducting a batch", func(ctx context.Context) error { return only(batch.Conduct(ctx, s, b.batch.ID)) }},
		{"PauseBatch", func(ctx context.Context) error { return only(b.batches.Pause(ctx, b.batch.ID, "")) }},
		{"CancelBatch", func(ctx context.Context) error { return only(b.batches.Cancel(ctx, b.batch.ID, "")) }},
		{"RollBackBatch", func(ctx context.Context) error { return only(b.batches.RollBack(ctx, b.batch.ID, batch.RollBack{})) }},
		{"steering a sweep", func(ctx context.Context) error { return sweep.Steer(ctx, s, b.sweep.ID) }},
		{"Checkpoint", func(ctx context.Context) error { return only(s.Checkpoint(ctx, shard)) }},
		{"LogSweep", func(ctx context.Context) error { return b.sweeps.Log(ctx, b.sweep.ID, sweep.Log{Text: "x"}) }},
		{"StopSweep", func(ctx context.Context) error { return only(b.sweeps.Stop(ctx, b.sweep.ID, "me", "")) }},
		{"StartSweepAgain", func(ctx context.Context) error { return only(b.sweeps.StartAgain(ctx, b.sweep.ID, "me")) }},
		{"RetrySweep", func(ctx context.Context) error { return only(b.sweeps.Retry(ctx, b.sweep.ID, "me")) }},
		{"Claim", func(ctx context.Context) error {
			return only(s.Claim(ctx, driver.Claim{Node: b.node, Scope: b.scope, Max: 1}))
		}},
		{"Settle", func(ctx context.Context) error { return only(s.Settle(ctx, []fairlead.Settlement{settle, again})) }},
		{"AddToken", func(ctx context.Context) error {
			return only(s.AddToken(ctx, access.Token{Name: "t", Role: access.RoleViewer}))
		}},
		{"FindToken", func(ctx context.Context) error { return only(s.FindToken(ctx, [32]byte{1})) }},
		{"Tokens", func(ctx context.Context) error { return only(s.Tokens(ctx)) }},
		{"TouchToken", func(ctx context.Context) error { return s.TouchToken(ctx, 1) }},
		{"DeleteToken", func(ctx context.Context) error { return s.DeleteToken(ctx, 1) }},
		{"Audit", func(ctx context.Context) error {
			return s.Audit(ctx, []access.Entry{{Actor: "me", Action: "Do"}})
		}},
		{"AuditLog", func(ctx context.Context) error { return only(s.AuditLog(ctx, access.Filter{})) }},
		{"Secret", func(ctx context.Context) error { return only(s.Secret(ctx, fmt.Sprint("s", b.node))) }},
		{"AddConfidential", func(ctx context.Context) error {
			return s.AddConfidential(ctx, fairlead.Confidential{"z": {"args"}})
		}},
		{"SetConfidential", func(ctx context.Context) error { return s.SetConfidential(ctx, "z", []string{"memo"}) }},
		{"Confidential", func(ctx context.Context) error { return only(s.Confidential(ctx)) }},
		{"PutCalendar", func(ctx context.Context) error {
			return only(b.schedules.PutCalendar(ctx, schedule.Calendar{Name: "c"}))
		}},
		{"PutSchedule", func(ctx context.Context) error {
			return only(b.schedules.Put(ctx, schedule.Schedule{Name: "s", Cron: "@yearly", Job: fairlead.Job{Kind: "a"}}))
		}},
		{"CreateBatch", func(ctx context.Context) error {
			return only(b.batches.Start(ctx, batch.Batch{Name: "b", Type: "paint"}, batch.Change{Target: batch.Target{ID: "1", Type: "wall"}}))
		}},
		{"PutSweep", func(ctx context.Context) error {
			return only(b.sweeps.Put(ctx, sweep.Sweep{Name: "w", Kind: "scrub", To: 10}))
		}},
		{"PutTenant", func(ctx context.Context) error { return only(c.PutTenant(ctx, fairlead.Tenant{Name: "acme"})) }},
		{"SetLimit", func(ctx context.Context) error {
			return c.SetLimit(ctx, fairlead.Limit{Scope: fairlead.LimitKind, Name: "z", MaxRunning: 1})
		}},
		{"PauseKind", func(ctx context.Context) error { return c.PauseKind(ctx, "z") }},
		{"ResumeKind", func(ctx context.Context) error { return c.ResumeKind(ctx, "z") }},
		{"SetPriority", func(ctx context.Context) error { return operations(s).SetPriority(ctx, id, 3) }},
		{"SetQueue", func(ctx context.Context) error { return operations(s).SetQueue(ctx, id, "elsewhere") }},
		{"Reschedule", func(ctx context.Context) error { return operations(s).Reschedule(ctx, id, time.Now().Add(time.Hour)) }},
		{"RunNow", func(ctx context.Context) error { return operations(s).RunNow(ctx, b.later.ID) }},
		{"Cancel", func(ctx context.Context) error { return operations(s).Cancel(ctx, id, "") }},
		{"Reopen", func(ctx context.Context) error { return operations(s).Reopen(ctx, id) }},
		{"Delete", func(ctx context.Context) error { return operations(s).Delete(ctx, b.left.ID) }},
		{"DeleteSweep", func(ctx context.Context) error { return b.sweeps.Delete(ctx, b.sweep.ID) }},
		{"DeleteSchedule", func(ctx context.Context) error { return b.schedules.Delete(ctx, b.schedule.ID) }},
		{"Prune", func(ctx context.Context) error { return only(s.Prune(ctx, keep, 10)) }},
		{"Drain", func(ctx context.Context) error { return s.Drain(ctx, b.node, true) }},
		{"Leave", func(ctx context.Context) error { return s.Leave(ctx, b.node) }},
		{"Join", func(ctx context.Context) error { return only(s.Join(ctx, fairlead.Node{Name: "m"}, lease)) }},
	}
}

// brokenVerb is a call that may fail.
type brokenVerb struct {
	name string
	call func(ctx context.Context) error
}

func only[T any](_ T, err error) error { return err }

// try makes a call, which may fail.
func (b *breakable) try(table string, v brokenVerb) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), 5*time.Second)
	defer cancel()
	defer func() {
		if value := recover(); value != nil {
			b.Errorf("without %s, %s panics: %v\n%s", table, v.name, value, debug.Stack())
		}
	}()
	_ = v.call(ctx)
}
