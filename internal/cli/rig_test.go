package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/bulk"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/httpcall"
	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/server"
	"github.com/fairlead-io/fairlead/sweep"
)

// rig is a real server with a node, and a user who types commands.
type rig struct {
	*testing.T
	url   string
	stdin io.Reader
}

func newRig(t *testing.T) *rig {
	t.Helper()
	alone(t)
	store := sqlitetest.Open(t)
	mux := fairlead.NewMux()
	handle := func(kind string, run func(context.Context, *fairlead.Job) error) {
		mux.Handle(kind, fairlead.HandlerOptions{}, fairlead.HandlerFunc(run))
	}
	handle("noop", func(context.Context, *fairlead.Job) error { return nil })
	handle("broken", func(context.Context, *fairlead.Job) error { return fairlead.Fatal(errors.New("it is broken\x1b[2J")) })
	handle("asks", func(context.Context, *fairlead.Job) error { return fairlead.Await(time.Hour) })
	batch.Handle(mux, batch.Operation{TargetType: "wall", BatchType: "paint", Process: paint})
	handle(sweep.KindOf("count"), func(ctx context.Context, job *fairlead.Job) error { return count(ctx, store, job) })
	bulk.Register(mux, store)
	log := slog.New(slog.DiscardHandler)
	node, err := engine.New(store, mux, engine.Options{Name: "here", Slots: 4, Poll: 20 * time.Millisecond, Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	guard, err := httpcall.NewGuard(nil, true)
	if err != nil {
		t.Fatal(err)
	}
	handler, err := server.New(node, store, server.Options{Version: "test", Log: log, TryCall: httpcall.New(httpcall.Options{Guard: guard}).Try})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(handler)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- node.Run(ctx) }()
	t.Cleanup(func() {
		web.Close()
		stop()
		if err := errors.Join(<-ended, store.Close()); err != nil {
			t.Error(err)
		}
	})
	return &rig{T: t, url: web.URL}
}

// paint paints walls and fails for wet ones.
func paint(_ context.Context, task batch.TaskArgs) error {
	if strings.HasPrefix(task.Target.ID, "wet") {
		return errors.New("the wall is wet\x1b[2J")
	}
	return nil
}

// count processes a shard of a sweep at once, except for its first item, which is odd and
// fails. A retry of that item succeeds.
func count(ctx context.Context, store driver.Store, job *fairlead.Job) error {
	var args sweep.ShardArgs
	if err := json.Unmarshal(job.Args, &args); err != nil {
		return err
	}
	shards, err := store.Shards(ctx, args.Sweep)
	if err != nil {
		return err
	}
	shard := shards[args.Shard]
	if err := store.AddSweepLogs(ctx, []sweep.Log{{Sweep: args.Sweep, Index: shard.From, Level: "warn", Text: "odd"}}); err != nil {
		return err
	}
	last := sweep.Checkpoint{
		Sweep: args.Sweep, Number: args.Shard, Job: job.ID, Fence: job.Fence, Mark: shard.To, Done: shard.To - shard.From, Errors: 5, Ended: true,
	}
	if shard.Again > 0 {
		last.Redone = []int64{shard.From}
	} else {
		last.Done, last.Abandoned, last.Failed = last.Done-1, 1, []sweep.FailedItem{{Index: shard.From, Attempts: 5, Error: "it is odd\x1b[2J"}}
	}
	if _, err := store.Checkpoint(ctx, last); err != nil {
		return err
	}
	return sweep.Steer(ctx, store, args.Sweep)
}

// alone isolates the tests from the settings of the user who runs them.
func alone(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	for _, name := range []string{"FAIRLEAD_SERVER", "FAIRLEAD_TOKEN", "FAIRLEAD_TOKEN_FILE", "FAIRLEAD_CONTEXT", "FAIRLEAD_DB"} {
		t.Setenv(name, "")
	}
}

// typed runs a command like the program does and expects an exit code.
func (r *rig) typed(want int, args ...string) (stdout, stderr string) {
	r.Helper()
	stdout, stderr, code := run(r.Context(), r.stdin, append(args, "--server", r.url)...)
	if code != want {
		r.Fatalf("fairlead %s: exit %d, want %d\n%s%s", strings.Join(args, " "), code, want, stdout, stderr)
	}
	return stdout, stderr
}

func run(ctx context.Context, stdin io.Reader, args ...string) (stdout, stderr string, code int) {
	root := &cobra.Command{Use: "fairlead", SilenceErrors: true, SilenceUsage: true}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return Usagef("%w", err) })
	root.AddCommand(Commands(Options{
		DatabaseFlags: func(f *pflag.FlagSet, db *string, fallback string) {
			f.StringVar(db, "db", fallback, "")
			f.String("db-file", "", "")
		},
		Database: func(*cobra.Command, []string) error { return nil },
	})...)
	var out, errs bytes.Buffer
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(&out)
	root.SetErr(&errs)
	err := root.ExecuteContext(ctx)
	if err != nil {
		errs.WriteString(err.Error())
	}
	return out.String(), errs.String(), ExitCode(err)
}

// says runs a command that must succeed, and expects strings in its output.
func (r *rig) says(wants []string, args ...string) string {
	r.Helper()
	stdout, _ := r.typed(ExitOK, args...)
	for _, want := range wants {
		if !strings.Contains(stdout, want) {
			r.Errorf("fairlead %s: %q is not in\n%s", strings.Join(args, " "), want, stdout)
		}
	}
	return stdout
}

// fails runs a command that must end with a code and expects a text in its error.
func (r *rig) fails(code int, want string, args ...string) {
	r.Helper()
	if _, stderr := r.typed(code, args...); !strings.Contains(stderr, want) || strings.ContainsAny(stderr, "\x1b") {
		r.Errorf("fairlead %s: %q is not in %q", strings.Join(args, " "), want, stderr)
	}
}

// id returns the ID printed by a command.
func (r *rig) id(args ...string) string {
	r.Helper()
	stdout, _ := r.typed(ExitOK, args...)
	return strings.TrimSpace(stdout)
}

// document returns the output of a command with -o json.
func (r *rig) document(args ...string) (document map[string]any) {
	r.Helper()
	stdout, _ := r.typed(ExitOK, append(args, "-o", "json")...)
	if err := json.Unmarshal([]byte(stdout), &document); err != nil {
		r.Fatalf("%v in %s", err, stdout)
	}
	return document
}

// until waits until a job is in a state.
func (r *rig) until(id, state string) {
	r.Helper()
	deadline := time.After(patience.Limit)
	ticks := time.NewTicker(10 * time.Millisecond)
	defer ticks.Stop()
	for r.document("job", "get", id)["state"] != state {
		select {
		case <-deadline:
			r.Fatalf("job %s is %v, want %s", id, r.document("job", "get", id), state)
		case <-ticks.C:
		}
	}
}
