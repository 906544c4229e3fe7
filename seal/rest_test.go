package seal_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/seal"
	"github.com/fairlead-io/fairlead/sqlite"
	"github.com/fairlead-io/fairlead/sweep"
)

// canary is what must not be found in a database.
const canary = "canary-of-the-coal-mine"

var secret = json.RawMessage(`{"card":"` + canary + `"}`)

func openFile(t *testing.T) (*sqlite.Store, string) {
	t.Helper()
	dir := t.TempDir()
	inner, err := sqlite.Open(t.Context(), "sqlite://"+filepath.Join(dir, "jobs.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = inner.Close() })
	return inner, dir
}

// TestNothingIsReadableAtRest lets jobs, a schedule, a batch, a sweep and the audit log carry a
// text, and looks for it in the files of the database.
func TestNothingIsReadableAtRest(t *testing.T) {
	ctx := t.Context()
	inner, dir := openFile(t)
	store := seal.Wrap(inner, keys(t))
	seen := 0
	mux := fairlead.NewMux()
	mux.Handle("pay", fairlead.HandlerOptions{}, fairlead.HandlerFunc(func(ctx context.Context, job *fairlead.Job) error {
		if bytes.Contains(job.Args, []byte(canary)) {
			seen++
		}
		return errors.Join(fairlead.SetOutput(ctx, secret), fairlead.Progress(ctx, secret), fairlead.Remember(ctx, secret))
	}))
	batch.Handle(mux, batch.Operation{
		TargetType: "card", BatchType: "charge",
		BuildParam: func(context.Context, batch.TaskArgs) (json.RawMessage, error) { return secret, nil },
		Process: func(_ context.Context, task batch.TaskArgs) error {
			if bytes.Contains(task.After, []byte(canary)) {
				seen++
			}
			return nil
		},
	})
	stepper, err := engine.NewStepper(ctx, store, mux)
	if err != nil {
		t.Fatal(err)
	}
	must := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	client := fairlead.NewClient(store)
	must(nil, client.Enqueue(ctx, &fairlead.Job{Kind: "pay", Args: secret}))
	s, err := schedule.NewClient(store).Put(ctx, schedule.Schedule{Name: "s", Cron: "@yearly", Job: fairlead.Job{Kind: "pay", Args: secret}})
	must(s, err)
	must(schedule.NewClient(store).Trigger(ctx, s.ID, nil))
	must(schedule.NewClient(store).Trigger(ctx, s.ID, secret))
	b, err := batch.NewClient(store).Knowing(mux).Start(ctx, batch.Batch{Name: "b", Type: "charge"}, batch.Change{Target: batch.Target{Type: "card", ID: "1"}, After: secret})
	must(b, err)
	must(sweep.NewClient(store).Put(ctx, sweep.Sweep{Name: "w", Kind: "mail", To: 1, Data: secret}))
	must(nil, seal.WrapAccess(inner, keys(t)).Audit(ctx, []access.Entry{{Actor: "me", Action: "a", Before: secret, After: secret}}))
	for {
		job, err := stepper.Step(ctx)
		must(job, err)
		if job == nil {
			break
		}
	}
	if seen != 4 {
		t.Errorf("handlers have seen it %d times, want 4", seen)
	}
	must(batch.NewClient(store).RollBack(ctx, b.ID, batch.RollBack{}))
	must(stepper.Step(ctx))
	if job, err := client.Get(ctx, 1); err != nil || !bytes.Contains(job.Output, []byte(canary)) || !bytes.Contains(job.Args, []byte(canary)) || !bytes.Contains(job.Memo, []byte(canary)) {
		t.Errorf("the job is read as %+v, %v", job, err)
	}
	if err := inner.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(dir)
	must(files, err)
	for _, file := range files {
		raw, err := os.ReadFile(filepath.Join(dir, file.Name()))
		must(raw, err)
		if at := bytes.Index(raw, []byte(canary)); at >= 0 {
			t.Errorf("%s has it: %q", file.Name(), raw[max(0, at-200):at+30])
		}
	}
}

func TestAJobThatCannotBeOpenedIsTriedAgainAndSaysWhy(t *testing.T) {
	ctx := t.Context()
	inner, _ := openFile(t)
	other, err := seal.NewKeys(seal.Key{ID: "other", Secret: seal.NewSecret()})
	if err != nil {
		t.Fatal(err)
	}
	jobs := []*fairlead.Job{{Kind: "pay", Args: secret}, {Kind: "pay", Args: secret}}
	if err := errors.Join(fairlead.NormalizeJobs(jobs), seal.Wrap(inner, other).Enqueue(ctx, jobs[:1]), seal.Wrap(inner, keys(t)).Enqueue(ctx, jobs[1:])); err != nil {
		t.Fatal(err)
	}
	store := seal.Wrap(inner, keys(t))
	node, err := store.Join(ctx, fairlead.Node{Name: "n", Kinds: []string{"pay"}, Slots: 2}, engine.Options{}.Lease+1e10)
	if err != nil {
		t.Fatal(err)
	}
	claimed, err := store.Claim(ctx, driver.Claim{Node: node, Scope: &driver.Scope{Kinds: []string{"pay"}}, Max: 10})
	if err != nil || len(claimed) != 1 || claimed[0].ID != jobs[1].ID || !bytes.Equal(claimed[0].Args, secret) {
		t.Errorf("%d jobs are claimed: %v", len(claimed), err)
	}
	job, err := store.Get(ctx, jobs[0].ID)
	if err != nil || job.State != fairlead.Scheduled || bytes.Contains(job.Args, []byte(canary)) {
		t.Errorf("the other one is %s: %v", job.State, err)
	}
	attempts, err := store.Attempts(ctx, jobs[0].ID)
	if err != nil || len(attempts) != 1 || !strings.Contains(attempts[0].Error, `no key with the ID "other" is configured`) {
		t.Errorf("its attempts are %+v, %v", attempts, err)
	}
}

// Documents stored before there were keys stay readable.
func TestWhatWasStoredBeforeIsRead(t *testing.T) {
	ctx := t.Context()
	inner, _ := openFile(t)
	for _, args := range []string{`{"a":1}`, `null`, `{"$sealed":5}`, `{"$sealed":"AAAA","more":1}`, `"$sealed"`} {
		jobs := []*fairlead.Job{{Kind: "pay", Args: json.RawMessage(args)}}
		if err := errors.Join(fairlead.NormalizeJobs(jobs), inner.Enqueue(ctx, jobs)); err != nil {
			t.Fatal(err)
		}
		if job, err := seal.Wrap(inner, keys(t)).Get(ctx, jobs[0].ID); err != nil || string(job.Args) != args {
			t.Errorf("%s is read as %s, %v", args, job.Args, err)
		}
	}
}

// failing is a codec without its key service.
type failing struct{ seal.Codec }

// Seal fails.
func (failing) Seal([]byte, string) ([]byte, error) {
	return nil, errors.New("the key service is away")
}

func TestNothingIsStoredThatCannotBeSealed(t *testing.T) {
	ctx := t.Context()
	inner, _ := openFile(t)
	store := seal.Wrap(inner, failing{keys(t)})
	_, ticking := store.Tick(ctx, 10, func(schedule.Schedule, schedule.View) schedule.Plan { return schedule.Plan{} })
	_, settling := store.Settle(ctx, []fairlead.Settlement{{Move: fairlead.Succeed, Output: secret}})
	for what, err := range map[string]error{
		"Enqueue": store.Enqueue(ctx, []*fairlead.Job{{Kind: "pay", Args: secret}}),
		"Save":    store.Save(ctx, fairlead.Save{Memo: secret}),
		"Tick":    ticking,
		"Settle":  settling,
	} {
		if err == nil || !strings.Contains(err.Error(), "the key service is away") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if tally, err := inner.Tally(ctx, fairlead.Filter{}); err != nil || len(tally) > 0 {
		t.Errorf("it has stored %v, %v", tally, err)
	}
}
