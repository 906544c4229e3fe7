package fairlead_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/fairlead-io/fairlead"
)

func TestErrorsDoNotShowWhatIsConfidentialAndStayWhatTheyAre(t *testing.T) {
	cause := errors.New("no such card: 4111222")
	mux := fairlead.NewMux()
	seen := ""
	mux.Use(func(next fairlead.Handler) fairlead.Handler {
		return fairlead.HandlerFunc(func(ctx context.Context, job *fairlead.Job) error {
			err := next.Work(ctx, job)
			if err != nil {
				seen = err.Error()
			}
			return err
		})
	})
	mux.Handle("k", fairlead.HandlerOptions{Confidential: []string{"args.card"}}, fairlead.HandlerFunc(func(_ context.Context, job *fairlead.Job) error {
		job.Args = nil // what a handler does with its job changes nothing
		return fairlead.Fatal(fmt.Errorf("pay: %w", cause))
	}))
	err := mux.Entry("k").Handler.Work(t.Context(), &fairlead.Job{Kind: "k", Args: []byte(`{"card":4111222}`)})
	var outcome *fairlead.Outcome
	if !errors.Is(err, cause) || !errors.As(err, &outcome) {
		t.Errorf("%v is another error", err)
	}
	if want := "pay: no such card: ***"; seen != want || err.Error() != want {
		t.Errorf("middleware sees %q and the node %q, want %q", seen, err, want)
	}
}

func TestConfidentialFieldsAreKeptInOrderEachOnce(t *testing.T) {
	fields, err := fairlead.NormalizeConfidential("k", []string{"output.b", "args.a", "output.b"})
	if got := fmt.Sprint(fields); err != nil || got != "[args.a output.b]" {
		t.Errorf("got %s: %v", got, err)
	}
}
