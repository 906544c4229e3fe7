package server_test

import (
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/server"
	"github.com/fairlead-io/fairlead/sweep"
)

// newTableAPI serves a program that runs sweeps of the kind count over tables of some
// databases.
func newTableAPI(t *testing.T, databases ...string) *api {
	store := sqlitetest.Open(t)
	mux := fairlead.NewMux()
	mux.Handle(sweep.KindOf("count"), fairlead.HandlerOptions{}, fairlead.HandlerFunc(nil))
	handler, err := server.New(node(true), store, server.Options{Version: "test", Log: slog.New(slog.DiscardHandler), Kinds: mux, Databases: databases})
	if err != nil {
		t.Fatal(err)
	}
	return &api{TB: t, url: served(t, handler, store), store: store}
}

func TestASweepOverATableNamesADatabaseThatIsKnown(t *testing.T) {
	a := newTableAPI(t, "shop", "house")
	table := func(database string) string {
		return `"source":{"table":{"database":"` + database + `","name":"users","key":"id","columns":["mail"]}}`
	}
	made, _ := a.send(200, "POST", sweeps, `{"name":"n","kind":"count",`+table("shop")+`}`)
	source := made["source"].(map[string]any)["table"].(map[string]any)
	wantFields(t, source, map[string]any{"database": "shop", "name": "users", "key": "id"})
	if columns := source["columns"].([]any); !slices.Equal(columns, []any{"mail"}) {
		t.Errorf("its columns are %v", columns)
	}
	refused := func(verb, path, body string) {
		t.Helper()
		problem, _ := a.send(400, verb, path, body)
		if got := refusals(problem)["source.table.database"]; got != `is "shed", which is not a known database; use one of shop, house` {
			t.Errorf("%s of %s is refused as %v", verb, body, problem)
		}
	}
	refused("POST", sweeps, `{"name":"other","kind":"count",`+table("shed")+`}`)
	refused("PATCH", sweeps+"/n", `{`+table("shed")+`}`)
	a.send(200, "PATCH", sweeps+"/n", `{`+table("house")+`}`)

	// What runs elsewhere has databases of its own, until it is to run here.
	a.send(200, "POST", sweeps, `{"name":"elsewhere","kind":"far",`+table("shed")+`}`)
	a.send(200, "PATCH", sweeps+"/elsewhere", `{"rate":5}`)
	refused("PATCH", sweeps+"/elsewhere", `{"kind":"count"}`)

	none := newTableAPI(t)
	problem, _ := none.send(400, "POST", sweeps, `{"name":"n","kind":"count",`+table("shop")+`}`)
	if got := refusals(problem)["source.table.database"]; !strings.Contains(got, "no database is configured; add one with serve --sweep-database") {
		t.Errorf("without databases it is refused as %v", problem)
	}
}

// A service that runs nothing itself cannot know which databases there are.
func TestASweepOverATableIsTakenWhereNothingRuns(t *testing.T) {
	a := newAPI(t)
	a.send(200, "POST", sweeps, `{"name":"n","kind":"count","source":{"table":{"database":"shed","name":"users","key":"id"}}}`)
}

func TestASweepComesBackWithItsSource(t *testing.T) {
	a := newTableAPI(t)
	for name, source := range map[string]string{"file": "/lists/users", "url": "http://svc.internal/users"} {
		a.send(200, "POST", sweeps, `{"name":"`+name+`","kind":"count","source":{"`+name+`":"`+source+`"}}`)
		got, _ := a.send(200, "GET", sweeps+"/"+name, "")
		if jsonOf(t, got["source"]) != `{"`+name+`":"`+source+`"}` {
			t.Errorf("the source of %s is %v", name, got["source"])
		}
	}
	a.send(200, "POST", sweeps, `{"name":"numbers","kind":"count","to":9}`)
	if got, _ := a.send(200, "GET", sweeps+"/numbers", ""); got["source"] != nil {
		t.Errorf("the source of numbers is %v", got["source"])
	}
}
