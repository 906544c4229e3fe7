package fairleadtest_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/fairleadtest"
	"github.com/fairlead-io/fairlead/fairleadtest/pgtest"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/sqlite"
)

type Welcome struct {
	To string
}

// SendWelcome is the kind of the jobs that the code under test enqueues.
var SendWelcome = fairlead.NewKind[Welcome]("welcome.send")

// signUp enqueues a job; the examples test it.
func signUp(ctx context.Context, client *fairlead.Client, address string) error {
	return client.Enqueue(ctx, SendWelcome.Job(Welcome{To: address}))
}

// register registers the handlers under test.
func register(mux *fairlead.Mux) {
	SendWelcome.Handle(mux, func(_ context.Context, _ *fairlead.Job, in Welcome) error {
		fmt.Println("welcome,", in.To)
		return nil
	})
}

// Test code that enqueues jobs, and the handlers of these jobs.
func ExampleNew() {
	test(func(t fairleadtest.TB) { // func TestSignUp(t *testing.T) {
		mux := fairlead.NewMux()
		register(mux)
		node := fairleadtest.New(t, mux)

		if err := signUp(t.Context(), node.Client, "ada@example.org"); err != nil {
			t.Fatal(err)
		}
		for _, job := range node.Drain() {
			fmt.Println(job.Kind, job.State)
		}
	})
	// Output:
	// welcome, ada@example.org
	// welcome.send succeeded
}

// Test that code enqueues a job, without running it.
func ExampleRequireEnqueued() {
	test(func(t fairleadtest.TB) {
		node := fairleadtest.New(t, fairlead.NewMux())
		if err := signUp(t.Context(), node.Client, "ada@example.org"); err != nil {
			t.Fatal(err)
		}
		job := fairleadtest.RequireEnqueued(t, node, SendWelcome, func(w Welcome) bool { return w.To == "ada@example.org" })
		fmt.Println(job.State, string(job.Args))
	})
	// Output:
	// ready {"To":"ada@example.org"}
}

// Test a week of a nightly schedule.
func ExampleNode_RunFor() {
	test(func(t fairleadtest.TB) {
		report := fairlead.NewKind[string]("report")
		mux := fairlead.NewMux()
		report.Handle(mux, func(context.Context, *fairlead.Job, string) error { return nil })
		node := fairleadtest.New(t, mux)
		_, err := node.Schedules.Put(t.Context(), schedule.Schedule{
			Name: "nightly", Cron: "0 3 * * *", Job: *report.Job("sales"),
		})
		if err != nil {
			t.Fatal(err)
		}
		runs := node.RunFor(7 * 24 * time.Hour)
		fmt.Println(len(runs), "runs")
	})
	// Output:
	// 7 runs
}

// Test a retry by moving the clock.
func ExampleNode_Advance() {
	test(func(t fairleadtest.TB) {
		mux := fairlead.NewMux()
		options := fairlead.HandlerOptions{Retry: fairlead.Fixed(time.Hour)}
		SendWelcome.HandleWith(mux, options, func(_ context.Context, job *fairlead.Job, _ Welcome) error {
			if job.Attempt == 1 {
				return fmt.Errorf("the mail server is down")
			}
			return nil
		})
		node := fairleadtest.New(t, mux)
		if err := signUp(t.Context(), node.Client, "ada@example.org"); err != nil {
			t.Fatal(err)
		}
		fmt.Println(node.Work().State)
		node.Advance(time.Hour)
		fmt.Println(node.Work().State)
	})
	// Output:
	// scheduled
	// succeeded
}

// Test on a real PostgreSQL server. Each test has its own tables.
func ExampleNewOn() {
	_ = func(t *testing.T) { // func TestSignUpOnPostgres(t *testing.T) {
		store, clock := pgtest.Open(t, os.Getenv("TEST_DATABASE_URL"))
		mux := fairlead.NewMux()
		register(mux)
		node := fairleadtest.NewOn(t, store, clock, mux)
		if err := signUp(t.Context(), node.Client, "ada@example.org"); err != nil {
			t.Fatal(err)
		}
		node.Drain()
	}
}

// Test with a complete node: two hours pass in a fraction of a second.
func ExampleVirtual() {
	_ = func(t *testing.T) { // func TestWelcomeIsSentAfterAnHour(t *testing.T) {
		handlers := func(mux *fairlead.Mux, _ *sqlite.Store) { register(mux) }
		fairleadtest.Virtual(t, handlers, func(node *fairleadtest.VirtualNode) {
			job := SendWelcome.Job(Welcome{To: "ada@example.org"})
			job.NotBefore = node.Now().Add(time.Hour)
			if err := node.Client.Enqueue(node.T.Context(), job); err != nil {
				node.T.Fatal(err)
			}
			node.Pass(2 * time.Hour)
			done, err := node.Client.Get(node.T.Context(), job.ID)
			if err != nil || done.State != fairlead.Succeeded {
				node.T.Errorf("got %v, error %v", done, err)
			}
		})
	}
}

// test calls f with a substitute for a *testing.T.
func test(f func(t fairleadtest.TB)) {
	t := &exampleTB{}
	defer t.cleanUp()
	f(t)
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
