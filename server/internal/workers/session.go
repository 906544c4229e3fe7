package workers

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/server/internal/caller"
	"github.com/fairlead-io/fairlead/server/internal/rest"
)

// sessions authenticates workers. A session is derived from the worker's ID, its token in
// the store and a key shared by all servers of a store, so that servers need not remember
// sessions.
type sessions struct {
	store driver.Store

	mu     sync.Mutex
	made   []byte    // the key; nil = not read yet
	looked time.Time // time of the last read
}

// lookAgain is the minimum interval at which the key is read again because of sessions that
// do not match.
const lookAgain = time.Second

// key returns the key of all sessions. It may be older than a restore of the database.
func (s *sessions) key(ctx context.Context) ([]byte, error) {
	s.mu.Lock()
	made := s.made
	s.mu.Unlock()
	if made != nil {
		return made, nil
	}
	return s.readKey(ctx)
}

// readKey reads the key. A restore may have removed it, and another server may have created
// a new one since.
func (s *sessions) readKey(ctx context.Context) ([]byte, error) {
	key, err := s.store.Secret(ctx, "worker-session")
	if err != nil {
		return nil, fmt.Errorf("session key: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made, s.looked = key, time.Now()
	return key, nil
}

// mayLook reports whether the key may be read again, and records the read.
func (s *sessions) mayLook() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.looked) < lookAgain {
		return false
	}
	s.looked = time.Now()
	return true
}

// sessionOf returns the session of a worker. It includes the token: if the database loses
// the commit of a joined worker and gives its ID to another, their sessions differ. A
// worker without a token has a session that servers older than tokens create and accept.
func sessionOf(key []byte, id fairlead.NodeID, token string) string {
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "worker %d", id)
	if token == "" {
		return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
	}
	fmt.Fprintf(mac, " %s", token)
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)) + tokenMark + token
}

// tokenMark separates a session's proof from its token.
const tokenMark = "."

// errOtherSession is the error for a caller that is not the worker named in its request.
var errOtherSession = &rest.Error{Status: http.StatusForbidden, Detail: "the session does not belong to the worker; send the session from the response to Join"}

// inSession is a request of a worker.
type inSession interface {
	GetId() int64
	GetSession() string
}

// enter returns an error unless the request comes from the worker that it names, with the
// token that opened its session. It returns a context for store calls on behalf of that
// worker.
func (s *sessions) enter(ctx context.Context, in inSession) (context.Context, error) {
	key, err := s.key(ctx)
	if err != nil {
		return nil, err
	}
	_, token, _ := strings.Cut(in.GetSession(), tokenMark)
	matches := func(key []byte) bool {
		return hmac.Equal([]byte(in.GetSession()), []byte(sessionOf(key, fairlead.NodeID(in.GetId()), token)))
	}
	if !matches(key) {
		if !s.mayLook() {
			return nil, errOtherSession
		}
		if key, err = s.readKey(ctx); err != nil {
			return nil, err
		}
		if !matches(key) {
			return nil, errOtherSession
		}
	}
	if err := checkOwner(key, token, caller.Of(ctx).Identity.Name); err != nil {
		return nil, err
	}
	return driver.AsNode(ctx, token), nil
}
