package server_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead/access"
)

// Names are unique in the whole cluster. A caller bound to a tenant learns that a name is
// not available, but not who uses it.
func TestNamesOfOtherTenantsAreNotTold(t *testing.T) {
	a := newGuardedAPI(t)
	acme, zeta := a.as(a.token(access.RoleOperator, "acme")), a.as(a.token(access.RoleOperator, "zeta"))
	for _, example := range []struct{ path, fields string }{
		{"/api/v1/schedules", `"every":"1h","job":{"kind":"noop","tenant":"%s"}`},
		{"/api/v1/sweeps", `"kind":"count","to":9,"tenant":"%s"`},
		{"/api/v1/tasks", `"cron_expr":"0 0 1 1 *","target_url":"http://svc.internal/","tenant":"%s"`},
	} {
		body := func(name, tenant string) string {
			return fmt.Sprintf(`{"name":%q,`+example.fields+`}`, name, tenant)
		}
		status := 200
		if example.path == "/api/v1/tasks" {
			status = 201
		}
		a.send(status, "POST", example.path, body("merger"+example.path[8:], "acme"), acme...)
		own, _ := a.send(409, "POST", example.path, body("merger"+example.path[8:], "acme"), acme...)
		taken, _ := a.send(409, "POST", example.path, body("merger"+example.path[8:], "zeta"), zeta...)
		reserved, _ := a.send(409, "POST", example.path, body("fairlead-x", "zeta"), zeta...)
		if !strings.Contains(own["detail"].(string), "already exists") {
			t.Errorf("%s: of their own they are told %v", example.path, own)
		}
		detail := strings.ReplaceAll(taken["detail"].(string), "merger"+example.path[8:], "NAME")
		if detail != strings.ReplaceAll(reserved["detail"].(string), "fairlead-x", "NAME") || strings.Contains(detail, "exists") || strings.Contains(detail, "acme") {
			t.Errorf("%s: of another's they are told %v, of a reserved one %v", example.path, taken, reserved)
		}
		for _, name := range []string{"merger" + example.path[8:], "unheard-of"} {
			hidden, _ := a.send(404, "GET", example.path+"/"+strings.ReplaceAll(name, "/", "%2F"), "", zeta...)
			if strings.Contains(jsonOf(t, hidden), "acme") {
				t.Errorf("%s: told is %v", example.path, hidden)
			}
		}
	}
}

// A name may look like an id. The id counts first.
func TestANameMayLookLikeAnID(t *testing.T) {
	a := newAPI(t)
	for list, fields := range map[string]string{"schedules": `"every":"1h","job":{"kind":"noop"}`, "sweeps": `"kind":"count","to":9`} {
		path := "/api/v1/" + list
		for _, name := range []string{"77", "1", "plain"} {
			a.send(200, "POST", path, `{"name":"`+name+`",`+fields+`}`)
		}
		for ref, want := range map[string]string{"77": "77", "1": "77", "2": "1", "3": "plain", "plain": "plain"} { // ids are given in order
			if got, _ := a.send(200, "GET", path+"/"+ref, ""); got["name"] != want {
				t.Errorf("%s/%s is %v, want %s", path, ref, got["name"], want)
			}
		}
		a.send(404, "GET", path+"/78", "")
	}
}

// A version that is not current any more is told as such, whatever the name.
func TestAVersionConflictOfTheirOwnIsToldAsSuch(t *testing.T) {
	a := newGuardedAPI(t)
	acme := a.as(a.token(access.RoleOperator, "acme"))
	a.send(200, "POST", "/api/v1/schedules", `{"name":"n","every":"1h","job":{"kind":"noop","tenant":"acme"}}`, acme...)
	a.send(200, "PATCH", "/api/v1/schedules/n", `{"every":"2h"}`, acme...)
	a.send(200, "POST", "/api/v1/sweeps", `{"name":"n","kind":"count","to":9,"tenant":"acme"}`, acme...)
	a.send(200, "PATCH", "/api/v1/sweeps/n", `{"rate":2}`, acme...)
	for path, change := range map[string]string{"/api/v1/schedules/n": `"every":"3h"`, "/api/v1/sweeps/n": `"rate":3`} {
		for _, name := range []string{"", `"name":"other",`} {
			problem, _ := a.send(409, "PATCH", path, `{`+name+change+`,"version":1}`, acme...)
			if !strings.Contains(problem["detail"].(string), "changed by another caller") {
				t.Errorf("told is %v", problem)
			}
		}
	}
}

// If a change is not possible now for another reason, the error does not blame the name.
func TestAConflictThatIsNotAboutTheNameIsToldAsSuch(t *testing.T) {
	a := newGuardedAPI(t)
	acme := a.as(a.token(access.RoleOperator, "acme"))
	a.send(200, "POST", "/api/v1/sweeps", `{"name":"n","kind":"count","to":9,"tenant":"acme"}`, acme...)
	a.send(200, "POST", "/api/v1/sweeps", `{"name":"theirs","kind":"count","to":9,"tenant":"zeta"}`, a.as(a.token(access.RoleOperator, "zeta"))...)
	a.send(200, "POST", "/api/v1/sweeps/n/start", `{}`, acme...)
	for _, name := range []string{"n", "other"} {
		problem, _ := a.send(409, "PATCH", "/api/v1/sweeps/n", fmt.Sprintf(`{"name":%q,"to":10}`, name), acme...)
		if !strings.Contains(problem["detail"].(string), "has been started") {
			t.Errorf("told is %v", problem)
		}
	}
	problem, _ := a.send(409, "PATCH", "/api/v1/sweeps/n", `{"name":"theirs"}`, acme...)
	if !strings.Contains(problem["detail"].(string), "cannot be used") {
		t.Errorf("of the name of another's they are told %v", problem)
	}
}

func TestNamesThatNoAddressLeadsToAreRefused(t *testing.T) {
	a := newAPI(t)
	for _, name := range []string{".", ".."} {
		for path, fields := range map[string]string{
			"/api/v1/tenants":   `"max_running":1`,
			"/api/v1/calendars": `"dates":["2030-01-01"]`,
			"/api/v1/schedules": `"every":"1h","job":{"kind":"noop"}`,
			"/api/v1/tasks":     `"cron_expr":"@daily","target_url":"http://svc.internal/"`,
			"/api/v1/sweeps":    `"kind":"count","to":9`,
		} {
			problem, _ := a.send(400, "POST", path, fmt.Sprintf(`{"name":%q,%s}`, name, fields))
			if text := refusals(problem)["name"]; !strings.Contains(text, "cannot be part of a URL") {
				t.Errorf("%s called %q is answered with %v", path, name, problem)
			}
		}
	}
}
