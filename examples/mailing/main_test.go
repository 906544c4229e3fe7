package main

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead/sqlite"
	"github.com/fairlead-io/fairlead/sweep"
)

func TestEveryUserGetsAMailThoughSomeFailAtFirst(t *testing.T) {
	const users = 20_000
	mailer, out := &Mailer{}, &strings.Builder{}
	file := filepath.Join(t.TempDir(), "mailing.db")
	if err := run(t.Context(), file, mailing(users, 0), mailer, out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "20 mails failed, the first: user 999") {
		t.Errorf("the program printed\n%s", out)
	}
	s := stored(t, file)
	if s.State != sweep.Finished || s.Done != users || s.Abandoned != 0 || mailer.sent.Load() != users {
		t.Errorf("%d mails were sent, and the sweep is %+v", mailer.sent.Load(), s.Status)
	}
}

// The program is stopped after its first line, and started again.
func TestAMailingThatWasStoppedGoesOn(t *testing.T) {
	const users = 20_000
	mailer, file := &Mailer{}, filepath.Join(t.TempDir(), "mailing.db")
	ctx, stop := context.WithCancel(t.Context())
	if err := run(ctx, file, mailing(users, 5000), mailer, atFirst(stop)); err == nil {
		t.Error("the first run ended without an error, though it was stopped")
	}
	before := mailer.sent.Load()
	if before == 0 || before >= users/2 {
		t.Errorf("%d mails were sent before the stop", before)
	}
	if err := run(t.Context(), file, mailing(users, 0), mailer, &strings.Builder{}); err != nil {
		t.Fatal(err)
	}
	// After an orderly stop nothing is sent twice.
	if s := stored(t, file); s.State != sweep.Finished || s.Done != users || mailer.sent.Load() != users {
		t.Errorf("%d mails were sent, and the sweep is %+v", mailer.sent.Load(), s.Status)
	}
}

// atFirst is a writer that calls a function at the first line.
type atFirst func()

func (f atFirst) Write(p []byte) (int, error) {
	f()
	return len(p), nil
}

func stored(t *testing.T, file string) sweep.Sweep {
	t.Helper()
	store, err := sqlite.Open(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	s, err := sweep.NewClient(store).Get(t.Context(), "mailing")
	if err != nil {
		t.Fatal(err)
	}
	return s
}
