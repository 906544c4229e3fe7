package server_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/schedule"
)

// newFamilyAPI serves the tenant acme, whose parent is at its limit because of the running
// job of another child. Four jobs of the other child precede the job of acme, and so does
// one of acme's own. It returns the waiting job and the waiting schedule of acme.
func newFamilyAPI(t *testing.T) (a *guardedAPI, job, scheduled string) {
	t.Helper()
	a = newGuardedAPI(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	acme, err := a.client.Tenant(t.Context(), "acme")
	must(err)
	acme.Parent = "conglomerate"
	for _, tenant := range []fairlead.Tenant{{Name: "conglomerate", MaxRunning: 1, Rate: 0.001}, {Name: "sister", Parent: "conglomerate"}, acme} {
		_, err := a.client.PutTenant(t.Context(), tenant)
		must(err)
	}
	node, err := a.store.(driver.Store).Join(t.Context(), fairlead.Node{Name: "busy", Kinds: []string{"noop"}, Slots: 9}, time.Hour)
	must(err)
	for range 5 {
		must(a.client.Enqueue(t.Context(), &fairlead.Job{Kind: "noop", Tenant: "sister"}))
	}
	taken, err := a.store.(driver.Store).Claim(t.Context(), driver.Claim{Node: node, Scope: &driver.Scope{Kinds: []string{"noop"}}, Max: 9})
	must(err)
	if len(taken) != 1 {
		t.Fatalf("%d jobs run, want that the cap of the parent lets one start", len(taken))
	}
	first, second := &fairlead.Job{Kind: "noop", Tenant: "acme"}, &fairlead.Job{Kind: "noop", Tenant: "acme"}
	must(a.client.Enqueue(t.Context(), first, second))
	s, err := a.schedules.Put(t.Context(), schedule.Schedule{Name: "acmes", Cron: "@yearly", Job: fairlead.Job{Kind: "noop", Tenant: "acme"}})
	must(err)
	_, err = a.schedules.Trigger(t.Context(), s.ID, nil)
	must(err)
	return a, fmt.Sprint(second.ID), fmt.Sprint(s.ID)
}

// raw sends a request by each protocol and returns what comes back.
func (a *guardedAPI) raw(t *testing.T, method protoreflect.MethodDescriptor, text, secret string) map[string]string {
	t.Helper()
	message, err := proto.Marshal(requestOf(t, method, text))
	if err != nil {
		t.Fatal(err)
	}
	verb, path, body := a.restRequest(method, text)
	name := fmt.Sprintf("/%s/%s", method.Parent().FullName(), method.Name())
	heard := map[string]string{}
	for protocol, c := range map[string]struct {
		verb, path, kind string
		body             []byte
	}{
		"REST":     {verb, path, "application/json", body},
		"Connect":  {http.MethodPost, name, "application/json", []byte(text)},
		"gRPC":     {http.MethodPost, name, "application/grpc", frame(message)},
		"gRPC-Web": {http.MethodPost, name, "application/grpc-web", frame(message)},
	} {
		response, err := a.open(t.Context(), c.verb, c.path, c.kind, c.body, secret)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if status := response.Trailer.Get("Grpc-Status"); err != nil || response.StatusCode != http.StatusOK || status != "" && status != "0" || len(bytes.TrimSpace(answer)) == 0 {
			t.Fatalf("%s by %s: %s, %s, %v: %s", method.Name(), protocol, response.Status, response.Trailer, err, answer)
		}
		heard[protocol] = string(answer)
	}
	return heard
}

func TestCallersWhoAreBoundLearnNothingOfTheParentOfTheirTenant(t *testing.T) {
	a, job, scheduled := newFamilyAPI(t)
	byName := map[protoreflect.Name]protoreflect.MethodDescriptor{}
	for _, method := range methods() {
		byName[method.Name()] = method
	}
	for _, c := range []struct {
		method protoreflect.Name
		text   string
		told   []string // to a caller who may see all
	}{
		{"ExplainJob", `{"id":` + job + `}`, []string{"conglomerate", "1 of 1 jobs", "5 jobs are ahead of it"}},
		{"ExplainSchedule", `{"id":"` + scheduled + `"}`, []string{"conglomerate", "1 of 1 jobs", "6 jobs are ahead of it"}},
		{"GetTenant", `{"name":"acme"}`, []string{"conglomerate"}},
		{"ListTenants", `{}`, []string{"conglomerate"}},
		{"GetStats", `{}`, []string{"conglomerate"}},
	} {
		a.hidesParent(t, byName[c.method], c.text, c.text, c.told)
	}
}

// A forecast says in text which obstacle is new. That of a parent must not be named there.
func TestAForecastDoesNotNameTheParentToCallersWhoAreBound(t *testing.T) {
	a, _, _ := newFamilyAPI(t)
	for name, most := range map[string]int{"conglomerate": 7, "acme": 1} { // the parent has room for the job that runs, four others and two of acme
		tenant, err := a.client.Tenant(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		tenant.MaxRunning, tenant.Rate, tenant.Burst = most, 0, 0
		if _, err := a.client.PutTenant(t.Context(), tenant); err != nil {
			t.Fatal(err)
		}
	}
	const question = `{"changes":[{"tenant":{"name":"acme",%s"max_running":5}}]}`
	for _, method := range methods() {
		if method.Name() == "WhatIf" {
			a.hidesParent(t, method, fmt.Sprintf(question, `"parent":"conglomerate",`), fmt.Sprintf(question, ""), []string{"conglomerate", "7 of 7 jobs"})
		}
	}
}

// hidesParent fails unless details shown to unbound callers are hidden from callers bound
// to acme, in every protocol.
func (a *guardedAPI) hidesParent(t *testing.T, method protoreflect.MethodDescriptor, text, bound string, told []string) {
	t.Helper()
	for protocol, answer := range a.raw(t, method, text, a.token(access.RoleViewer, "")) {
		for _, part := range told {
			if !strings.Contains(answer, part) {
				t.Errorf("%s by %s does not tell who may see all of %q: %s", method.Name(), protocol, part, answer)
			}
		}
	}
	for protocol, answer := range a.raw(t, method, bound, a.token(access.RoleViewer, "acme")) {
		for _, part := range append(told, "sister") {
			if strings.Contains(answer, part) {
				t.Errorf("%s by %s tells who is bound to acme of %q: %s", method.Name(), protocol, part, answer)
			}
		}
	}
}

func TestCallersWhoAreBoundAreToldHowManyOfTheirOwnJobsGoFirst(t *testing.T) {
	a, job, _ := newFamilyAPI(t)
	why, _ := a.send(200, "GET", "/api/v1/jobs/"+job+"/explain", "", a.as(a.token(access.RoleViewer, "acme"))...)
	text := fmt.Sprint(why)
	for _, want := range []string{"ahead:1 ", "at_cap", "over_rate", "the parent of its tenant is holding it back", "1 job of its tenant is ahead of it"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing: %s", want, text)
		}
	}
}

// A name that is refused like any other cannot be tried out.
func TestCallersWhoAreBoundCannotGuessTheParentOfTheirTenant(t *testing.T) {
	a, _, _ := newFamilyAPI(t)
	for _, parent := range []string{"conglomerate", "another"} {
		a.send(403, "POST", "/api/v1/what-if", `{"changes":[{"tenant":{"name":"acme","parent":"`+parent+`","rate":3}}]}`, a.as(a.token(access.RoleViewer, "acme"))...)
	}
}
