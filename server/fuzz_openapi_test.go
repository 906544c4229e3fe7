package server_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/internal/everystore"
	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/server"
)

// fuzzedOperation is one of the OpenAPI document.
type fuzzedOperation struct {
	verb, path string
	Parameters []struct {
		Name, In string
		Schema   *schema
	}
	RequestBody struct {
		Content map[string]struct{ Schema *schema }
	}
	Responses map[string]struct{ Content map[string]any }
}

// streams reports whether the answer has no end of its own.
func (o *fuzzedOperation) streams() bool {
	return o.Responses["200"].Content["text/event-stream"] != nil
}

// inPath lists what the path names.
func (o *fuzzedOperation) inPath() []string {
	var names []string
	for _, parameter := range o.Parameters {
		if parameter.In == "path" {
			names = append(names, parameter.Name)
		}
	}
	return names
}

// fuzzRequests returns how many requests each store gets.
func fuzzRequests(t *testing.T) int {
	t.Helper()
	requests := tier.Size(t, 400, 2000, "many requests on every database")
	text, set := os.LookupEnv("FAIRLEAD_FUZZ_REQUESTS")
	if !set {
		return requests
	}
	requests, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("FAIRLEAD_FUZZ_REQUESTS is %q; it must be a number", text)
	}
	return requests
}

// Whatever fits the OpenAPI document more or less is answered or refused on every
// store: nothing of it makes the service fail or hang.
func TestRequestsByTheDocumentNeverFailTheService(t *testing.T) {
	requests, seed := fuzzRequests(t), tier.Seed(t, "FAIRLEAD_FUZZ_SEED")
	everystore.Run(t, func(t *testing.T, store server.Store) {
		a := newGuardedAPIOver(t, server.Auth{}, store)
		for range 3 { // so that small ids are there
			a.fill("JOB SCHEDULE CALENDAR ALERT TASK RUN BATCH BULK SWEEP TOKEN")
		}
		a.fuzz(t, requests, seed)
	})
}

func (a *guardedAPI) fuzz(t *testing.T, requests int, seed uint64) {
	var document struct {
		Paths      map[string]map[string]*fuzzedOperation
		Components struct{ Schemas map[string]*schema }
	}
	if err := json.Unmarshal([]byte(a.read("/openapi.json")), &document); err != nil {
		t.Fatal(err)
	}
	var operations []*fuzzedOperation
	for _, path := range sortedKeys(document.Paths) {
		for _, verb := range sortedKeys(document.Paths[path]) {
			operation := document.Paths[path][verb]
			operation.verb, operation.path = strings.ToUpper(verb), path
			operations = append(operations, operation)
		}
	}
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 1)), schemas: document.Components.Schemas, names: []string{"acme", "zeta", "1", "2", "n1", "queue:mail", "global", "kind:noop"}}
	answers, secrets := map[int]int{}, map[access.Role]string{}
	for n := range requests {
		operation := operations[n%len(operations)]
		request := g.request(t, operation)
		if n%100 == 0 {
			secrets = a.fuzzers(n) // the requests before may have removed the others
		}
		request.Header.Set("Authorization", "Bearer "+secrets[g.caller(operation)])
		answer := a.persist(t, operation, request)
		answers[answer.Code]++
		if answer.Code >= http.StatusInternalServerError {
			t.Errorf("request %d of seed %d, %s %s: %d %s", n, seed, request.Method, request.URL, answer.Code, answer.Body)
		}
	}
	t.Logf("requests by the status of their answer: %v", answers)
}

// fuzzers creates new tokens.
func (a *guardedAPI) fuzzers(n int) map[access.Role]string {
	secrets := map[access.Role]string{}
	for role, tenants := range map[access.Role][]string{access.RoleAdmin: nil, access.RoleWorker: nil, access.RoleOperator: {"acme"}} {
		secrets[role], _ = a.addToken(access.Token{Name: fmt.Sprintf("fuzzer %d %s", n, role), Role: role, Tenants: tenants})
	}
	return secrets
}

// caller draws the role that calls an operation, mostly a permitted one.
func (g *generator) caller(operation *fuzzedOperation) access.Role {
	switch {
	case g.IntN(10) == 0:
		return access.RoleOperator
	case strings.Contains(operation.path, "/workers"):
		return access.RoleWorker
	default:
		return access.RoleAdmin
	}
}

// persist sends a request again while the service says that the database is too slow, as it is
// on a busy machine: a token is looked up for five seconds at most.
func (a *guardedAPI) persist(t *testing.T, operation *fuzzedOperation, request *http.Request) (answer *httptest.ResponseRecorder) {
	t.Helper()
	body, err := io.ReadAll(request.Body)
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(patience.Limit); ; <-time.After(time.Second) {
		request.Body = io.NopCloser(bytes.NewReader(body))
		answer = a.answered(t, operation, request)
		if answer.Code != http.StatusServiceUnavailable || time.Now().After(deadline) {
			return answer
		}
	}
}

// answered returns the response to a request. It stops reading a stream after a moment.
func (a *guardedAPI) answered(t *testing.T, operation *fuzzedOperation, request *http.Request) *httptest.ResponseRecorder {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	answer, done := httptest.NewRecorder(), make(chan struct{})
	go func() {
		defer close(done)
		a.service.ServeHTTP(answer, request.WithContext(ctx))
	}()
	if operation.streams() {
		select {
		case <-done:
		case <-time.After(20 * time.Millisecond):
			cancel()
			<-done
			return httptest.NewRecorder() // its caller has gone
		}
	}
	select {
	case <-done:
	case <-time.After(patience.Limit):
		t.Fatalf("%s %s has no answer after %s", request.Method, request.URL, patience.Limit)
	}
	return answer
}

// request draws a request to an operation.
func (g *generator) request(t *testing.T, operation *fuzzedOperation) *http.Request {
	g.spoil = []int{0, 0, 5, 20}[g.IntN(4)]
	path, query := operation.path, url.Values{}
	for _, parameter := range operation.Parameters {
		value := g.plain(g.value(parameter.Name, parameter.Schema, 0))
		switch {
		case parameter.In == "path":
			if value == "" {
				value = "1"
			}
			path = strings.ReplaceAll(path, "{"+parameter.Name+"}", url.PathEscape(value))
		case g.IntN(3) == 0:
			query.Add(parameter.Name, value)
		}
	}
	var body []byte
	kind := "application/json"
	for _, offered := range sortedKeys(operation.RequestBody.Content) {
		if kind = offered; g.IntN(2) == 0 {
			break
		}
	}
	if content, has := operation.RequestBody.Content[kind]; has {
		g.leave = operation.inPath()
		body = []byte(g.value("body", content.Schema, 0))
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	packed := len(body) > 0 && g.IntN(10) == 0
	if packed {
		body = gzipped(body)
	}
	request := httptest.NewRequestWithContext(t.Context(), operation.verb, path, bytes.NewReader(body))
	request.Header.Set("Content-Type", kind)
	if packed {
		request.Header.Set("Content-Encoding", "gzip")
	}
	if g.IntN(10) == 0 {
		request.Header.Set("Idempotency-Key", g.plain(g.value("key", &schema{Type: "string"}, 0)))
	}
	if g.IntN(20) == 0 {
		request.Header.Set("If-Match", []string{`"1"`, `"x"`, `*`, `"99999999999999999999"`}[g.IntN(4)])
	}
	return request
}

// plain returns a JSON value in the form for URLs.
func (g *generator) plain(value string) string {
	var text string
	if json.Unmarshal([]byte(value), &text) == nil {
		return text
	}
	return value
}

func gzipped(data []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write(data) // into memory
	_ = w.Close()
	return out.Bytes()
}
