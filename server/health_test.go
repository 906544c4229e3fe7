package server_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/server"
)

type node bool

func (n node) Ready() bool { return bool(n) }

func (n node) Outage() time.Time { return time.Time{} }

func (n node) Ended(...*fairlead.Job) {}

// cutOff is a node that lost its lease because the database has been away since then.
type cutOff struct{ since time.Time }

func (c cutOff) Ready() bool { return false }

func (c cutOff) Outage() time.Time { return c.since }

func (c cutOff) Ended(...*fairlead.Job) {}

func TestANodeThatLostItsLeaseInAnOutageShowsTheOutage(t *testing.T) {
	since := time.Date(2026, 11, 17, 3, 14, 15, 0, time.UTC)
	for err, want := range map[error]string{
		errors.New("gone"): "the database has not answered since 2026-11-17T03:14:15Z; the node has no confirmed lease, or is shutting down\n",
		nil:                "the node's beats have failed since 2026-11-17T03:14:15Z, though the database answers; the node has no confirmed lease, or is shutting down\n",
	} {
		answer := httptest.NewRecorder()
		server.Health(cutOff{since}, clock{err: err}).ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz", nil))
		if answer.Code != http.StatusServiceUnavailable || answer.Body.String() != want {
			t.Errorf("%d %s", answer.Code, answer.Body)
		}
	}
}

// clock is a store that only tells the time.
type clock struct {
	server.Store
	err error
}

func (c clock) Now(context.Context) (time.Time, error) { return time.Time{}, c.err }

func TestLiveWhileItAnswersReadyWhileItCanWork(t *testing.T) {
	for _, c := range []struct {
		name          string
		ready         node
		err           error
		livez, readyz int
	}{
		{"at work", true, nil, 200, 200},
		{"draining or fenced", false, nil, 200, 503},
		{"without its database", true, errors.New("gone"), 200, 503},
	} {
		t.Run(c.name, func(t *testing.T) {
			handler := server.Health(c.ready, clock{err: c.err})
			for path, want := range map[string]int{"/livez": c.livez, "/readyz": c.readyz} {
				answer := httptest.NewRecorder()
				handler.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
				if isOK := answer.Body.String() == "ok\n"; answer.Code != want || isOK != (want == http.StatusOK) {
					t.Errorf("%s: %d %s, want %d", path, answer.Code, answer.Body, want)
				}
				if header := answer.Header(); header.Get("Content-Type") != "text/plain; charset=utf-8" || header.Get("Cache-Control") != "no-store" {
					t.Errorf("%s is answered with %v", path, header)
				}
			}
		})
	}
}
