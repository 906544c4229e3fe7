package mysql

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
)

// bundling is a store with one connection, and a bundle that has written
// something before its last statement.
func bundling(t *testing.T) (s *Store, bundle func(last string) []string) {
	t.Helper()
	s, err := OpenWith(t.Context(), Migrated.MySQL(t), Options{MaxConns: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, func(last string) []string {
		return []string{"insert into " + s.expand("pause") + " (scope, name) values ('kind', 'a')", last}
	}
}

// wantUndone checks that nothing is left of a bundle, neither in the table nor
// on the connection, and that the next one is stored.
func wantUndone(t *testing.T, s *Store) {
	t.Helper()
	var rows, open int
	if err := s.db.QueryRowContext(t.Context(), "select count(*), @@in_transaction from "+s.expand("pause")).Scan(&rows, &open); err != nil {
		t.Fatal(err)
	}
	if rows != 0 || open != 0 {
		t.Errorf("%d rows are there, %d transactions are open", rows, open)
	}
	job := &fairlead.Job{Kind: "a"}
	if err := fairlead.NewClient(s).Enqueue(t.Context(), job); err != nil || job.ID == 0 {
		t.Errorf("job %d was enqueued: %v", job.ID, err)
	}
}

func TestABundleThatFailsIsUndone(t *testing.T) {
	s, bundle := bundling(t)
	if err := s.bundled(t.Context(), bundle("select 1 from nowhere")); err == nil {
		t.Error("it did not fail")
	}
	wantUndone(t, s)
}

func TestABundleThatIsGivenUpIsUndone(t *testing.T) {
	s, bundle := bundling(t)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := s.bundled(ctx, bundle("do sleep(10)")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("it ended with %v", err)
	}
	wantUndone(t, s)
}

// A server closes connections that were idle for too long.
func TestABundleFindsAnotherConnection(t *testing.T) {
	s, _ := bundling(t)
	var id int64
	if err := s.db.QueryRowContext(t.Context(), "select connection_id()").Scan(&id); err != nil {
		t.Fatal(err)
	}
	if _, err := s.lifeline.ExecContext(t.Context(), "kill ?", id); err != nil {
		t.Fatal(err)
	}
	if err := fairlead.NewClient(s).Enqueue(t.Context(), &fairlead.Job{Kind: "a"}); err != nil {
		t.Error(err)
	}
}

func TestOnlyWhatIsDueAndFreeIsBundled(t *testing.T) {
	for name, c := range map[string]struct {
		job  fairlead.Job
		want bool
	}{
		"plain":           {fairlead.Job{}, true},
		"with a policy":   {fairlead.Job{Timeout: time.Second, Priority: 3}, true},
		"with a key":      {fairlead.Job{Key: "k"}, false},
		"behind a gate":   {fairlead.Job{ConcurrencyKey: "k"}, false},
		"for later":       {fairlead.Job{NotBefore: time.Now().Add(time.Hour)}, false},
		"of large args":   {fairlead.Job{Args: make([]byte, chunkBytes)}, false},
		"with a deadline": {fairlead.Job{StartBy: time.Now()}, true},
	} {
		if got := canBundle([]*fairlead.Job{&c.job}); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if canBundle(make([]*fairlead.Job, bundleJobs+1)) {
		t.Error("there are too many")
	}
}
