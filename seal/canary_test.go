package seal_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/alert"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/bulk"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/hold"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/seal"
	"github.com/fairlead-io/fairlead/sweep"
	"github.com/fairlead-io/fairlead/sweep/items"
)

// TestEveryColumnIsSealedOrListed lets callers put a canary into everything that they may
// write, and looks for canaries in every column of every table.
func TestEveryColumnIsSealedOrListed(t *testing.T) {
	everyDatabase(t, func(t *testing.T, d database) {
		newAviary(t, d).fill(t.Context())
		canaries, empty, err := d.scan(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range canaries {
			if unsealed[c.place] == "" || sealedEverywhere[c.canary] != "" {
				t.Errorf("%s is not sealed: it has %s", c.place, c.canary)
			}
		}
		for _, table := range empty {
			if unfilled[table] == "" {
				t.Errorf("the table %s has no rows: nothing was looked for in it", table)
			}
		}
	})
}

// aviary fills a database with canaries.
type aviary struct {
	t       *testing.T
	store   *seal.Store
	log     access.Store
	jobs    *fairlead.Client
	mux     *fairlead.Mux
	stepper *engine.Stepper
}

func newAviary(t *testing.T, d database) *aviary {
	t.Helper()
	store := seal.Wrap(d.store, keys(t))
	return &aviary{t: t, store: store, log: seal.WrapAccess(d.store, keys(t)), jobs: fairlead.NewClient(store), mux: fairlead.NewMux()}
}

func (a *aviary) ok(_ any, err error) {
	a.t.Helper()
	if err != nil {
		a.t.Fatal(err)
	}
}

// fill does everything that callers, handlers and nodes can do.
func (a *aviary) fill(ctx context.Context) {
	a.handle()
	stepper, err := engine.NewStepper(ctx, a.store, a.mux)
	a.ok(stepper, err)
	a.stepper = stepper
	for _, some := range []func(context.Context){a.govern, a.enqueue, a.hold, a.schedule, a.batch, a.sweep, a.bulk, a.alert, a.audit} {
		some(ctx)
		a.step(ctx)
	}
}

// step runs all jobs that are ready.
func (a *aviary) step(ctx context.Context) {
	a.t.Helper()
	for {
		job, err := a.stepper.Step(ctx)
		a.ok(job, err)
		if job == nil {
			return
		}
	}
}

// handle registers handlers that write what handlers can write.
func (a *aviary) handle() {
	handlers := map[string]func(ctx context.Context, job *fairlead.Job) error{
		canaryOf("job-kind"): func(ctx context.Context, _ *fairlead.Job) error {
			return errors.Join(fairlead.SetOutput(ctx, documentOf("output")), fairlead.Progress(ctx, documentOf("progress")), fairlead.Remember(ctx, documentOf("memo")))
		},
		"fail": func(context.Context, *fairlead.Job) error { return fairlead.Fatal(errors.New(canaryOf("error"))) },
		"retry": func(context.Context, *fairlead.Job) error {
			return fairlead.RetryAfter(time.Hour, errors.New(canaryOf("error")))
		},
		"await": func(context.Context, *fairlead.Job) error { return fairlead.Await(time.Hour) },
		"replace": func(context.Context, *fairlead.Job) error {
			return fairlead.Replace(&fairlead.Job{Kind: "await", Args: documentOf("replace")})
		},
		"http": func(context.Context, *fairlead.Job) error { return nil },
	}
	for kind, work := range handlers {
		a.mux.Handle(kind, fairlead.HandlerOptions{Confidential: []string{"args." + canaryOf("confidential")}}, fairlead.HandlerFunc(work))
	}
	batch.Handle(a.mux, batch.Operation{
		TargetType: canaryOf("change-target-type"), BatchType: canaryOf("batch-type"),
		BuildParam: func(context.Context, batch.TaskArgs) (json.RawMessage, error) { return documentOf("param"), nil },
		Process: func(_ context.Context, task batch.TaskArgs) error {
			if task.Target.ID == "2" {
				return errors.New(canaryOf("error"))
			}
			return nil
		},
	})
	items.Handle(a.mux, a.store, canaryOf("sweep-kind"), items.Options{}, func(ctx context.Context, _ items.Item[map[string]string]) error {
		items.Log(ctx, slog.LevelInfo, canaryOf("log"))
		return items.Abandon(errors.New(canaryOf("error")))
	})
	bulk.Register(a.mux, a.store)
}

// govern declares tenants, limits and pauses.
func (a *aviary) govern(ctx context.Context) {
	a.ok(a.store.PutTenant(ctx, plant("tenant", fairlead.Tenant{
		StartURL: "https://example.org/" + canaryOf("url"), FailURL: "https://example.org/" + canaryOf("url"), TimeoutURL: "https://example.org/" + canaryOf("url"),
	}, "tenant-parent")))
	a.ok(a.store.PutTenant(ctx, fairlead.Tenant{Name: canaryOf("child"), Parent: canaryOf("tenant-name")}))
	for _, limit := range []fairlead.Limit{{Scope: fairlead.LimitQueue, MaxRunning: 9, Rate: 100}, {Scope: fairlead.LimitKind, MaxRunning: 9}} {
		a.ok(nil, a.store.SetLimit(ctx, plant("limit", limit)))
	}
	a.ok(nil, a.store.Pause(ctx, plant("pause", fairlead.Pause{Scope: fairlead.PauseQueue})))
	a.ok(nil, a.jobs.SetConfidential(ctx, canaryOf("kind"), []string{"args." + canaryOf("confidential")}))
	a.ok(nil, a.store.KeepKinds(ctx, map[string]driver.Retention{canaryOf("kind"): {Succeeded: time.Hour}}))
	a.ok(a.store.Secret(ctx, canaryOf("secret")))
}

// enqueue makes jobs and lets them come to each of their states.
func (a *aviary) enqueue(ctx context.Context) {
	for range 3 { // of which two wait at their gate, one for a node
		a.ok(nil, a.jobs.Enqueue(ctx, pointer(plant("job", fairlead.Job{}, "job-key"))))
	}
	waits := &fairlead.Job{Kind: "await", Args: documentOf("args")}
	answered := &fairlead.Job{Kind: "await", Args: documentOf("args")}
	keyed := &fairlead.Job{Kind: "retry", Key: canaryOf("key"), KeyScope: fairlead.KeyForever}
	a.ok(nil, a.jobs.Enqueue(ctx, waits, answered, keyed, &fairlead.Job{Kind: "fail"}, &fairlead.Job{Kind: "replace"}))
	a.ok(a.jobs.EnqueueOnce(ctx, plant("once", fairlead.Once{}), &fairlead.Job{Kind: "retry"}))
	a.step(ctx)
	for _, job := range []*fairlead.Job{waits, answered} {
		stored, err := a.jobs.Get(ctx, job.ID)
		a.ok(stored, err)
		a.ok(a.jobs.Extend(ctx, plant("extension", fairlead.Extension{ID: job.ID, Fence: stored.Fence, For: time.Hour})))
		if job == answered {
			a.ok(nil, a.jobs.Resolve(ctx, job.ID, stored.Fence, documentOf("answer"), nil))
		}
	}
	a.ok(nil, a.jobs.Cancel(ctx, keyed.ID, canaryOf("cancel-reason")))
	parked := []*fairlead.Job{{Kind: "none", ConcurrencyKey: canaryOf("gate")}, {Kind: "none", ConcurrencyKey: canaryOf("gate")}}
	a.ok(nil, a.jobs.Enqueue(ctx, parked...))
}

// pointer returns a pointer to a literal.
func pointer[T any](value T) *T { return &value }

// hold lets a node hold jobs that are asked to stop, or answered too early.
func (a *aviary) hold(ctx context.Context) {
	node, err := a.store.Join(ctx, plant("node", fairlead.Node{Slots: 9, Kinds: []string{"held"}, Queues: []string{fairlead.DefaultQueue}}), time.Hour)
	a.ok(node, err)
	stopped, answered := &fairlead.Job{Kind: "held"}, &fairlead.Job{Kind: "held"}
	a.ok(nil, a.jobs.Enqueue(ctx, stopped, answered))
	claimed, err := a.store.Claim(ctx, driver.Claim{Node: node, Scope: &driver.Scope{Kinds: []string{"held"}}, Max: 9})
	if err != nil || len(claimed) != 2 {
		a.t.Fatalf("claimed are %d jobs: %v", len(claimed), err)
	}
	for _, job := range claimed {
		if job.ID == stopped.ID {
			a.ok(nil, a.jobs.Cancel(ctx, job.ID, canaryOf("cancel-reason")))
			continue
		}
		a.ok(nil, a.jobs.Resolve(ctx, job.ID, job.Fence, documentOf("answer"), nil))
	}
	begun := []hold.Hold{plant("hold", hold.Hold{ID: 1, From: time.Now(), Cause: hold.Cause{Code: fairlead.AtGate, Scope: fairlead.LimitKind}})}
	a.ok(nil, a.store.KeepSample(ctx))
	a.ok(a.store.KeepHolds(ctx, hold.Found{Next: 1, Now: time.Now(), Due: time.Minute, Begun: begun}))
}

// schedule starts runs, some of which fail.
func (a *aviary) schedule(ctx context.Context) {
	client := schedule.NewClient(a.store)
	a.ok(client.PutCalendar(ctx, plant("calendar", schedule.Calendar{Dates: []string{"12-25"}})))
	for _, kind := range []string{"fail", "await"} {
		s := schedule.Schedule{
			Name: canaryOf("schedule-" + kind), Cron: "@yearly", Zone: "UTC", Calendar: canaryOf("calendar-name"), Disabled: kind == "await",
			Job: fairlead.Job{Kind: kind}, Alert: &schedule.Alert{Quiet: time.Minute, URL: "https://example.org/" + canaryOf("url")},
		}
		s = plant("schedule", s, "schedule-daily", "schedule-broken", "schedule-job-key", "schedule-job-output", "schedule-job-error", "schedule-job-progress", "schedule-job-told", "schedule-job-memo")
		stored, err := client.Put(ctx, s)
		a.ok(stored, err)
		a.ok(client.Trigger(ctx, stored.ID, nil))
		a.ok(client.Trigger(ctx, stored.ID, documentOf("trigger")))
	}
}

// batch does, retries and rolls back, and is paused and cancelled.
func (a *aviary) batch(ctx context.Context) {
	client := batch.NewClient(a.store).Knowing(a.mux)
	changes := []batch.Change{
		plant("change", batch.Change{Target: batch.Target{ID: canaryOf("change-target-id")}}, "change-before"),
		plant("change", batch.Change{Target: batch.Target{ID: "2"}}),
	}
	plan := batch.Batch{Queue: "default", Notify: "https://example.org/" + canaryOf("url"), Then: []fairlead.Job{{Kind: "await"}}}
	plan = plant("batch", plan, "batch-reason", "batch-then-key", "batch-then-concurrencykey", "batch-then-output", "batch-then-error", "batch-then-progress", "batch-then-told", "batch-then-memo", "batch-then-queue", "batch-then-tenant")
	plan.Then[0].Queue, plan.Then[0].Tenant = "", ""
	b, err := client.Start(ctx, plan, changes...)
	a.ok(b, err)
	a.step(ctx)
	a.ok(client.Retry(ctx, b.ID))
	a.step(ctx)
	a.ok(client.RollBack(ctx, b.ID, batch.RollBack{}))
	paused, err := client.Start(ctx, plan, changes...)
	a.ok(paused, err)
	a.ok(client.Pause(ctx, paused.ID, canaryOf("batch-reason")))
	draft, err := client.Begin(ctx, plan)
	a.ok(draft, err)
	a.ok(nil, draft.Add(ctx, changes...))
}

// sweep goes over a list, and fails.
func (a *aviary) sweep(ctx context.Context) {
	client := sweep.NewClient(a.store)
	without := []string{"sweep-reason", "sweep-source-digest", "sweep-source-file", "sweep-source-url", "sweep-gate-beforerun", "sweep-items"}
	urls := sweep.Gate{BeforeCreate: "https://example.org/" + canaryOf("url")}
	listed, err := client.Put(ctx, plant("sweep", sweep.Sweep{Items: []string{canaryOf("item"), canaryOf("item")}, Queue: "default", Gate: urls}, without...))
	a.ok(listed, err)
	a.ok(client.Start(ctx, listed.ID, canaryOf("by")))
	a.ok(nil, client.Log(ctx, listed.ID, sweep.Log{Text: canaryOf("log")}))
	a.ok(nil, client.Note(ctx, listed.ID, canaryOf("by"), canaryOf("action"), canaryOf("note")))
	for name, source := range map[string]sweep.ItemSource{
		"url": {URL: "https://example.org/" + canaryOf("url")}, "file": {File: "/" + canaryOf("file")},
		"table": {Table: &sweep.Table{Database: canaryOf("database"), Name: canaryOf("table"), Key: canaryOf("column"), Columns: []string{canaryOf("column")}}},
	} {
		gated := sweep.Sweep{Name: name, Kind: canaryOf("sweep-kind"), Source: source, Data: documentOf("data"), Gate: sweep.Gate{BeforeRun: "https://example.org/" + canaryOf("url")}}
		stored, err := client.Put(ctx, gated)
		a.ok(stored, err)
		a.ok(client.Start(ctx, stored.ID, canaryOf("by")))
		a.ok(client.Stop(ctx, stored.ID, canaryOf("by"), canaryOf("sweep-reason")))
	}
}

// bulk cancels jobs.
func (a *aviary) bulk(ctx context.Context) {
	a.ok(nil, a.jobs.Enqueue(ctx, &fairlead.Job{Kind: "none"}))
	b := plant("bulk", bulk.Bulk{Action: bulk.Cancel, Filter: fairlead.Filter{Kinds: []string{"none", "held", canaryOf("kind")}}},
		"bulk-cause", "bulk-queue", "bulk-error", "bulk-filter-queues", "bulk-filter-tenants", "bulk-filter-key")
	a.ok(bulk.NewClient(a.store).Start(ctx, b))
	a.ok(bulk.NewClient(a.store).Start(ctx, plant("bulk", bulk.Bulk{Action: bulk.Move}, "bulk-error")))
	tasks := []string{batch.TaskKind(canaryOf("change-target-type"), canaryOf("batch-type"))} // which are retried by their batch
	a.ok(bulk.NewClient(a.store).Start(ctx, bulk.Bulk{Action: bulk.Retry, Filter: fairlead.Filter{Kinds: tasks}}))
}

// alert reports the jobs that failed.
func (a *aviary) alert(ctx context.Context) {
	a.ok(alert.NewClient(a.store).Set(ctx, plant("rule", alert.Rule{URL: "https://example.org/" + canaryOf("url"), On: []alert.Event{alert.Failed, alert.Missed}, Gather: 1})))
	for _, quiet := range []time.Duration{time.Second, 2 * time.Second} { // creates it, then changes it
		ensured := plant("rule", alert.Rule{URL: "https://example.org/" + canaryOf("url"), On: []alert.Event{alert.Failed}, Gather: 1})
		ensured.Name, ensured.Quiet = "ensured", quiet
		a.ok(alert.NewClient(a.store).Ensure(ctx, ensured))
	}
	a.ok(nil, a.jobs.Enqueue(ctx, &fairlead.Job{Kind: "fail", Key: canaryOf("key-failed")}))
	a.step(ctx)
	a.ok(alert.Look(ctx, a.store, 0))
	a.ok(nil, a.store.Report(ctx, []driver.Starts{plant("starts", driver.Starts{Count: 1, Missed: 1})}))
}

// audit keeps tokens and the audit log.
func (a *aviary) audit(ctx context.Context) {
	a.ok(nil, a.log.Audit(ctx, []access.Entry{plant("entry", access.Entry{Role: access.RoleAdmin})}))
	a.ok(a.log.AddToken(ctx, plant("token", access.Token{Role: access.RoleViewer, Hash: [32]byte{1}})))
	entries, err := a.log.AuditLog(ctx, access.Filter{})
	a.ok(entries, err)
	if !slices.ContainsFunc(entries, func(e access.Entry) bool { return string(e.After) == string(documentOf("entry-after")) }) {
		a.t.Errorf("the audit log is read as %+v", entries)
	}
}
