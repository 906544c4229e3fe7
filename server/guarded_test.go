package server_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/alert"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/bulk"
	"github.com/fairlead-io/fairlead/httpcall"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/server"
	"github.com/fairlead-io/fairlead/sweep"
)

// guardedAPI is a served store that asks callers who they are.
type guardedAPI struct {
	*api
	service   *server.Service
	store     server.Store
	client    *fairlead.Client
	batches   *batch.Client
	schedules *schedule.Client
	sweeps    *sweep.Client
	http2     *http.Client
	made      int
	args      json.RawMessage // of what fill makes; nil: none
	tokens    map[string]string
}

func newGuardedAPI(t testing.TB) *guardedAPI {
	return newGuardedAPIOn(t, func(store server.Store) server.Store { return store })
}

// newGuardedAPIOn serves a store that is changed before.
func newGuardedAPIOn(t testing.TB, change func(server.Store) server.Store) *guardedAPI {
	return newGuardedAPIFor(t, server.Auth{}, change)
}

// newGuardedAPIFor does the same as newGuardedAPIOn, with other authentication.
func newGuardedAPIFor(t testing.TB, auth server.Auth, change func(server.Store) server.Store) *guardedAPI {
	opened := sqlitetest.Open(t)
	return newGuardedAPIOver(t, auth, change(opened))
}

// newGuardedAPIOver serves a store, which is closed with the test.
func newGuardedAPIOver(t testing.TB, auth server.Auth, store server.Store) *guardedAPI {
	guard, err := httpcall.NewGuard(nil, false)
	if err != nil {
		t.Fatal(err)
	}
	auth.Required = true
	metrics := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	service, err := server.New(node(true), store, server.Options{
		Version: "test", Log: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})), Auth: auth, Guard: guard, Metrics: metrics, TryCall: httpcall.New(httpcall.Options{Guard: guard}).Try,
	})
	if err != nil {
		t.Fatal(err)
	}
	url := served(t, service, store)
	plaintext := &http.Transport{Protocols: new(http.Protocols)}
	plaintext.Protocols.SetUnencryptedHTTP2(true)
	a := &guardedAPI{
		api: &api{TB: t, url: url}, service: service, store: store, client: fairlead.NewClient(store), batches: batch.NewClient(store), schedules: schedule.NewClient(store), sweeps: sweep.NewClient(store),
		http2: &http.Client{Transport: plaintext}, tokens: map[string]string{},
	}
	for _, name := range []string{"acme", "zeta"} {
		if _, err := a.client.PutTenant(t.Context(), fairlead.Tenant{Name: name}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := store.Join(t.Context(), fairlead.Node{Name: "test", Kinds: []string{"wall.paint"}}, time.Hour); err != nil {
		t.Fatal(err)
	}
	return a
}

// token creates a token in a role, bound to a tenant or to none.
func (a *guardedAPI) token(role access.Role, tenant string) string {
	a.Helper()
	name := string(role) + " " + tenant
	if secret, made := a.tokens[name]; made {
		return secret
	}
	token := access.Token{Name: name, Role: role}
	if tenant != "" {
		token.Tenants = []string{tenant}
	}
	a.tokens[name], _ = a.addToken(token)
	return a.tokens[name]
}

func (a *guardedAPI) addToken(token access.Token) (secret string, id int64) {
	a.Helper()
	secret, hash, err := server.NewSecret()
	if err != nil {
		a.Fatal(err)
	}
	token.Hash = hash
	stored, err := a.store.AddToken(a.Context(), token)
	if err != nil {
		a.Fatal(err)
	}
	return secret, stored.ID
}

// fill puts what a request is about into its text.
func (a *guardedAPI) fill(text string) string {
	a.Helper()
	a.made++
	unique := "n" + strconv.Itoa(a.made)
	if asksFor(text, "JOB") {
		job := &fairlead.Job{Kind: "noop", Tenant: "acme", Args: a.args}
		if err := a.client.Enqueue(a.Context(), job); err != nil {
			a.Fatal(err)
		}
		text = fillIn(text, "JOB", strconv.FormatInt(job.ID, 10))
	}
	if asksFor(text, "SCHEDULE") {
		schedule, err := a.schedules.Put(a.Context(), schedule.Schedule{Name: unique, Cron: "@hourly", Job: fairlead.Job{Kind: "noop", Tenant: "acme", Args: a.args}})
		if err != nil {
			a.Fatal(err)
		}
		text = fillIn(text, "SCHEDULE", strconv.FormatInt(schedule.ID, 10))
	}
	if asksFor(text, "CALENDAR") {
		if _, err := a.schedules.PutCalendar(a.Context(), schedule.Calendar{Name: unique}); err != nil {
			a.Fatal(err)
		}
		text = fillIn(text, "CALENDAR", unique)
	}
	if asksFor(text, "ALERT") {
		if _, err := alert.NewClient(a.store).Set(a.Context(), alert.Rule{Name: unique, Scope: "tenant:acme", URL: "http://svc.internal/"}); err != nil {
			a.Fatal(err)
		}
		text = fillIn(text, "ALERT", unique)
	}
	if asksFor(text, "TASK") || asksFor(text, "RUN") {
		task, run := a.taskAndRun(unique)
		text = fillIn(fillIn(text, "TASK", task), "RUN", run)
	}
	if asksFor(text, "BATCH") {
		batch, err := a.batches.Start(a.Context(), batch.Batch{Name: unique, Type: "paint", Tenant: "acme", Info: a.args}, batch.Change{Target: batch.Target{ID: "1", Type: "wall"}, After: a.args})
		if err != nil {
			a.Fatal(err)
		}
		text = fillIn(text, "BATCH", strconv.FormatInt(batch.ID, 10))
	}
	if asksFor(text, "BULK") {
		bulk, err := bulk.NewClient(a.store).Start(a.Context(), bulk.Bulk{Action: bulk.Cancel, Filter: fairlead.Filter{Tenants: []string{"acme"}}})
		if err != nil {
			a.Fatal(err)
		}
		text = fillIn(text, "BULK", strconv.FormatInt(bulk.ID, 10))
	}
	if asksFor(text, "SWEEP") {
		sweep, err := a.sweeps.Put(a.Context(), sweep.Sweep{Name: unique, Kind: "count", To: 9, Tenant: "acme", Data: a.args})
		if err != nil {
			a.Fatal(err)
		}
		text = fillIn(text, "SWEEP", strconv.FormatInt(sweep.ID, 10))
	}
	if asksFor(text, "TOKEN") {
		_, id := a.addToken(access.Token{Name: unique, Role: access.RoleViewer})
		text = fillIn(text, "TOKEN", strconv.FormatInt(id, 10))
	}
	if asksFor(text, "doomed") {
		if _, err := a.client.PutTenant(a.Context(), fairlead.Tenant{Name: unique}); err != nil {
			a.Fatal(err)
		}
		text = fillIn(text, "doomed", unique)
	}
	return fillIn(a.fillGone(text, a.token(access.RoleWorker, "")), "NEW", unique)
}

// word finds a word that stands alone: sessions and secrets are random letters, among which
// the words to fill in may stand as well.
func word(name string) *regexp.Regexp { return regexp.MustCompile(`\b` + name + `\b`) }

func asksFor(text, name string) bool { return word(name).MatchString(text) }

func fillIn(text, name, value string) string { return word(name).ReplaceAllLiteralString(text, value) }

// taskAndRun creates a task of acme and a run of it.
func (a *guardedAPI) taskAndRun(name string) (task, run string) {
	a.Helper()
	args := `{"url":"http://svc.internal/"}`
	if a.args != nil {
		args = fmt.Sprintf(`{"url":"http://svc.internal/","body":%s,"headers":%s}`, a.args, a.args)
	}
	schedule, err := a.schedules.Put(a.Context(), schedule.Schedule{
		Name: "task " + name, Cron: "0 0 1 1 *", Disabled: true, Job: fairlead.Job{Kind: "http", Tenant: "acme", Args: json.RawMessage(args)},
	})
	if err != nil {
		a.Fatal(err)
	}
	fire, err := a.schedules.Trigger(a.Context(), schedule.ID, nil)
	if err != nil {
		a.Fatal(err)
	}
	return strconv.FormatInt(schedule.ID, 10), strconv.FormatInt(fire.Job, 10)
}

// fillGone puts the id and session of a worker of a token into a text that asks for one. The
// worker has left: its calls are not possible any more, and its streams end at once.
func (a *guardedAPI) fillGone(text, secret string) string {
	a.Helper()
	if !asksFor(text, "GONE") {
		return text
	}
	joined, _ := a.send(200, "POST", "/api/v1/workers", `{"kinds":["noop"]}`, a.as(secret)...)
	id, session := joined["id"].(string), joined["session"].(string)
	a.send(200, "DELETE", "/api/v1/workers/"+id, `{"session":"`+session+`"}`, a.as(secret)...)
	return fillIn(text, "GONE", `"id":`+id+`,"session":"`+session+`"`)
}

func jsonOf(t *testing.T, value any) string {
	t.Helper()
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
