package seal_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/alert"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/internal/everystore"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/seal"
	"github.com/fairlead-io/fairlead/sweep"
	"github.com/fairlead-io/fairlead/sweep/items"
)

// rollout is a database during a change of keys: one program has the new key and seals with it,
// another one has only the old key.
type rollout struct {
	*testing.T
	inner      driver.Store
	young, old *seal.Store
}

func everyRollout(t *testing.T, test func(r rollout)) {
	t.Helper()
	before, after := seal.Key{ID: "2026-05", Secret: seal.NewSecret()}, seal.Key{ID: "2026-11", Secret: seal.NewSecret()}
	everystore.Run(t, func(t *testing.T, inner driver.Store) {
		t.Cleanup(func() { _ = inner.Close() })
		test(rollout{t, inner, seal.Wrap(inner, newKeys(t, after, before)), seal.Wrap(inner, newKeys(t, before))})
	})
}

func (r rollout) ok(_ any, err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// wantNoKey expects the error of a program that lacks the new key.
func (r rollout) wantNoKey(what string, err error) {
	r.Helper()
	if err == nil || !strings.Contains(err.Error(), `no key with the ID "2026-11" is configured`) {
		r.Errorf("%s: %v", what, err)
	}
}

// steps runs everything that is ready on a node of a store.
func (r rollout) steps(store driver.Store, mux *fairlead.Mux) error {
	r.Helper()
	stepper, err := engine.NewStepper(r.Context(), store, mux)
	r.ok(stepper, err)
	for {
		if job, err := stepper.Step(r.Context()); err != nil || job == nil {
			return err
		}
	}
}

func TestABatchThatCannotBeOpenedIsLeftToNodesWithTheKey(t *testing.T) {
	everyRollout(t, func(r rollout) {
		ctx := r.Context()
		var applied []string
		mux := fairlead.NewMux()
		batch.Handle(mux, batch.Operation{
			TargetType: "card", BatchType: "charge",
			BuildParam: func(context.Context, batch.TaskArgs) (json.RawMessage, error) {
				return json.RawMessage(`"before"`), nil
			},
			Process: func(_ context.Context, task batch.TaskArgs) error {
				applied = append(applied, string(task.After))
				return nil
			},
		})
		change := batch.Change{Target: batch.Target{Type: "card", ID: "1"}, After: secret}
		plan := batch.Batch{Name: "b", Type: "charge", Info: secret, Notify: "https://example.org/", Then: []fairlead.Job{{Kind: "then", Args: secret}}}
		b, err := batch.NewClient(r.young).Knowing(mux).Start(ctx, plan, change)
		r.ok(b, err)
		for range 2 { // before it is released, and with its task ended and not counted
			r.wantNoKey("a node without the key", r.steps(r.old, mux))
			_, err = r.old.Conduct(ctx, b.ID, true, func(context.Context, *batch.Record, batch.Tx) error { return errors.New("it is acted upon") })
			r.wantNoKey("Conduct", err)
			stepper, err := engine.NewStepper(ctx, r.young, mux)
			r.ok(stepper, err)
			r.ok(stepper.Step(ctx))
		}
		r.ok(nil, r.steps(r.young, mux))
		if len(applied) != 1 || applied[0] != string(secret) {
			r.Errorf("the handler has got %q", applied)
		}
		tasks, err := batch.NewClient(r.young).Tasks(ctx, batch.TaskFilter{Batch: b.ID})
		if err != nil || len(tasks) != 1 || string(tasks[0].Before) != `"before"` {
			r.Errorf("the tasks are %+v: %v", tasks, err)
		}
		then, err := r.young.Find(ctx, fairlead.Filter{Kinds: []string{"then"}})
		if err != nil || len(then) != 1 || !bytes.Equal(then[0].Args, secret) {
			r.Errorf("the jobs that follow are %+v: %v", then, err)
		}
		chunks, err := r.old.Chunks(ctx, b.ID, batch.ChunkFilter{Tasks: true})
		r.ok(chunks, err)
		if err := r.old.AddChunks(ctx, b.ID, chunks[:1]); !errors.Is(err, fairlead.ErrInvalid) {
			r.Errorf("what was read sealed is stored again: %v", err)
		}
	})
}

func TestASweepThatCannotBeOpenedIsLeftToNodesWithTheKey(t *testing.T) {
	everyRollout(t, func(r rollout) {
		ctx := r.Context()
		got := map[string]int{}
		muxOf := func(store sweep.Store) *fairlead.Mux {
			mux := fairlead.NewMux()
			items.Handle(mux, store, "mail", items.Options{}, func(_ context.Context, item items.Item[map[string]string]) error {
				got[item.Data["card"]+" "+string(item.Text)]++
				return nil
			})
			return mux
		}
		client := sweep.NewClient(r.young)
		s, err := client.Put(ctx, sweep.Sweep{Name: "w", Kind: "mail", Items: []string{"a@example.org"}, Data: secret})
		r.ok(s, err)
		r.ok(client.Start(ctx, s.ID, ""))
		r.wantNoKey("steering without the key", r.steps(r.old, muxOf(r.old)))
		node, err := r.old.Join(ctx, fairlead.Node{Name: "n", Kinds: []string{sweep.KindOf("mail")}, Slots: 9}, time.Hour)
		r.ok(node, err)
		claim := driver.Claim{Node: node, Scope: &driver.Scope{Kinds: []string{sweep.KindOf("mail")}}, Max: 9}
		shards, err := r.inner.Shards(ctx, s.ID)
		r.ok(shards, err)
		claimed, err := r.old.Claim(ctx, claim)
		if err != nil || len(claimed) != 0 {
			r.Errorf("%d jobs are claimed without the key: %v", len(claimed), err)
		}
		attempts, err := r.old.Attempts(ctx, shards[0].Job)
		if err != nil || len(attempts) != 1 {
			r.Fatalf("the attempts are %+v: %v", attempts, err)
		}
		r.wantNoKey("the attempt", errors.New(attempts[0].Error))
		_, err = r.old.SweepItems(ctx, s.ID, 0)
		r.wantNoKey("SweepItems", err)
		if read, err := r.old.Sweeps(ctx, sweep.Filter{}); err != nil || len(read) != 1 {
			r.Errorf("it is not listed: %v", err)
		} else if _, err := r.old.PutSweep(ctx, read[0].Sweep); !errors.Is(err, fairlead.ErrInvalid) {
			r.Errorf("what was read sealed is stored again: %v", err)
		}
		r.ok(nil, r.young.Operate(ctx, shards[0].Job, fairlead.Operation{Op: fairlead.OpRunNow}))
		r.ok(nil, r.steps(r.young, muxOf(r.young)))
		if len(got) != 1 || got[canary+" a@example.org"] != 1 {
			r.Errorf("the handler has got %v", got)
		}
	})
}

// The data of a serial sweep may change while a run goes over it.
func TestARunWhoseSweepIsSealedAnewEndsBeforeItsHandlerGetsTheSealedData(t *testing.T) {
	everyRollout(t, func(r rollout) {
		ctx := r.Context()
		client := sweep.NewClient(r.old)
		s, err := client.Put(ctx, sweep.Sweep{Name: "w", Kind: "mail", To: 5, Serial: true, Data: secret})
		r.ok(s, err)
		r.ok(client.Start(ctx, s.ID, ""))
		node, err := r.old.Join(ctx, fairlead.Node{Name: "n", Kinds: []string{sweep.KindOf("mail")}, Slots: 9}, time.Hour)
		r.ok(node, err)
		claim := driver.Claim{Node: node, Scope: &driver.Scope{Kinds: []string{sweep.KindOf("mail")}}, Max: 9}
		claimed, err := r.old.Claim(ctx, claim)
		if err != nil || len(claimed) != 1 {
			r.Fatalf("%d jobs are claimed: %v", len(claimed), err)
		}
		checkpoint := sweep.Checkpoint{Sweep: s.ID, Job: claimed[0].ID, Fence: claimed[0].Fence, Mark: 1, Done: 1}
		orders, err := r.old.Checkpoint(ctx, checkpoint)
		if err != nil || !bytes.Equal(orders.Data, secret) {
			r.Errorf("the data is %s: %v", orders.Data, err)
		}
		r.ok(sweep.NewClient(r.young).SetData(ctx, s.ID, "", secret))
		r.ok(sweep.NewClient(r.young).SetData(ctx, s.ID, "", json.RawMessage(`{"card":"another"}`)))
		orders, err = r.old.Checkpoint(ctx, checkpoint)
		r.wantNoKey("a checkpoint", err)
		if !errors.Is(err, fairlead.ErrLeaseLost) || orders.Data != nil {
			r.Errorf("the orders are %+v: %v", orders, err)
		}
		// The job was sealed with the old key, unlike what its handler would be given.
		r.ok(r.old.Settle(ctx, []fairlead.Settlement{{ID: claimed[0].ID, Fence: claimed[0].Fence, Move: fairlead.MoveRelease}}))
		if again, err := r.old.Claim(ctx, claim); err != nil || len(again) != 0 {
			r.Errorf("%d jobs are claimed again: %v", len(again), err)
		}
		attempts, err := r.old.Attempts(ctx, claimed[0].ID)
		if err != nil || len(attempts) != 1 {
			r.Fatalf("the attempts are %+v: %v", attempts, err)
		}
		r.wantNoKey("the attempt", errors.New(attempts[0].Error))
	})
}

func TestAScheduleThatCannotBeOpenedIsLeftToNodesWithTheKey(t *testing.T) {
	everyRollout(t, func(r rollout) {
		ctx := r.Context()
		var urls, args []string
		mux := fairlead.NewMux()
		mux.Handle("pay", fairlead.HandlerOptions{}, fairlead.HandlerFunc(func(_ context.Context, job *fairlead.Job) error {
			args = append(args, string(job.Args))
			return fairlead.Fatal(errors.New("no"))
		}))
		mux.Handle("http", fairlead.HandlerOptions{}, fairlead.HandlerFunc(func(_ context.Context, job *fairlead.Job) error {
			var call struct{ URL string }
			err := json.Unmarshal(job.Args, &call)
			urls = append(urls, call.URL)
			return err
		}))
		client := schedule.NewClient(r.young)
		s, err := client.Put(ctx, schedule.Schedule{
			Name: "s", Cron: "@yearly", Job: fairlead.Job{Kind: "pay", Args: secret}, Alert: &schedule.Alert{URL: "https://example.org/" + canary},
		})
		r.ok(s, err)
		r.ok(client.Trigger(ctx, s.ID, nil))
		r.ok(nil, r.runOne(mux)) // it has failed, and the schedule does not know it
		r.wantNoKey("a tick without the key", r.steps(r.old, mux))
		_, err = schedule.NewClient(r.old).Trigger(ctx, s.ID, nil)
		r.wantNoKey("a trigger without the key", err)
		read, err := schedule.NewClient(r.old).ByID(ctx, s.ID)
		r.ok(read, err)
		if _, err := schedule.NewClient(r.old).Disable(ctx, s.ID, "why"); !errors.Is(err, fairlead.ErrInvalid) {
			r.Errorf("what was read sealed is stored again: %v", err)
		}
		r.ok(nil, r.steps(r.young, mux))
		if len(args) != 1 || args[0] != string(secret) || len(urls) != 1 || urls[0] != "https://example.org/"+canary {
			r.Errorf("handlers have got %q and %q", args, urls)
		}
	})
}

// runOne claims and runs a job on a node with the key, without acting upon schedules.
func (r rollout) runOne(mux *fairlead.Mux) error {
	r.Helper()
	ctx := r.Context()
	node, err := r.young.Join(ctx, fairlead.Node{Name: "n", Kinds: []string{"pay"}, Slots: 1}, time.Hour)
	r.ok(node, err)
	claimed, err := r.young.Claim(ctx, driver.Claim{Node: node, Scope: &driver.Scope{Kinds: []string{"pay"}}, Max: 1})
	if err != nil || len(claimed) != 1 {
		r.Fatalf("%d jobs are claimed: %v", len(claimed), err)
	}
	if err := mux.Entry("pay").Handler.Work(ctx, claimed[0]); err == nil {
		r.Fatal("the job has not failed")
	}
	_, err = r.young.Settle(ctx, []fairlead.Settlement{{ID: claimed[0].ID, Fence: claimed[0].Fence, Move: fairlead.Fail, Reason: fairlead.ReasonError, Error: "no"}})
	return err
}

func TestALookWhoseRuleCannotBeOpenedIsLeftToNodesWithTheKey(t *testing.T) {
	everyRollout(t, func(r rollout) {
		ctx := r.Context()
		rule := alert.Rule{Name: "a", URL: "https://example.org/" + canary, Headers: map[string]string{"Authorization": canary}, Body: secret, Gather: 1}
		r.ok(alert.NewClient(r.young).Set(ctx, rule))
		failed := &fairlead.Job{Kind: "pay"}
		r.ok(nil, fairlead.NewClient(r.young).Enqueue(ctx, failed))
		mux := fairlead.NewMux()
		mux.Handle("pay", fairlead.HandlerOptions{}, fairlead.HandlerFunc(func(context.Context, *fairlead.Job) error { return fairlead.Fatal(errors.New("no")) }))
		r.ok(nil, r.steps(r.young, mux))
		_, err := alert.Look(ctx, r.old, 0)
		r.wantNoKey("a look without the key", err)
		if rules, err := r.old.Alerts(ctx); err != nil || len(rules) != 1 {
			r.Errorf("it is not listed: %v", err)
		} else if _, err := r.old.SetAlert(ctx, rules[0]); !errors.Is(err, fairlead.ErrInvalid) {
			r.Errorf("what was read sealed is stored again: %v", err)
		}
		for range 2 { // the second look finds what the first has gathered
			r.ok(alert.Look(ctx, r.young, 0))
		}
		messages, err := r.young.Find(ctx, fairlead.Filter{Kinds: []string{"http"}})
		if err != nil || len(messages) != 1 || !strings.Contains(string(messages[0].Args), `"url":"https://example.org/`+canary+`"`) {
			r.Errorf("the messages are %+v: %v", messages, err)
		}
	})
}
