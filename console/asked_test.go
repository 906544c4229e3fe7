package console

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
)

func TestPagesRefuseParametersThatTheyDoNotHave(t *testing.T) {
	r := newRig(t, false, nil)
	r.enqueue(&fairlead.Job{Kind: "noop", Tenant: "acme"})
	needed := map[string]string{"cause": "&kind=noop&like=no"}
	for _, s := range screens {
		if path := strings.Replace(s.path, "/tenants/{name}", "/tenants/acme", 1); !strings.Contains(path, "{") {
			r.shows(r.page(400, strings.TrimSuffix(path, "{$}")+"?slip=of-the-pen"+needed[s.name], "lang", "en"), "slip: is not a parameter of this page")
		}
	}
	r.shows(r.page(400, "/jobs?slip=of-the-pen", "lang", "zh"), "slip：不是此页面的参数")
}

func TestThePaletteOfAPageAsksToSignInAgain(t *testing.T) {
	r := newRig(t, true, nil)
	r.token("known", access.RoleViewer)
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/find?q=jobs", nil)
	request.Header.Set("HX-Request", "true")
	answer := httptest.NewRecorder()
	r.api.ServeHTTP(answer, request)
	if answer.Code != 200 || strings.Contains(answer.Body.String(), "<form") || !strings.Contains(answer.Body.String(), `href="/login"`) {
		t.Errorf("it is answered with %d: %s", answer.Code, answer.Body)
	}
}
