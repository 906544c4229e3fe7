package storetest

import (
	"sync"
	"testing"
)

// shelf reuses the databases that a chapter left empty, because creating one costs a server
// far more than running a test. All of them are removed when the whole suite ends.
type shelf struct {
	t    *testing.T // owns the databases
	open Opener

	mu    sync.Mutex
	empty []*fixture
}

// newShelf creates one database, so that a missing server skips the suite as a whole.
func newShelf(t *testing.T, open Opener) *shelf {
	s := &shelf{t: t, open: open}
	s.putBack(s.create())
	return s
}

func (s *shelf) create() *fixture {
	harness := s.open(s.t)
	if err := harness.check(); err != nil {
		s.t.Fatal(err)
	}
	return &fixture{TB: s.t, Harness: harness, outer: s.t, store: harness.Open(s.t)}
}

// take returns an empty database for a test.
func (s *shelf) take() *fixture {
	s.mu.Lock()
	last := len(s.empty) - 1
	if last < 0 {
		s.mu.Unlock()
		return s.create()
	}
	defer s.mu.Unlock()
	f := s.empty[last]
	s.empty = s.empty[:last]
	return f
}

// putBack accepts a database that is empty again.
func (s *shelf) putBack(f *fixture) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.empty = append(s.empty, f.within(s.t))
}
