package seal_test

import (
	"context"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/alert"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/bulk"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/internal/everystore"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/seal"
	"github.com/fairlead-io/fairlead/sweep"
)

// TestWhatIsStoredIsReadAndActedUponAsItWasGiven stores everything once through a sealed store,
// and once without one, as programs did before there were keys. Both are read through a sealed one.
func TestWhatIsStoredIsReadAndActedUponAsItWasGiven(t *testing.T) {
	everystore.Run(t, func(t *testing.T, inner wholeStore) {
		t.Cleanup(func() { _ = inner.Close() })
		sealed := seal.Wrap(inner, keys(t))
		for name, writer := range map[string]driver.Store{"sealed": sealed, "plain": inner} {
			t.Run(name, func(t *testing.T) {
				r := reading{t, name, writer, sealed, seal.WrapAccess(inner, keys(t))}
				for _, read := range []func(context.Context){r.schedules, r.batches, r.sweeps, r.alerts, r.bulks} {
					read(t.Context())
				}
			})
		}
	})
}

// reading compares stored values with returned values.
type reading struct {
	*testing.T
	name           string
	writer, reader driver.Store
	log            access.Store
}

func (r reading) ok(_ any, err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

func (r reading) equal(what string, got, want any) {
	r.Helper()
	if !reflect.DeepEqual(got, want) {
		r.Errorf("%s: it is %+v, want %+v", what, got, want)
	}
}

func (r reading) schedules(ctx context.Context) {
	s := schedule.Schedule{Name: r.name, Cron: "@yearly", Job: fairlead.Job{Kind: "pay", Args: secret}, Alert: &schedule.Alert{
		URL: "https://example.org/" + canary, Headers: map[string]string{"Authorization": canary}, Body: secret, SigningSecret: canary,
	}}
	put, err := schedule.NewClient(r.writer).Put(ctx, s)
	r.ok(put, err)
	r.equal("the schedule as stored", put.Alert.Headers, s.Alert.Headers)
	read, err := schedule.NewClient(r.reader).ByID(ctx, put.ID)
	r.ok(read, err)
	r.equal("the args of the schedule", read.Job.Args, secret)
	r.equal("its alert", *read.Alert, *put.Alert)
	read.Description = "edited"
	edited, err := schedule.NewClient(r.reader).Put(ctx, read)
	r.ok(edited, err)
	r.equal("the alert after an edit", *edited.Alert, *put.Alert)
	fire, err := schedule.NewClient(r.reader).Trigger(ctx, put.ID, nil)
	r.ok(fire, err)
	job, err := r.reader.Get(ctx, fire.Job)
	r.ok(job, err)
	r.equal("the args of a run", job.Args, secret)
}

func (r reading) batches(ctx context.Context) {
	mux := fairlead.NewMux()
	batch.Handle(mux, batch.Operation{TargetType: "card", BatchType: r.name, Process: func(context.Context, batch.TaskArgs) error { return nil }})
	stepper, err := engine.NewStepper(ctx, r.reader, mux)
	r.ok(stepper, err)
	plan := batch.Batch{Name: "b", Type: r.name, Info: secret, Notify: "https://example.org/" + canary, Then: []fairlead.Job{{Kind: "then" + r.name, Args: secret}}}
	b, err := batch.NewClient(r.writer).Knowing(mux).Start(ctx, plan, batch.Change{Target: batch.Target{Type: "card", ID: "1"}, After: secret})
	r.ok(b, err)
	want := func(what string, b batch.Batch) {
		r.Helper()
		r.equal("the info of the batch "+what, b.Info, secret)
		r.equal("its address "+what, b.Notify, plan.Notify)
		r.equal("the args of its jobs "+what, b.Then[0].Args, secret)
	}
	want("as stored", b)
	for {
		job, err := stepper.Step(ctx)
		r.ok(job, err)
		if job == nil {
			break
		}
	}
	read, err := batch.NewClient(r.reader).Get(ctx, b.ID)
	r.ok(read, err)
	want("as read", read)
	then, err := r.reader.Find(ctx, fairlead.Filter{Kinds: []string{"then" + r.name}})
	r.ok(then, err)
	r.equal("the args of the job that follows", then[0].Args, secret)
	notices, err := r.reader.Find(ctx, fairlead.Filter{Kinds: []string{batch.CompletedKind}, Limit: 1})
	r.ok(notices, err)
	var completion batch.Completion
	r.ok(nil, json.Unmarshal(notices[0].Args, &completion))
	r.equal("the address of the notice", completion.URL, plan.Notify)
}

func (r reading) sweeps(ctx context.Context) {
	put, err := sweep.NewClient(r.writer).Put(ctx, sweep.Sweep{Name: r.name, Kind: "mail", Data: secret, Items: []string{canary, "{}", ""}})
	r.ok(put, err)
	r.ok(sweep.NewClient(r.reader).Start(ctx, put.ID, ""))
	read, err := sweep.NewClient(r.reader).ByID(ctx, put.ID)
	r.ok(read, err)
	r.equal("the data of the sweep", read.Data, secret)
	r.equal("its version after it was steered", read.Version, put.Version)
	listed, err := r.reader.SweepItems(ctx, put.ID, 0)
	r.ok(listed, err)
	r.equal("its items", listed, []string{canary, "{}", ""})
	r.ok(nil, sweep.Steer(ctx, r.reader, put.ID))
	read.Rate = 5
	edited, err := sweep.NewClient(r.reader).Put(ctx, read)
	r.ok(edited, err)
	r.equal("the data after an edit", edited.Data, secret)
}

func (r reading) alerts(ctx context.Context) {
	rule := alert.Rule{Name: r.name, URL: "https://example.org/" + canary, Headers: map[string]string{"Authorization": canary, "B": "c"}, Body: secret, SigningSecret: canary}
	put, err := alert.NewClient(r.writer).Set(ctx, rule)
	r.ok(put, err)
	r.equal("the headers as stored", put.Headers, rule.Headers)
	rules, err := r.reader.Alerts(ctx)
	r.ok(rules, err)
	turn, taken, err := r.reader.TakeLook(ctx, 0)
	r.ok(turn, err)
	r.equal("the look was taken", taken, true)
	for i := range rules {
		if rules[i].Name == r.name {
			r.equal("the rule", rules[i], put)
			r.equal("the rule of a look", turn.Rules[i].Rule, put)
		}
	}
}

func (r reading) bulks(ctx context.Context) {
	job := &fairlead.Job{Kind: "bulk" + r.name}
	r.ok(nil, fairlead.NewClient(r.writer).Enqueue(ctx, job))
	b, err := bulk.NewClient(r.writer).Start(ctx, bulk.Bulk{Action: bulk.Cancel, Reason: canary, Actor: r.name, Filter: fairlead.Filter{Kinds: []string{job.Kind}}})
	r.ok(b, err)
	r.equal("the reason as stored", b.Reason, canary)
	mux := fairlead.NewMux()
	bulk.Register(mux, r.reader)
	stepper, err := engine.NewStepper(ctx, r.reader, mux)
	r.ok(stepper, err)
	r.ok(stepper.Step(ctx))
	read, err := bulk.NewClient(r.reader).Get(ctx, b.ID)
	r.ok(read, err)
	r.equal("the reason as read", read.Reason, canary)
	r.equal("how many jobs it has cancelled", read.Done, int64(1))
	cancelled, err := r.reader.Get(ctx, job.ID)
	r.ok(cancelled, err)
	r.equal("the error of the job", cancelled.Error, canary)
	entries, err := r.log.AuditLog(ctx, access.Filter{Actor: r.name})
	r.ok(entries, err)
	var after struct{ Reason string }
	r.ok(nil, json.Unmarshal(entries[0].After, &after))
	r.equal("the reason in the audit log", after.Reason, canary)
}

// TestAnErrorThatCopiesSealedArgsIsNotOpened: a caller who can read the database, and can
// write the error of a job, must not get to see what another caller has sealed.
func TestAnErrorThatCopiesSealedArgsIsNotOpened(t *testing.T) {
	ctx := t.Context()
	inner, _ := openFile(t)
	store := seal.Wrap(inner, keys(t))
	client := fairlead.NewClient(store)
	victim, own := &fairlead.Job{Kind: "pay", Args: secret}, &fairlead.Job{Kind: "pay"}
	if err := client.Enqueue(ctx, victim, own); err != nil {
		t.Fatal(err)
	}
	stolen, err := inner.Get(ctx, victim.ID)
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Cancel(ctx, own.ID, string(stolen.Args)); err != nil {
		t.Fatal(err)
	}
	if job, err := client.Get(ctx, own.ID); err != nil || job.Error != string(stolen.Args) {
		t.Errorf("the error is %q: %v", job.Error, err)
	}
}
