package storetest

import (
	"sync"
	"testing"
)

// shelf keeps the databases that a chapter left empty for the next one:
// creating one costs a server far more than a test does. All of them are
// removed when the whole suite ends.
type shelf struct {
	t    *testing.T // owns them
	open Opener

	mu    sync.Mutex
	empty []*fixture
}

// newShelf puts up one database, so that a server that is missing skips the
// suite as a whole.
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

// take gives an empty database to a test.
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

// putBack takes back a database that is empty again.
func (s *shelf) putBack(f *fixture) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.empty = append(s.empty, f.within(s.t))
}
