package workers

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
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
	store := sqlitetest.Open(t)
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
		if got, kept := driver.NodeToken(ctx); got != token || !kept {
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

// oldSession returns the only kind of session that servers before tokens issue and accept.
func oldSession(key []byte, id int64) string {
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "worker %d", id)
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func TestWorkersGetSessionsThatOlderServersAcceptWhileOneOfThemLives(t *testing.T) {
	store := sqlitetest.Open(t)
	defer store.Close()
	workers := New(store, Options{}, nil)
	key, err := workers.sessions.key(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	join := func() *fairleadv1.JoinWorkerResponse {
		t.Helper()
		workers.roster.forget()
		joined, err := workers.JoinWorker(t.Context(), &fairleadv1.JoinWorkerRequest{Name: "w", Kinds: []string{"k"}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := workers.BeatWorker(t.Context(), &fairleadv1.BeatWorkerRequest{Id: joined.GetId(), Session: joined.GetSession()}); err != nil {
			t.Errorf("a new server refuses the session: %v", err)
		}
		return joined
	}
	if _, err := store.Join(driver.AsNode(t.Context(), "token"), fairlead.Node{Name: "new", Kinds: []string{"k"}, Slots: 1}, time.Hour); err != nil {
		t.Fatal(err)
	}
	if joined := join(); joined.GetSession() == oldSession(key, joined.GetId()) {
		t.Error("a session has no token though there is no older server")
	}
	older := driver.AsNode(t.Context(), "") // as such a server's row is
	node, err := store.Join(older, fairlead.Node{Name: "old", Kinds: []string{"k"}, Slots: 1}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	during := join()
	if during.GetSession() != oldSession(key, during.GetId()) {
		t.Error("an older server refuses the session of a worker that joined here")
	}
	if err := store.Leave(older, node); err != nil {
		t.Fatal(err)
	}
	if joined := join(); joined.GetSession() == oldSession(key, joined.GetId()) {
		t.Error("sessions have no token after the last older server has gone")
	}
	if _, err := workers.BeatWorker(t.Context(), &fairleadv1.BeatWorkerRequest{Id: during.GetId(), Session: during.GetSession()}); err != nil {
		t.Errorf("the worker that joined during the rollout is refused after it: %v", err)
	}
}

// restoredStore is a store whose secret can be lost.
type restoredStore struct {
	driver.Store
	secret []byte
	asked  int
}

func (s *restoredStore) Secret(context.Context, string) ([]byte, error) {
	s.asked++
	return s.secret, nil
}

func TestAServerAcceptsSessionsOfTheKeyThatARestoreLedTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &restoredStore{secret: []byte("before")}
		s := &sessions{store: store}
		if _, err := s.enter(t.Context(), request{7, sessionOf([]byte("before"), 7, "one")}); err != nil {
			t.Fatal(err)
		}
		store.secret = []byte("after")
		time.Sleep(time.Minute)
		if _, err := s.enter(t.Context(), request{7, sessionOf([]byte("after"), 7, "one")}); err != nil {
			t.Errorf("the session of another server: %v", err)
		}
		if _, err := s.enter(t.Context(), request{7, sessionOf([]byte("before"), 7, "one")}); !errors.Is(err, errOtherSession) {
			t.Errorf("the session of the lost key: %v", err)
		}
		store.asked = 0
		for range 100 {
			if _, err := s.enter(t.Context(), request{7, "forged"}); !errors.Is(err, errOtherSession) {
				t.Fatal(err)
			}
		}
		if store.asked > 1 {
			t.Errorf("100 forged sessions read the key %d times", store.asked)
		}
	})
}
