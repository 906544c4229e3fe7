package server

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/sqlite"
)

// request is one of a worker.
type request struct {
	id      int64
	session string
}

func (r request) GetId() int64       { return r.id }
func (r request) GetSession() string { return r.session }

// A session names the token by which the store knows the worker's row from that of
// another with the same id. Sessions of older servers have none.
func TestASessionCarriesTheTokenOfItsWorker(t *testing.T) {
	store, err := sqlite.Open(t.Context(), "sqlite://"+filepath.Join(t.TempDir(), "jobs.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	s := &sessions{store: store}
	key, err := s.key(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, token := range []string{"", "one", "two"} {
		ctx, err := s.enter(t.Context(), request{7, sessionOf(key, 7, token)})
		if err != nil {
			t.Fatal(err)
		}
		if got, kept := fairlead.NodeToken(ctx); got != token || !kept {
			t.Errorf("the store is told %q, want %q", got, token)
		}
	}
	of := sessionOf(key, 7, "one")
	for _, forged := range []request{{8, of}, {7, of + "x"}, {7, sessionOf(key, 7, "") + ".one"}, {7, ""}, {7, sessionOf([]byte("other"), 7, "one")}} {
		if _, err := s.enter(t.Context(), forged); !errors.Is(err, errOtherSession) {
			t.Errorf("%+v: got %v", forged, err)
		}
	}
}
