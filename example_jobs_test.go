package fairlead_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/fairleadtest"
)

// These examples use package fairleadtest: the example moves the clock, and jobs run only
// on request.

// Retry a failed attempt after a pause, until MaxAttempts are used up. An error wrapped
// in Fatal ends the job immediately.
func ExampleFatal() {
	example(func(t fairleadtest.TB, ctx context.Context) {
		mux := fairlead.NewMux()
		options := fairlead.HandlerOptions{MaxAttempts: 3, Retry: fairlead.Fixed(time.Minute)}
		SendInvoice.HandleWith(mux, options, func(_ context.Context, _ *fairlead.Job, in Invoice) error {
			if in.ID == 0 {
				return fairlead.Fatal(errors.New("invoice without id"))
			}
			return errors.New("mail server is down")
		})
		node := fairleadtest.New(t, mux)
		hopeless, unlucky := SendInvoice.Job(Invoice{}), SendInvoice.Job(Invoice{ID: 7})
		must(node.Client.Enqueue(ctx, hopeless, unlucky))
		for range 3 {
			for _, job := range node.Drain() {
				fmt.Printf("attempt %d of %s: %s\n", job.Attempt, job.Args, job.State)
			}
			node.Advance(time.Minute)
		}
	})
	// Output:
	// attempt 1 of {"ID":0}: failed
	// attempt 1 of {"ID":7}: scheduled
	// attempt 2 of {"ID":7}: scheduled
	// attempt 3 of {"ID":7}: failed
}

// Jobs start in the order of their priority, then of their acceptable start, and never
// before NotBefore.
func ExampleJob_order() {
	example(func(t fairleadtest.TB, ctx context.Context) {
		mux := fairlead.NewMux()
		SendInvoice.Handle(mux, func(context.Context, *fairlead.Job, Invoice) error { return nil })
		node := fairleadtest.New(t, mux)

		routine, urgent, tomorrow := SendInvoice.Job(Invoice{ID: 1}), SendInvoice.Job(Invoice{ID: 2}), SendInvoice.Job(Invoice{ID: 3})
		urgent.Priority = fairlead.High
		tomorrow.NotBefore = node.Now().Add(24 * time.Hour)
		must(node.Client.Enqueue(ctx, routine, urgent, tomorrow))

		show := func(when string) {
			for _, job := range node.Drain() {
				fmt.Printf("%s: %s\n", when, job.Args)
			}
		}
		show("today")
		node.Advance(24 * time.Hour)
		show("tomorrow")
	})
	// Output:
	// today: {"ID":2}
	// today: {"ID":1}
	// tomorrow: {"ID":3}
}

// A key makes a job unique within its tenant until the job has finished.
func ExampleJob_key() {
	example(func(t fairleadtest.TB, ctx context.Context) {
		mux := fairlead.NewMux()
		SendInvoice.Handle(mux, func(context.Context, *fairlead.Job, Invoice) error { return nil })
		node := fairleadtest.New(t, mux)
		invoice := func(answer fairlead.OnDuplicate) *fairlead.Job {
			job := SendInvoice.Job(Invoice{ID: 7})
			job.Key, job.OnDuplicate = "invoice-7", answer
			return job
		}
		first, second := invoice(fairlead.RefuseDuplicate), invoice(fairlead.KeepDuplicate)
		must(node.Client.Enqueue(ctx, first))
		err := node.Client.Enqueue(ctx, invoice(fairlead.RefuseDuplicate))
		fmt.Println("refused:", errors.Is(err, fairlead.ErrConflict))
		must(node.Client.Enqueue(ctx, second))
		fmt.Println("kept:", second.ID == first.ID)
		node.Drain()
		fmt.Println("error after the first has finished:", node.Client.Enqueue(ctx, invoice(fairlead.RefuseDuplicate)))
	})
	// Output:
	// refused: true
	// kept: true
	// error after the first has finished: <nil>
}

// Cancel ends a job that has not started. A running job is asked to stop: its context
// ends.
func ExampleClient_Cancel() {
	example(func(t fairleadtest.TB, ctx context.Context) {
		mux := fairlead.NewMux()
		SendInvoice.Handle(mux, func(context.Context, *fairlead.Job, Invoice) error { return nil })
		node := fairleadtest.New(t, mux)
		job := SendInvoice.Job(Invoice{ID: 7})
		must(node.Client.Enqueue(ctx, job))
		must(node.Client.Cancel(ctx, job.ID, "the order was withdrawn"))
		cancelled, err := node.Client.Get(ctx, job.ID)
		must(err)
		fmt.Printf("%s: %s; ran %d jobs\n", cancelled.State, cancelled.Error, len(node.Drain()))
		fmt.Println("already cancelled:", errors.Is(node.Client.Cancel(ctx, job.ID, ""), fairlead.ErrConflict))
	})
	// Output:
	// cancelled: the order was withdrawn; ran 0 jobs
	// already cancelled: true
}

// Wait for a job to finish and read the output that its handler set.
func ExampleClient_Wait() {
	example(func(t fairleadtest.TB, ctx context.Context) {
		square := fairlead.NewKind[int]("square")
		mux := fairlead.NewMux()
		square.Handle(mux, func(ctx context.Context, _ *fairlead.Job, n int) error {
			return fairlead.SetOutput(ctx, n*n)
		})
		node := fairleadtest.New(t, mux)
		job := square.Job(12)
		must(node.Client.Enqueue(ctx, job))
		node.Drain()
		done, err := node.Client.Wait(ctx, job.ID)
		must(err)
		var result int
		must(json.Unmarshal(done.Output, &result))
		fmt.Println(done.State, result)
	})
	// Output:
	// succeeded 144
}

// A job that snoozes runs again later. Its memo carries data from one run to the next.
func ExampleOutcome_Remember() {
	example(func(t fairleadtest.TB, ctx context.Context) {
		type cursor struct{ Page int }
		crawl := fairlead.NewKind[string]("crawl")
		mux := fairlead.NewMux()
		crawl.Handle(mux, func(_ context.Context, job *fairlead.Job, site string) error {
			var at cursor
			if job.Memo != nil {
				must(json.Unmarshal(job.Memo, &at))
			}
			at.Page++
			fmt.Printf("run %d: %s page %d\n", job.Attempt, site, at.Page)
			if at.Page == 3 {
				return nil
			}
			return fairlead.SnoozeFor(time.Hour).Remember(at)
		})
		node := fairleadtest.New(t, mux)
		must(node.Client.Enqueue(ctx, crawl.Job("example.org")))
		for range 5 {
			node.Drain()
			node.Advance(time.Hour)
		}
	})
	// Output:
	// run 1: example.org page 1
	// run 2: example.org page 2
	// run 3: example.org page 3
}

// example calls f with a substitute for a *testing.T.
func example(f func(t fairleadtest.TB, ctx context.Context)) {
	t := &exampleTB{}
	defer t.cleanUp()
	f(t, t.Context())
}

// exampleTB stands in for the *testing.T that examples lack.
type exampleTB struct {
	cleanups []func()
}

func (*exampleTB) Helper()                           {}
func (*exampleTB) Fatal(args ...any)                 { log.Panic(args...) }
func (*exampleTB) Fatalf(format string, args ...any) { log.Panicf(format, args...) }
func (*exampleTB) Context() context.Context          { return context.Background() }
func (t *exampleTB) Cleanup(f func())                { t.cleanups = append(t.cleanups, f) }

func (t *exampleTB) cleanUp() {
	for _, f := range slices.Backward(t.cleanups) {
		f()
	}
}

func must(err error) {
	if err != nil {
		log.Panic(err)
	}
}
