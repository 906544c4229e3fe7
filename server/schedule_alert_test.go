package server_test

import (
	"log/slog"
	"testing"

	"github.com/fairlead-io/fairlead/httpcall"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/server"
)

// A schedule is stored once and runs for years: what can never be called is refused
// when it is stored.
func TestAScheduleWhoseCallsCanNeverBeMadeIsRefused(t *testing.T) {
	store := sqlitetest.Open(t)
	guard, err := httpcall.NewGuard(nil, true)
	if err != nil {
		t.Fatal(err)
	}
	checks := server.ArgsChecks{httpcall.Kind: httpcall.New(httpcall.Options{Guard: guard}).Validate}
	handler, err := server.New(node(true), store, server.Options{Version: "test", Log: slog.New(slog.DiscardHandler), Args: checks})
	if err != nil {
		t.Fatal(err)
	}
	a := &api{TB: t, url: served(t, handler, store), store: store}
	const call, other = `"job":{"kind":"http","args":{"url":"http://svc.internal/"}}`, `"job":{"kind":"noop","args":{"url":"nowhere"}}`
	a.send(200, "POST", schedules, `{"name":"good","every":"1h",`+call+`,"alert":{"url":"http://svc.internal/"}}`)
	a.send(200, "POST", schedules, `{"name":"other","every":"1h",`+other+`}`)
	for body, field := range map[string]string{
		`"job":{"kind":"http","args":{"url":"nowhere"}}`:            "job.args.url",
		`"job":{"kind":"http","args":{"url":7}}`:                    "job.args.url",
		call + `,"alert":{"url":"nowhere"}`:                         "alert.url",
		other + `,"alert":{"url":"nowhere"}`:                        "alert.url",
		call + `,"alert":{"url":"http://x/","headers":{"a b":"c"}}`: "alert.headers",
	} {
		for verb, path := range map[string]string{"POST": schedules, "PUT": schedules + "/good", "PATCH": schedules + "/good"} {
			sent := `{"every":"1h",` + body + `}`
			if verb == "POST" {
				sent = `{"name":"bad","every":"1h",` + body + `}`
			}
			if problem, _ := a.send(400, verb, path, sent); refusals(problem)[field] == "" {
				t.Errorf("%s of %s is refused as %v, want %s", verb, body, problem, field)
			}
		}
	}
}
