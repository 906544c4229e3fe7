package seal_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/internal/everystore"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/seal"
)

// Sealed documents are longer by a third. The limits apply to the documents of callers.
func TestDocumentsMayBeAsLongAsIfTheyWereNotSealed(t *testing.T) {
	largest := json.RawMessage(`"` + strings.Repeat("x", fairlead.MaxArgs-2) + `"`)
	everystore.Run(t, func(t *testing.T, inner wholeStore) {
		ctx := t.Context()
		t.Cleanup(func() { _ = inner.Close() })
		store := seal.Wrap(inner, keys(t))
		must := func(_ any, err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		seen := 0
		mux := fairlead.NewMux()
		mux.Handle("replace", fairlead.HandlerOptions{}, fairlead.HandlerFunc(func(context.Context, *fairlead.Job) error {
			return fairlead.Replace(&fairlead.Job{Kind: "pay", Args: largest})
		}))
		mux.Handle("pay", fairlead.HandlerOptions{}, fairlead.HandlerFunc(func(_ context.Context, job *fairlead.Job) error {
			if string(job.Args) == string(largest) {
				seen++
			}
			return nil
		}))
		replaced := &fairlead.Job{Kind: "replace"}
		must(nil, fairlead.NewClient(store).Enqueue(ctx, replaced))
		s, err := schedule.NewClient(store).Put(ctx, schedule.Schedule{Name: "s", Cron: "@yearly", Job: fairlead.Job{Kind: "pay", Args: largest}})
		must(s, err)
		must(schedule.NewClient(store).Trigger(ctx, s.ID, nil))
		must(schedule.NewClient(store).Trigger(ctx, s.ID, largest))
		stepper, err := engine.NewStepper(ctx, store, mux)
		must(stepper, err)
		for {
			job, err := stepper.Step(ctx)
			must(job, err)
			if job == nil {
				break
			}
		}
		if job, err := store.Get(ctx, replaced.ID); err != nil || job.State != fairlead.Succeeded {
			t.Errorf("the replaced job is %s: %s, %v", job.State, job.Error, err)
		}
		if seen != 3 {
			t.Errorf("handlers have seen the args %d times, want 3", seen)
		}
		log := seal.WrapAccess(inner, keys(t))
		must(nil, log.Audit(ctx, []access.Entry{{Actor: "me", Action: "a", Before: largest, After: largest}}))
		if entries, err := log.AuditLog(ctx, access.Filter{Action: "a"}); err != nil || string(entries[0].Before) != string(largest) || string(entries[0].After) != string(largest) {
			t.Errorf("the audit log has %d bytes: %v", len(entries[0].After), err)
		}
	})
}
