package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/internal/mask"
)

// seen collects the errors that a middleware sees, as tracing does.
func (w *world) seen(errs *strings.Builder) {
	w.mux.Use(func(next fairlead.Handler) fairlead.Handler {
		return fairlead.HandlerFunc(func(ctx context.Context, job *fairlead.Job) error {
			err := next.Work(ctx, job)
			fmt.Fprintln(errs, err)
			return err
		})
	})
}

// failing runs a job of each kind and returns the log, with what the middleware and the store got.
func (w *world) failing(kinds ...string) string {
	w.t.Helper()
	var errs strings.Builder
	w.seen(&errs)
	log := &lines{}
	w.run(engine.Options{Logger: slog.New(slog.NewJSONHandler(log, nil))}, func() {
		for _, kind := range kinds {
			job := &fairlead.Job{Kind: kind, MaxAttempts: 1, Args: []byte(`{"card":"zanary \"4111\"","name":"Ada Lovelace"}`)}
			w.enqueue(job)
			w.wait(job)
			fmt.Fprintln(&errs, w.get(job).Error)
		}
	})
	if found := log.with(w.t, "job failed"); len(found) != len(kinds) {
		w.t.Errorf("logged is %s", log.text.String())
	}
	return log.text.String() + errs.String()
}

func cardOf(job *fairlead.Job) string {
	var args struct{ Card string }
	_ = json.Unmarshal(job.Args, &args)
	return args.Card
}

// handlesCanaries registers handlers that say in all ways what they were given.
func (w *world) handlesCanaries() (kinds []string) {
	for kind, work := range map[string]func(context.Context, *fairlead.Job) error{
		"error":  func(_ context.Context, job *fairlead.Job) error { return fmt.Errorf("card %q refused", cardOf(job)) },
		"fatal":  func(_ context.Context, job *fairlead.Job) error { return fairlead.Fatal(errors.New(cardOf(job))) },
		"panics": func(_ context.Context, job *fairlead.Job) error { panic(cardOf(job)) },
		"changes": func(_ context.Context, job *fairlead.Job) error {
			card := cardOf(job)
			job.Args = nil
			panic(card)
		},
		"output": func(ctx context.Context, job *fairlead.Job) error {
			_ = fairlead.SetOutput(ctx, map[string]string{"iban": "zanary-output"})
			return errors.New("refused zanary-output")
		},
		"memo": func(ctx context.Context, _ *fairlead.Job) error {
			return errors.Join(fairlead.Remember(ctx, map[string]string{"key": "zanary-memo"}), errors.New("refused zanary-memo"))
		},
		"shard": func(ctx context.Context, _ *fairlead.Job) error {
			mask.AddArgs(ctx, json.RawMessage(`{"card":"zanary-sweep"}`))
			return errors.New("refused zanary-sweep")
		},
	} {
		w.handle(kind, fairlead.HandlerOptions{}, work)
		kinds = append(kinds, kind)
	}
	return kinds
}

func TestFieldsThatAreSetForAKindAreMaskedInErrorsOfHandlersThatDeclareNone(t *testing.T) {
	inBubble(t, func(w *world) {
		kinds := w.handlesCanaries()
		for _, kind := range kinds {
			if err := w.client.SetConfidential(w.t.Context(), kind, []string{"args.card", "output.iban", "memo.key"}); err != nil {
				t.Fatal(err)
			}
		}
		if shown := w.failing(kinds...); strings.Contains(shown, "zanary") || !strings.Contains(shown, "***") {
			t.Errorf("shown is %s", shown)
		}
	})
}

// unreadable cannot say what is confidential after a node has joined.
type unreadable struct {
	driver.Store
	asked atomic.Int64
}

func (s *unreadable) Confidential(context.Context) (fairlead.Confidential, error) {
	s.asked.Add(1)
	return nil, fairlead.ErrUnavailable
}

func TestIfANodeCannotReadWhatIsConfidentialItMasksAllThatAJobHas(t *testing.T) {
	inBubble(t, func(w *world) {
		store := &unreadable{Store: w.store}
		w.engineStore = store
		kinds := w.handlesCanaries()
		if shown := w.failing(kinds...); strings.Contains(shown, "zanary") || !strings.Contains(shown, "***") {
			t.Errorf("shown is %s", shown)
		}
		if asked := store.asked.Load(); asked == 0 || asked > 2 {
			t.Errorf("the store was asked %d times for %d jobs", asked, len(kinds))
		}
	})
}
