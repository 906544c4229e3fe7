package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/storetest"
)

func openFile(t *testing.T) *Store {
	t.Helper()
	return openAt(t, filepath.Join(t.TempDir(), "jobs.db"), Options{})
}

func openAt(t *testing.T, path string, options Options) *Store {
	t.Helper()
	s, err := OpenWith(t.Context(), path, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// pragma changes the only connection that writes.
func pragma(s *Store, text string) func(t *testing.T) {
	return func(t *testing.T) {
		if _, err := s.main.ExecContext(t.Context(), "pragma "+text); err != nil {
			t.Fatal(err)
		}
	}
}

func TestVerbsOnAReadOnlyFileFailForNow(t *testing.T) {
	s := openFile(t)
	storetest.RunUnavailable(t, s, storetest.Outage{Begin: pragma(s, "query_only = true"), Reads: true})
}

func TestAFullDiskFailsForNow(t *testing.T) {
	s := openFile(t)
	pragma(s, "max_page_count = 1")(t) // which is as many as there are
	var err error
	for n := 0; err == nil; n++ {
		err = fairlead.NewClient(s).Enqueue(t.Context(), &fairlead.Job{Kind: "filler", Args: fmt.Appendf(nil, `"%010000d"`, n)})
	}
	if !errors.Is(err, fairlead.ErrUnavailable) {
		t.Errorf("it fails with %v", err)
	}
	pragma(s, "max_page_count = 1000000")(t)
	if err := fairlead.NewClient(s).Enqueue(t.Context(), &fairlead.Job{Kind: "a"}); err != nil {
		t.Errorf("with room on the disk: %v", err)
	}
}

func TestVerbsOnALockedFileFailForNow(t *testing.T) {
	tier.Long(t, "waits for a timeout of each verb")
	path := filepath.Join(t.TempDir(), "jobs.db")
	s, hasty := openAt(t, path, Options{}), openAt(t, path, Options{QueryTimeout: 100 * time.Millisecond, NoMigrate: true})
	storetest.RunUnavailable(t, s, storetest.Outage{Reads: true, Store: hasty, Begin: func(t *testing.T) {
		tx, err := s.DB().BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = tx.Rollback() })
	}})
}

func TestVerbsOfAClosedStoreFailForNow(t *testing.T) {
	s := openFile(t)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := fairlead.NewClient(s).Enqueue(t.Context(), &fairlead.Job{Kind: "a"}); !errors.Is(err, fairlead.ErrUnavailable) {
		t.Errorf("it fails with %v", err)
	}
}

// A caller that gives up gets the error of its own context: the database may be well.
func TestCallersThatGiveUpGetTheirOwnError(t *testing.T) {
	s := openFile(t)
	tx, err := s.DB().BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err = fairlead.NewClient(s).Enqueue(ctx, &fairlead.Job{Kind: "a"})
	if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, fairlead.ErrUnavailable) {
		t.Errorf("it fails with %v", err)
	}
}

func TestWhichErrorsPass(t *testing.T) {
	s := openFile(t)
	_, syntax := s.main.ExecContext(t.Context(), "nonsense")
	_, missing := s.main.ExecContext(t.Context(), "select * from missing")
	pragma(s, "query_only = true")(t)
	_, readOnly := s.main.ExecContext(t.Context(), "create table t (x)")
	for name, test := range map[string]struct {
		err  error
		want bool
	}{
		"syntax":        {syntax, false},
		"missing table": {missing, false},
		"read-only":     {readOnly, true},
		"closed":        {fmt.Errorf("x: %w", errClosed), true},
		"a verdict":     {fmt.Errorf("%w: %w", fairlead.ErrConflict, context.DeadlineExceeded), false},
		"a bug":         {errors.New("affected 0 rows instead of 1"), false},
	} {
		if got := errors.Is(unavailable(t.Context(), test.err), fairlead.ErrUnavailable); got != test.want {
			t.Errorf("%s (%v): %v", name, test.err, got)
		}
	}
}
