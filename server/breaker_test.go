package server_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead-io/fairlead/httpcall"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/server"
)

func TestBreakersOfTheNodeThatAnswersAreListed(t *testing.T) {
	store := sqlitetest.Open(t)
	since := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	breakers := func() []httpcall.Breaker {
		return []httpcall.Breaker{
			{Address: "a.example:443", Failures: 20, Since: since, Until: since.Add(time.Second)},
			{Address: "b.example:80", HalfOpen: true, Failures: 21, Since: since, Until: since.Add(2 * time.Second)},
		}
	}
	handler, err := server.New(node(true), store, server.Options{Version: "test", Log: slog.New(slog.DiscardHandler), Breakers: breakers})
	if err != nil {
		t.Fatal(err)
	}
	a := &api{TB: t, url: served(t, handler, store), store: store}
	answer, _ := a.send(200, "GET", "/api/v1/breakers", "")
	want := []map[string]any{
		{"address": "a.example:443", "state": "open", "failures": 20.0, "since": "2030-01-01T00:00:00.000000Z", "open_until": "2030-01-01T00:00:01.000000Z"},
		{"address": "b.example:80", "state": "half_open", "failures": 21.0, "since": "2030-01-01T00:00:00.000000Z", "open_until": "2030-01-01T00:00:02.000000Z"},
	}
	if diff := cmp.Diff(want, items(t, answer)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAServiceThatMakesNoCallsHasNoBreakers(t *testing.T) {
	a := newAPI(t)
	answer, _ := a.send(200, "GET", "/api/v1/breakers", "")
	if len(items(t, answer)) != 0 {
		t.Errorf("listed are %v", answer)
	}
}
