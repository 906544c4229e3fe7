package main

import (
	"context"
	"errors"
	"io"
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

// The program is stopped after it has sent the first mails, and then started again.
func TestAMailingThatWasStoppedGoesOn(t *testing.T) {
	const users = 20_000
	mailer, file := &Mailer{}, filepath.Join(t.TempDir(), "mailing.db")
	ctx, stop := context.WithCancel(t.Context())
	atLine := lineFunc(func() {
		if mailer.sent.Load() > 0 {
			stop()
		}
	})
	if err := run(ctx, file, mailing(users, 100), mailer, atLine); !errors.Is(err, context.Canceled) {
		t.Errorf("the run that was stopped ended with %v", err)
	}
	if before := mailer.sent.Load(); before >= users {
		t.Errorf("%d mails were sent before the stop", before)
	}
	if err := run(t.Context(), file, mailing(users, 100_000), mailer, io.Discard); err != nil {
		t.Fatal(err)
	}
	// After an orderly stop, no mail is sent twice.
	if s := stored(t, file); s.State != sweep.Finished || s.Done != users || mailer.sent.Load() != users {
		t.Errorf("%d mails were sent, and the sweep is %+v", mailer.sent.Load(), s.Status)
	}
}

// lineFunc is a writer that calls a function for each line.
type lineFunc func()

func (f lineFunc) Write(p []byte) (int, error) {
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
