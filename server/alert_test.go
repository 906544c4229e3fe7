package server_test

import (
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead/access"
)

const alerts = "/api/v1/alerts"

func TestAnAlertThatCanNeverBeSentIsRefusedByItsField(t *testing.T) {
	a := newCallingAPI(t, 0)
	a.send(200, "PUT", alerts+"/good", `{"scope":"kind:mail","url":"http://svc.internal/","body":{"n":"{{args.count}}"},"on":["failed","backlog"],"backlog":"5m"}`)
	a.send(200, "PUT", alerts+"/good", `{"scope":"kind:mail","url":"http://svc.internal/","created_at":"2030-01-01T00:00:00Z"}`) // as it was read
	for body, field := range map[string]string{
		`{"url":"nowhere"}`: "url",
		`{"url":"http://svc.internal/","scope":"kinds"}`:                    "scope",
		`{"url":"http://svc.internal/","on":["recovered"]}`:                 "on",
		`{"url":"http://svc.internal/","on":["backlog"]}`:                   "backlog",
		`{"url":"http://svc.internal/","quiet":"-1s"}`:                      "quiet",
		`{"url":"http://svc.internal/","headers":{"a b":"c"}}`:              "headers",
		`{"url":"http://svc.internal/","body":"{{args.nothing}}"}`:          "body",
		`{"url":"http://svc.internal/","signing_secret":"${env:UNLISTED}"}`: "signing_secret",
	} {
		problem, _ := a.send(400, "PUT", alerts+"/bad", body)
		found := false
		for named := range refusals(problem) {
			found = found || strings.HasPrefix(named, field)
		}
		if !found {
			t.Errorf("%s is refused as %v, want %s", body, problem, field)
		}
	}
	a.send(404, "GET", alerts+"/bad", "")
}

func TestCallersWhoAreBoundHaveTheAlertsOfTheirTenants(t *testing.T) {
	a := newGuardedAPI(t)
	admin, bound := a.as(a.token(access.RoleAdmin, "")), a.as(a.token(access.RoleOperator, "acme"))
	const to = `"url":"http://svc.internal/"}`
	a.send(200, "PUT", alerts+"/all", `{`+to, admin...)
	a.send(200, "PUT", alerts+"/zetas", `{"scope":"tenant:zeta",`+to, admin...)
	a.send(200, "PUT", alerts+"/own", `{"scope":"tenant:acme",`+to, bound...)
	for _, scope := range []string{"global", "kind:mail", "queue:mail", "tenant:zeta"} {
		a.send(403, "PUT", alerts+"/more", `{"scope":"`+scope+`",`+to, bound...)
	}
	listed, _ := a.send(200, "GET", alerts, "", bound...)
	if items := listed["items"].([]any); len(items) != 1 || items[0].(map[string]any)["name"] != "own" {
		t.Errorf("they see %v", listed)
	}
	for _, name := range []string{"all", "zetas"} {
		a.send(404, "GET", alerts+"/"+name, "", bound...)
		a.send(404, "DELETE", alerts+"/"+name, "", bound...)
		problem, _ := a.send(409, "PUT", alerts+"/"+name, `{"scope":"tenant:acme",`+to, bound...)
		if !strings.Contains(problem["detail"].(string), "cannot be used for a") {
			t.Errorf("the name of another is refused as %v", problem)
		}
	}
	a.send(200, "DELETE", alerts+"/own", "", bound...)
	if left, _ := a.send(200, "GET", alerts, "", admin...); len(left["items"].([]any)) != 2 {
		t.Errorf("what is left is %v", left)
	}
}
