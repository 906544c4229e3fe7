package server_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/httpcall"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/server"
)

// confide makes fields of a kind confidential.
func (a *api) confide(kind string, fields ...string) {
	a.Helper()
	if err := fairlead.NewClient(a.store).SetConfidential(a.Context(), kind, fields); err != nil {
		a.Fatal(err)
	}
}

func TestTextsAboutASweepDoNotShowItsConfidentialValues(t *testing.T) {
	a, world := newCountingAPI(t)
	defer close(world.held) // the node drains
	a.confide("sweep.count", "args.secret")
	a.send(200, "POST", sweeps, `{"name":"all","kind":"count","to":12,"shards":4,"args":{"secret":"is odd"}}`)
	path := sweeps + "/all"
	a.send(200, "POST", path+"/logs", `{"index":7,"text":"item 7 is%20odd"}`)
	a.send(200, "POST", path+"/start", `{}`)
	a.untilSweep(path, "begun", func(s map[string]any) bool { return progressOf(s)["abandoned"] == "4" })
	a.send(200, "POST", path+"/stop", `{"reason":"5 is odd"}`)
	for part, want := range map[string]string{"": "5 ***", "/logs": "item 7 ***", "/failed": "it ***", "/history": "5 ***"} {
		answer, _ := a.send(200, "GET", path+part, "")
		if text := fmt.Sprint(answer); !strings.Contains(text, want) || strings.Contains(text, "odd") {
			t.Errorf("%s answers %s, want %q in it", part, text, want)
		}
	}
}

func TestBreakersDoNotShowTargetsIfURLsAreConfidential(t *testing.T) {
	for _, kind := range []string{httpcall.Kind, "sweep.http"} {
		store := sqlitetest.Open(t)
		breakers := func() []httpcall.Breaker { return []httpcall.Breaker{{Address: "canary.example:443", Failures: 20}} }
		handler, err := server.New(node(true), store, server.Options{Version: "test", Log: slog.New(slog.DiscardHandler), Breakers: breakers})
		if err != nil {
			t.Fatal(err)
		}
		a := &api{TB: t, url: served(t, handler, store), store: store}
		a.confide(kind, "args.url")
		answer, _ := a.send(200, "GET", "/api/v1/breakers", "")
		wantFields(t, items(t, answer)[0], map[string]any{"address": "***", "failures": 20.0})
	}
}

func TestATestThatMakesNoCallDoesNotShowAConfidentialURL(t *testing.T) {
	a := newCallingAPI(t, 1)
	target := httptest.NewServer(http.NotFoundHandler())
	target.Close()
	a.confide(httpcall.Kind, "args.url", "args.vars")
	host := strings.TrimPrefix(target.URL, "http://")
	a.send(200, "POST", schedules, `{"name":"call","every":"1h","job":{"kind":"http","args":{"url":"`+target.URL+`/x"}}}`)
	a.send(200, "POST", schedules+"/call/test", `{}`) // the failed call opens the breaker
	problem, _ := a.send(409, "POST", schedules+"/call/test", `{}`)
	if text := fmt.Sprint(problem); strings.Contains(text, host) || !strings.Contains(text, "calls to *** are paused") {
		t.Errorf("a test of a target that is left alone is answered with %s", text)
	}
}
