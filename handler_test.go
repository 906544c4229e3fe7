package fairlead_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/fairlead-io/fairlead"
)

func TestMiddlewareWrapsInTheOrderGiven(t *testing.T) {
	var order []string
	note := func(name string) fairlead.Middleware {
		return func(next fairlead.Handler) fairlead.Handler {
			return fairlead.HandlerFunc(func(ctx context.Context, job *fairlead.Job) error {
				order = append(order, name)
				return next.Work(ctx, job)
			})
		}
	}
	mux := fairlead.NewMux()
	mux.Handle("k", fairlead.HandlerOptions{}, fairlead.HandlerFunc(func(context.Context, *fairlead.Job) error {
		order = append(order, "handler")
		return nil
	}))
	mux.Use(note("outer"), note("inner"))
	if err := mux.Entry("k").Handler.Work(t.Context(), &fairlead.Job{}); err != nil {
		t.Fatal(err)
	}
	if want := []string{"outer", "inner", "handler"}; !slices.Equal(order, want) {
		t.Errorf("got %v, want %v", order, want)
	}
}

func TestAKindHasOneHandler(t *testing.T) {
	mux := fairlead.NewMux()
	handler := fairlead.HandlerFunc(func(context.Context, *fairlead.Job) error { return nil })
	mux.Handle("k", fairlead.HandlerOptions{}, handler)
	defer func() {
		if recover() == nil {
			t.Error("registering a kind twice did not panic")
		}
	}()
	mux.Handle("k", fairlead.HandlerOptions{}, handler)
}

func TestArgsThatDoNotFitTheirKindFailForGood(t *testing.T) {
	mux := fairlead.NewMux()
	fairlead.NewKind[int]("k").Handle(mux, func(context.Context, *fairlead.Job, int) error { return nil })
	err := mux.Entry("k").Handler.Work(t.Context(), &fairlead.Job{ID: 3, Args: []byte(`"text"`)})
	var outcome *fairlead.Outcome
	if !errors.As(err, &outcome) || outcome.Settlement().Move != fairlead.Fail {
		t.Errorf("got %v, want a fatal error", err)
	}
}

func TestProgressOutsideOfARunIsAnError(t *testing.T) {
	if err := fairlead.Progress(t.Context(), 1); err == nil {
		t.Error("got no error")
	}
}
