package server_test

import (
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
)

func TestOnlyAdminsHaveConfidentialArgsOfJobsSentToAnotherHost(t *testing.T) {
	w := newEraseWorld(t)
	operator := w.as(w.token(access.RoleOperator, ""))
	const path, home = "/api/v1/tenants/acme", `{"start_url":"https://acme.example.org/jobs"}`
	w.send(200, "PATCH", path, home, operator...) // nothing is confidential
	if err := w.store.AddConfidential(t.Context(), fairlead.Confidential{"external": {"args.card"}}); err != nil {
		t.Fatal(err)
	}
	refused := func(verb, path, body string) {
		t.Helper()
		problem, _ := w.send(403, verb, path, body, operator...)
		if text, _ := problem["detail"].(string); !strings.Contains(text, "start_url points to a different host") || !strings.Contains(text, "requires the role admin") {
			t.Errorf("%s %s %s is answered with %v", verb, path, body, problem)
		}
	}
	for _, evil := range []string{"https://evil.example.org/jobs", "http://acme.example.org/jobs", "https://acme.example.org:8443/jobs", "https://acme.example.org.evil.example.org/"} {
		body := `{"start_url":"` + evil + `"}`
		refused("PATCH", path, body)
		refused("PUT", path, body)
		refused("PATCH", path, `{"start_url":"`+evil+`","version":1}`)
		refused("POST", "/api/v1/tenants", `{"name":"new","start_url":"`+evil+`"}`)
	}
	w.send(200, "PATCH", path, `{"start_url":"https://ACME.example.org:443/other","max_running":3,"fail_url":"https://evil.example.org/","timeout_url":"https://evil.example.org/"}`, operator...)
	w.send(200, "PATCH", path, `{"start_url":""}`, operator...)
	refused("PATCH", path, home) // its jobs would have gone nowhere
	w.send(200, "PATCH", path, home, w.admin...)
	w.send(200, "PUT", path, home, operator...)
}
