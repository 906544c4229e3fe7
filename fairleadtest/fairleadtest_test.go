package fairleadtest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/fairleadtest"
	"github.com/fairlead-io/fairlead/sqlite"
)

type Greeting struct{ To string }

var Greet = fairlead.NewKind[Greeting]("greet")

func newNode(t *testing.T, work func(Greeting) error) *fairleadtest.Node[*sqlite.Store] {
	t.Helper()
	mux := fairlead.NewMux()
	options := fairlead.HandlerOptions{Retry: fairlead.Fixed(time.Hour), MaxAttempts: 2}
	Greet.HandleWith(mux, options, func(_ context.Context, _ *fairlead.Job, in Greeting) error { return work(in) })
	return fairleadtest.New(t, mux)
}

func TestWorkRunsOneJobAndTheClockStandsStill(t *testing.T) {
	failing := true
	node := newNode(t, func(Greeting) error {
		if failing {
			return errors.New("hoarse")
		}
		return nil
	})
	begin := node.Now()
	if err := node.Client.Enqueue(t.Context(), Greet.Job(Greeting{"ada"})); err != nil {
		t.Fatal(err)
	}
	job := node.Work()
	if job.State != fairlead.Scheduled || !job.NotBefore.Equal(begin.Add(time.Hour)) || !node.Now().Equal(begin) {
		t.Errorf("got %s until %v at %v", job.State, job.NotBefore, node.Now())
	}
	if jobs := node.Drain(); len(jobs) != 0 {
		t.Errorf("%d jobs ran before they were due", len(jobs))
	}
	failing = false
	node.Advance(time.Hour)
	if job := node.Work(); job.State != fairlead.Succeeded || job.Attempt != 2 {
		t.Errorf("got %s, attempt %d", job.State, job.Attempt)
	}
}

func TestRequireEnqueuedFindsTheOneThatMatches(t *testing.T) {
	node := newNode(t, func(Greeting) error { return nil })
	for i := range 250 { // more than one page
		if err := node.Client.Enqueue(t.Context(), Greet.Job(Greeting{fmt.Sprint(i)})); err != nil {
			t.Fatal(err)
		}
	}
	to := func(name string) func(Greeting) bool { return func(g Greeting) bool { return g.To == name } }
	fairleadtest.RequireEnqueued(t, node, Greet, to("7"))
	fairleadtest.RequireNotEnqueued(t, node, Greet, to("nobody"))
	for want, check := range map[string]func(fairleadtest.TB){
		"0 unfinished":   func(t fairleadtest.TB) { fairleadtest.RequireEnqueued(t, node, Greet, to("nobody")) },
		"250 unfinished": func(t fairleadtest.TB) { fairleadtest.RequireEnqueued(t, node, Greet, nil) },
		"want none":      func(t fairleadtest.TB) { fairleadtest.RequireNotEnqueued(t, node, Greet, to("7")) },
	} {
		if got := failure(t, check); !strings.Contains(got, want) {
			t.Errorf("got %q, want %q in it", got, want)
		}
	}
	node.Drain()
	fairleadtest.RequireNotEnqueued(t, node, Greet, nil)
}

// failure runs a check that is expected to fail and returns its message.
func failure(t *testing.T, check func(fairleadtest.TB)) (message string) {
	t.Helper()
	probe := &probe{T: t}
	defer func() {
		if recover() != nil {
			message = probe.message
		}
	}()
	check(probe)
	return "no failure"
}

// probe is a test whose failure is looked at instead of reported.
type probe struct {
	*testing.T
	message string
}

func (p *probe) Fatalf(format string, args ...any) {
	p.message = fmt.Sprintf(format, args...)
	panic(p.message)
}
