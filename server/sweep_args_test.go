package server_test

import (
	"log/slog"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/server"
	"github.com/fairlead-io/fairlead/sweep"
)

// Args that a kind can never make use of are refused when they are given, and not when
// the sweep runs.
func TestArgsOfSweepsAreChecked(t *testing.T) {
	store := sqlitetest.Open(t)
	mux := fairlead.NewMux()
	mux.Handle(sweep.StartKind, fairlead.HandlerOptions{}, sweep.StartHandler(store))
	log := slog.New(slog.DiscardHandler)
	node, err := engine.New(store, mux, engine.Options{Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	picky := func(s *sweep.Sweep) error {
		if string(s.Data) == `{"good":true}` && s.PerCall < 10 {
			return nil
		}
		return &fairlead.InvalidError{Fields: []fairlead.FieldError{{Field: "args.good", Message: "is not true"}}}
	}
	handler, err := server.New(node, store, server.Options{
		Version: "test", Log: log, Sweeps: server.SweepChecks{"picky": picky}, Args: server.ArgsChecks{sweep.StartKind: sweep.CheckStartArgs},
	})
	if err != nil {
		t.Fatal(err)
	}
	a := &api{TB: t, url: served(t, handler, store), store: store}
	refused := func(verb, path, body, field string) {
		t.Helper()
		if problem, _ := a.send(400, verb, path, body); refusals(problem)[field] == "" {
			t.Errorf("%s %s %s was answered with %v", verb, path, body, problem)
		}
	}
	refused("POST", sweeps, `{"name":"bad","kind":"picky","to":9,"args":{"good":false}}`, "args.good")
	refused("POST", sweeps, `{"name":"bad","kind":"picky","to":9}`, "args.good")
	a.send(200, "POST", sweeps, `{"name":"asked","kind":"picky","to":9,"gate":{"before_run":"http://127.0.0.1:1"}}`)
	refused("POST", sweeps, `{"name":"bad","kind":"picky","to":9,"args":{"good":false},"gate":{"before_run":"http://127.0.0.1:1"}}`, "args.good")
	a.send(200, "POST", sweeps, `{"name":"other","kind":"easy","to":9,"args":{"good":false}}`)
	a.send(200, "POST", sweeps, `{"name":"good","kind":"picky","to":9,"args":{"good":true}}`)
	refused("PATCH", sweeps+"/good", `{"per_call":10}`, "args.good")
	refused("PUT", sweeps+"/good/data", `{"args":{"good":"perhaps"}}`, "args.good")
	a.send(200, "PUT", sweeps+"/good/data", `{"args":{"good":true}}`)
	refused("POST", "/api/v1/jobs", `{"jobs":[{"kind":"sweep.start","args":{"sweep":7}}]}`, "jobs[0].args")
	refused("POST", "/api/v1/jobs", `{"jobs":[{"kind":"sweep.start","args":{}}]}`, "jobs[0].args.sweep")
}
