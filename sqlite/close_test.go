package sqlite_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/sqlite"
)

// Who copies the file of a store that was closed has all of it.
func TestClosingFoldsTheLogIntoTheFile(t *testing.T) {
	for name, use := range map[string]func(t *testing.T, s *sqlite.Store, file string){
		"after claiming":  claimNothing,
		"after reading":   tallyTwice,
		"after listening": hearOfOthers,
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "jobs.db")
			s := openFile(t, file)
			use(t, s, file)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(file + "-wal"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the log is still there (%v)", err)
			}
		})
	}
}

func openFile(t *testing.T, file string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.OpenWith(t.Context(), "sqlite://"+file, sqlite.Options{Poll: time.Millisecond})
	must(t, err)
	return s
}

func claimNothing(t *testing.T, s *sqlite.Store, _ string) {
	node, err := s.Join(t.Context(), fairlead.Node{}, time.Minute)
	must(t, err)
	for range 2 { // the second time it is prepared
		_, err = s.Claim(t.Context(), driver.Claim{Node: node, Scope: &driver.Scope{Kinds: []string{"a"}}, Max: 1})
		must(t, err)
	}
}

func tallyTwice(t *testing.T, s *sqlite.Store, _ string) {
	for range 2 {
		_, err := s.Tally(t.Context(), fairlead.Filter{})
		must(t, err)
	}
}

// hearOfOthers listens until a wake of another process arrives.
func hearOfOthers(t *testing.T, s *sqlite.Store, file string) {
	ctx, cancel := context.WithCancel(t.Context())
	wakes, ended := make(chan struct{}, 1), make(chan struct{})
	go func() {
		defer close(ended)
		_ = s.Listen(ctx, &driver.Scope{Kinds: []string{"a"}}, func(driver.Wake) {
			select {
			case wakes <- struct{}{}:
			default:
			}
		})
	}()
	other := openFile(t, file)
	must(t, fairlead.NewClient(other).Enqueue(t.Context(), &fairlead.Job{Kind: "a"}))
	<-wakes
	cancel()
	<-ended
	must(t, other.Close())
}
