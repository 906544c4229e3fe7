package console

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
)

// foundLink matches a search result: its link and its title.
var foundLink = regexp.MustCompile(`<li><a href="([^"]*)"><span>([^<]*)</span>`)

// finds returns the links of the results of a search in the palette.
func (r *rig) finds(query string, cookies ...string) (links []string) {
	r.Helper()
	request := httptest.NewRequestWithContext(r.Context(), http.MethodGet, "/find?q="+url.QueryEscape(query), nil)
	request.Host = "localhost"
	request.Header.Set("HX-Request", "true")
	for i := 0; i+1 < len(cookies); i += 2 {
		request.AddCookie(&http.Cookie{Name: cookies[i], Value: cookies[i+1]})
	}
	answer := httptest.NewRecorder()
	r.api.ServeHTTP(answer, request)
	if answer.Code != http.StatusOK {
		r.Fatalf("%s: %d: %s", query, answer.Code, answer.Body)
	}
	for _, match := range foundLink.FindAllStringSubmatch(answer.Body.String(), -1) {
		links = append(links, match[1])
	}
	return links
}

func TestMatchesAreRanked(t *testing.T) {
	for name, want := range map[string]rank{
		"Import": rankExact, "imports": rankPrefix, "demo.import": rankSubstring, "in-memory-portal-t": rankSubsequence, "impot": rankNone, "tropmi": rankNone,
	} {
		if got := rankOf(name, "import"); got != want {
			t.Errorf("%s has rank %d, want %d", name, got, want)
		}
	}
}

func TestAPartOfANameIsEnough(t *testing.T) {
	r := newPlanner(t, false)
	id := r.schedule(`{"name":"nightly import","daily":"03:00","job":{"kind":"demo.import"}}`)
	r.asks("POST", "/api/v1/calendars", `{"name":"import days"}`)
	r.asks("POST", "/api/v1/tenants", `{"name":"important"}`)
	r.asks("PUT", "/api/v1/limits/queue:imports", `{"max_running":3}`)
	r.enqueue(&fairlead.Job{Kind: "noop", Queue: "imports"})
	got := r.finds("IMPO")
	want := []string{ // prefixes first, then the shortest titles
		"/jobs?queue=imports", "/tenants/important", "/calendars/import%20days",
		"/jobs?kind=demo.import", "/tenants#limit-queue:imports", "/schedules/" + id,
	}
	if !slices.Equal(got, want) {
		t.Errorf("impo finds %q, want %q", got, want)
	}
	if got := r.finds("nimport"); !slices.Contains(got, "/schedules/"+id) {
		t.Errorf("a subsequence finds %q", got)
	}
	if got := r.finds("upcom"); !slices.Equal(got, []string{"/load"}) {
		t.Errorf("a part of a page's title finds %q", got)
	}
}

func TestAKindThatNoNodeHandlesIsFoundByItsJobs(t *testing.T) {
	r := newRig(t, false, nil)
	r.enqueue(&fairlead.Job{Kind: "billing.import"})
	if got := r.finds("impo"); !slices.Equal(got, []string{"/jobs?kind=billing.import"}) {
		t.Errorf("a part of the name finds %q", got)
	}
}

func TestNodesAreFound(t *testing.T) {
	r := newRig(t, false, nil)
	r.enqueue(&fairlead.Job{Kind: "noop"})
	r.run()
	r.await(1)
	if got := r.finds("her"); !slices.Equal(got, []string{"/nodes/1"}) {
		t.Errorf("a part of the name finds %q", got)
	}
}

func TestAtMostTwentyMatchesAreShown(t *testing.T) {
	r := newRig(t, false, nil)
	for i := range 2 * findShown {
		r.enqueue(&fairlead.Job{Kind: "noop", Tenant: fmt.Sprintf("customer-%d", i)})
	}
	if got := r.finds("customer"); len(got) != findShown {
		t.Errorf("%d matches", len(got))
	}
	if got := r.finds("customer-39"); !slices.Equal(got, []string{"/tenants/customer-39"}) {
		t.Errorf("an exact name finds %q", got)
	}
}

func TestJobsAreFoundByTheirUniqueKey(t *testing.T) {
	r := newRig(t, false, nil)
	job := &fairlead.Job{Kind: "noop", Key: "order-4711"}
	r.enqueue(job)
	if to := r.ask(http.MethodGet, "/find?q=order-4711", nil).Header.Get("Location"); to != "/jobs/"+fmt.Sprint(job.ID) {
		t.Errorf("the key leads to %q", to)
	}
	if got := r.finds("order-471"); len(got) > 0 {
		t.Errorf("a part of the key finds %q", got)
	}
}

func TestTheSearchPageNeedsNoScript(t *testing.T) {
	r := newRig(t, false, nil)
	r.enqueue(&fairlead.Job{Kind: "noop", Tenant: "acme-1"}, &fairlead.Job{Kind: "noop", Tenant: "acme-2"})
	r.shows(r.page(http.StatusOK, "/"), `href="/find"`)
	r.shows(r.page(http.StatusOK, "/find"), `<h1>Search</h1>`, `name="q"`, `href="/failures"`)
	r.shows(r.page(http.StatusOK, "/find?q=acme"), `value="acme"`, `href="/tenants/acme-1"`, `href="/tenants/acme-2"`)
	r.shows(r.page(http.StatusNotFound, "/find?q=xyzzy"), `value="xyzzy"`, "No results.")
	for path, want := range map[string]string{"/find?q=acme-2": "/tenants/acme-2", "/find?q=acme&open=first": "/tenants/acme-1"} {
		if to := r.ask(http.MethodGet, path, nil).Header.Get("Location"); to != want {
			t.Errorf("%s leads to %q, want %q", path, to, want)
		}
	}
}

func TestAViewerBoundToATenantFindsNothingOfOthers(t *testing.T) {
	r := newPlanner(t, true)
	r.schedule(`{"name":"secret one","daily":"03:00","job":{"kind":"secret.kind","tenant":"secret"}}`)
	r.schedule(`{"name":"own secret","daily":"03:00","job":{"kind":"secret.own","tenant":"acme"}}`)
	r.enqueue(&fairlead.Job{Kind: "noop", Tenant: "secret", Queue: "secrets", Key: "secret-key"})
	bound := []string{sessionCookie, r.token("ada", access.RoleViewer, "acme")}
	got := strings.Join(r.finds("secret", bound...), " ")
	if !strings.Contains(got, "/jobs?kind=secret.own") || strings.Contains(got, "secret.kind") || strings.Contains(got, "/tenants/") || strings.Contains(got, "queue=") {
		t.Errorf("secret finds %s", got)
	}
	if got := r.finds("secret-key", bound...); len(got) > 0 {
		t.Errorf("a key of another tenant finds %q", got)
	}
}
