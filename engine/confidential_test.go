package engine_test

import (
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/engine"
)

func TestWhatIsConfidentialIsNeitherLoggedNorStoredAsAnError(t *testing.T) {
	inBubble(t, func(w *world) {
		options := fairlead.HandlerOptions{MaxAttempts: 1, Confidential: []string{"args.card"}}
		w.handle("fails", options, func(_ context.Context, job *fairlead.Job) error {
			return fmt.Errorf("args %s are refused", job.Args)
		})
		w.handle("panics", options, func(_ context.Context, job *fairlead.Job) error { panic(string(job.Args)) })
		log := &lines{}
		w.run(engine.Options{Logger: slog.New(slog.NewJSONHandler(log, nil))}, func() {
			for _, kind := range []string{"fails", "panics"} {
				job := &fairlead.Job{Kind: kind, Args: []byte(`{"card":"4111222"}`)}
				w.enqueue(job)
				w.wait(job)
				stored := w.get(job)
				if strings.Contains(stored.Error, "4111222") || !strings.Contains(stored.Error, "***") {
					t.Errorf("%s: stored is the error %q", kind, stored.Error)
				}
				if string(stored.Args) != `{"card":"4111222"}` {
					t.Errorf("%s: stored are the args %s", kind, stored.Args)
				}
			}
		})
		found := log.with(t, "job failed")
		if len(found) != 2 || strings.Contains(log.text.String(), "4111222") {
			t.Errorf("logged is %s", log.text.String())
		}
		fields, err := w.client.Confidential(w.t.Context())
		if want := (fairlead.Confidential{"fails": {"args.card"}, "panics": {"args.card"}}); err != nil || !reflect.DeepEqual(fields, want) {
			t.Errorf("the node declared %v: %v", fields, err)
		}
	})
}

func TestAPathThatLeadsNowhereIsRefusedAtTheStart(t *testing.T) {
	mux := fairlead.NewMux()
	mux.Handle("k", fairlead.HandlerOptions{Confidential: []string{"card.number"}}, fairlead.HandlerFunc(func(context.Context, *fairlead.Job) error { return nil }))
	_, err := engine.New(nil, mux, engine.Options{})
	if err == nil || !strings.Contains(err.Error(), `"card.number"; a path must begin with one of args, output, progress, memo`) {
		t.Errorf("got %v", err)
	}
}
