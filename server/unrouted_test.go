package server_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/server"
)

const upload = "/api/v1/batches/upload?name=n&type=paint"

// What no route of the schema serves, callbacks and uploads, is unavailable as well.
func TestCallbacksAndUploadsToAReadOnlyDatabaseAreUnavailable(t *testing.T) {
	database := openInMemory(t)
	a := newGuardedAPIOver(t, server.Auth{}, database)
	path, run, token := a.waitingJob()
	admin := a.as(a.token(access.RoleAdmin, ""))
	a.send(200, "GET", "/api/v1/whoami", "", admin...)
	if _, err := database.DB().ExecContext(t.Context(), "pragma query_only = true"); err != nil {
		t.Fatal(err)
	}
	for name, request := range map[string]struct {
		path, body string
		headers    []string
	}{
		"an answer":   {path, `{"status":"success"}`, token(run)},
		"more time":   {path, `{"status":"running","extend_seconds":1}`, token(run)},
		"an upload":   {upload, "target_id,target_type\n1,wall\n", append(admin, "Content-Type", "text/csv")},
		"with a key":  {"/api/v1/jobs", `{"jobs":[{"kind":"noop"}]}`, append(admin, "Idempotency-Key", "k")},
		"lines of it": {upload, `{"target":{"id":"1","type":"wall"}}`, append(admin, "Content-Type", "application/x-ndjson")},
	} {
		t.Run(name, func(t *testing.T) {
			answer, header := a.send(503, "POST", request.path, request.body, request.headers...)
			if header.Get("Retry-After") == "" || strings.Contains(fmt.Sprint(answer), "readonly") {
				t.Errorf("it answers %v %v", answer, header)
			}
		})
	}
}

// Strings that cannot be stored are rejected in headers and uploads, and cleaned in
// responses of targets.
func TestTextsThatCannotBeKeptOutsideOfTheSchema(t *testing.T) {
	a := newGuardedAPI(t)
	admin := a.as(a.token(access.RoleAdmin, ""))
	a.send(400, "POST", "/api/v1/jobs", `{"jobs":[{"kind":"noop"}]}`, append(admin, "Idempotency-Key", "a\xffb")...)
	for _, text := range []string{"a\x00b", "a\xffb"} {
		a.send(400, "POST", upload, "target_id,target_type\n"+text+",wall\n", append(admin, "Content-Type", "text/csv")...)
		a.send(400, "POST", upload, `{"target":{"id":"`+text+`","type":"wall"}}`, append(admin, "Content-Type", "application/x-ndjson")...)
	}
	a.send(400, "POST", upload, `{"target":{"id":"a\u0000b","type":"wall"}}`, append(admin, "Content-Type", "application/x-ndjson")...)
	a.send(400, "POST", upload+"&creator=a%00b", "target_id,target_type\n1,wall\n", append(admin, "Content-Type", "text/csv")...)
	path, run, token := a.waitingJob()
	a.send(200, "POST", path, `{"status":"failure","error":"a\u0000b"}`, token(run)...)
	if job, err := a.client.Get(t.Context(), run.Job); err != nil || strings.ContainsRune(job.Error, 0) {
		t.Errorf("%v, %v", job, err)
	}
}
