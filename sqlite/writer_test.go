package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
)

func openForWriting(t *testing.T) *Store {
	t.Helper()
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "jobs.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// inOneGroup queues functions while the writer is busy, so that it finds them
// all at once. It returns their errors.
func inOneGroup(t *testing.T, s *Store, functions ...func(*txn) error) []error {
	t.Helper()
	started, release := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		_, err := inTx(t.Context(), s, "block", func(*txn) (none, error) {
			close(started)
			<-release
			return none{}, nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	<-started
	errs := make([]error, len(functions))
	for i, f := range functions {
		all.Go(func() {
			_, errs[i] = inTx(t.Context(), s, "test", func(t *txn) (none, error) { return none{}, f(t) })
		})
		waitUntilQueued(s, i+1)
	}
	close(release)
	all.Wait()
	return errs
}

func waitUntilQueued(s *Store, n int) {
	for {
		s.writer.mu.Lock()
		queued := len(s.writer.queue)
		s.writer.mu.Unlock()
		if queued >= n {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

func enqueueOne(kind string) func(*txn) error {
	jobs := []*fairlead.Job{{Kind: kind}}
	if err := fairlead.NormalizeJobs(jobs); err != nil {
		panic(err)
	}
	return func(t *txn) error {
		_, err := t.enqueue(newJobs(jobs))
		return err
	}
}

func kindsOf(t *testing.T, s *Store) []string {
	t.Helper()
	jobs, err := s.Find(t.Context(), fairlead.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, job := range jobs {
		kinds = append(kinds, job.Kind)
	}
	slices.Sort(kinds)
	return kinds
}

func TestFunctionsOfAGroupShareOneCommit(t *testing.T) {
	s := openForWriting(t)
	runners := map[runner]bool{}
	var functions []func(*txn) error
	for i := range 5 {
		functions = append(functions, func(t *txn) error {
			runners[t.run] = true
			return enqueueOne(fmt.Sprint("kind ", i))(t)
		})
	}
	for _, err := range inOneGroup(t, s, functions...) {
		if err != nil {
			t.Error(err)
		}
	}
	if len(runners) != 1 {
		t.Errorf("they ran in %d transactions", len(runners))
	}
	if kinds := kindsOf(t, s); len(kinds) != 5 {
		t.Errorf("stored are %v", kinds)
	}
}

func TestAFailingFunctionDoesNotHarmTheOthers(t *testing.T) {
	broken := errors.New("broken")
	for name, failing := range map[string]func(*txn) error{
		"refused":               func(*txn) error { return fairlead.ErrConflict },
		"failing":               func(*txn) error { return broken },
		"refused after writing": func(t *txn) error { return errors.Join(enqueueOne("never")(t), fairlead.ErrConflict) },
		"failing after writing": func(t *txn) error { return errors.Join(enqueueOne("never")(t), broken) },
		"failing so badly that SQLite rolls back": func(t *txn) error {
			_, err := t.exec("rollback")
			return errors.Join(err, broken)
		},
		"violating a constraint": func(t *txn) error {
			return errors.Join(enqueueOne("never")(t), t.must(1, t.sql.InsertLane, nil, nil, nil))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := openForWriting(t)
			errs := inOneGroup(t, s, enqueueOne("first"), failing, enqueueOne("last"))
			if errs[0] != nil || errs[1] == nil || errs[2] != nil {
				t.Errorf("the errors are %v", errs)
			}
			if kinds := kindsOf(t, s); !slices.Equal(kinds, []string{"first", "last"}) {
				t.Errorf("stored are %v", kinds)
			}
			if errs := inOneGroup(t, s, enqueueOne("after")); errs[0] != nil {
				t.Errorf("the writer is broken: %v", errs[0])
			}
		})
	}
}

func TestAFunctionThatNobodyWaitsForIsSkipped(t *testing.T) {
	s := openForWriting(t)
	ctx, cancel := context.WithCancel(t.Context())
	started, release := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		_, _ = inTx(t.Context(), s, "block", func(*txn) (none, error) {
			close(started)
			<-release
			return none{}, nil
		})
	})
	<-started
	gone := make(chan error)
	go func() {
		_, err := inTx(ctx, s, "test", func(txn *txn) (none, error) { return none{}, enqueueOne("unwanted")(txn) })
		gone <- err
	}()
	waitUntilQueued(s, 1)
	cancel()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Errorf("the caller got %v", err)
	}
	close(release)
	all.Wait()
	inOneGroup(t, s, enqueueOne("wanted"))
	if kinds := kindsOf(t, s); !slices.Equal(kinds, []string{"wanted"}) {
		t.Errorf("stored are %v", kinds)
	}
}

func TestUrgentFunctionsGoFirst(t *testing.T) {
	s := openForWriting(t)
	var mu sync.Mutex
	var order []string
	note := func(name string) {
		mu.Lock()
		defer mu.Unlock()
		order = append(order, name)
	}
	beaten := make(chan struct{})
	inOneGroup(t, s, func(*txn) error {
		note("first")
		go func() {
			defer close(beaten)
			_, _ = inTxFirst(t.Context(), s, "beat", func(*txn) (none, error) { note("urgent"); return none{}, nil })
		}()
		for queued := 0; queued == 0; time.Sleep(time.Millisecond) {
			s.writer.mu.Lock()
			queued = len(s.writer.first)
			s.writer.mu.Unlock()
		}
		return nil
	}, func(*txn) error {
		note("second")
		return nil
	})
	<-beaten
	if want := []string{"first", "urgent", "second"}; !slices.Equal(order, want) {
		t.Errorf("the order is %v, want %v", order, want)
	}
}

func TestLongGroupsAreCut(t *testing.T) {
	s := openForWriting(t)
	runners := map[runner]bool{}
	slow := func(t *txn) error {
		runners[t.run] = true
		time.Sleep(longest)
		return nil
	}
	if err := errors.Join(inOneGroup(t, s, slow, slow, slow)...); err != nil {
		t.Fatal(err)
	}
	if len(runners) != 3 {
		t.Errorf("they ran in %d transactions", len(runners))
	}
}

func TestACloseRefusesWhatIsWaiting(t *testing.T) {
	s, err := Open(t.Context(), ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	started, release := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		_, err := inTx(t.Context(), s, "block", func(*txn) (none, error) {
			close(started)
			<-release
			return none{}, nil
		})
		if err != nil {
			t.Errorf("a transaction in flight ends with %v", err)
		}
	})
	<-started
	all.Go(func() {
		_, err := inTx(t.Context(), s, "wait", func(*txn) (none, error) { return none{}, nil })
		if !errors.Is(err, errClosed) {
			t.Errorf("what was waiting ends with %v", err)
		}
	})
	waitUntilQueued(s, 1)
	all.Go(func() {
		if err := errors.Join(s.Close(), s.Close()); err != nil {
			t.Error(err)
		}
	})
	for closed := false; !closed; time.Sleep(time.Millisecond) {
		s.writer.mu.Lock()
		closed = s.writer.closed
		s.writer.mu.Unlock()
	}
	close(release)
	all.Wait()
	if err := s.Pause(t.Context(), fairlead.Pause{Scope: fairlead.PauseQueue}); !errors.Is(err, errClosed) {
		t.Errorf("what comes after ends with %v", err)
	}
}
