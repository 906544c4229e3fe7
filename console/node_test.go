package console

import (
	"errors"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/driver"
)

func TestANodeHasAPageWithItsJobs(t *testing.T) {
	r := newRig(t, false, nil)
	r.joined(fairlead.Node{Name: "east", Version: "v7", Kinds: []string{"noop"}, Queues: []string{"mail"}, Slots: 3, Idle: 1})
	job := &fairlead.Job{Kind: "noop", Queue: "mail", Tenant: "acme"}
	r.enqueue(job)
	if _, err := r.store.Claim(t.Context(), driver.Claim{Node: 1, Scope: &driver.Scope{Kinds: []string{"noop"}}, Max: 1}); err != nil {
		t.Fatal(err)
	}
	page := r.page(http.StatusOK, "/nodes/1")
	r.shows(page, "<h1>east", ">alive<", "v7", "2 / 3", `href="/jobs/`+text(job.ID)+`"`, `href="/tenants/acme"`, `href="/jobs?queue=mail"`, `href="/jobs?kind=noop"`, "/nodes/1/drain?next=")
	r.hides(page, `id="node-ended"`, `id="node-same-name"`)
	for _, path := range []string{"/", "/nodes", "/jobs/" + text(job.ID), "/runs?by=node"} {
		r.shows(r.page(http.StatusOK, path), `href="/nodes/1"`)
	}
	r.send(http.StatusSeeOther, "/nodes/1/drain", url.Values{})
	r.shows(r.page(http.StatusOK, "/nodes/1"), ">draining<", "/nodes/1/undrain?next=")
	r.shows(r.page(http.StatusNotFound, "/nodes/4711"), "This node no longer exists.")
	r.shows(r.page(http.StatusNotFound, "/nodes/east"), "This node no longer exists.")
}

// leftWithAJob adds a node that left while it was running a job.
func (r *rig) leftWithAJob() {
	r.Helper()
	r.joined(fairlead.Node{Name: "east", Kinds: []string{"noop"}, Slots: 1})
	r.enqueue(&fairlead.Job{Kind: "noop"})
	_, err := r.store.Claim(r.Context(), driver.Claim{Node: 1, Scope: &driver.Scope{Kinds: []string{"noop"}}, Max: 1})
	if err := errors.Join(err, r.store.Leave(r.Context(), 1)); err != nil {
		r.Fatal(err)
	}
}

func TestANodeThatLeftStillHoldsJobsUntilTheyAreReclaimed(t *testing.T) {
	r := newRig(t, false, nil)
	r.leftWithAJob()
	page := r.page(http.StatusOK, "/nodes/1")
	r.shows(page, ">left<", "Left:", "1 job has not been reclaimed yet.", `href="/jobs/1"`)
	r.hides(page, "/drain?next=")
}

func TestTheJobsOfADeadNodeAreReclaimedAndItsSuccessorIsListed(t *testing.T) {
	r := newRig(t, false, nil)
	r.leftWithAJob()
	if _, err := r.store.Reap(t.Context(), driver.Reap{Limit: 10, MaxCrashes: 3}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.store.Join(t.Context(), fairlead.Node{Name: "east", Slots: 1}, time.Microsecond); err != nil {
		t.Fatal(err)
	}
	r.shows(r.page(http.StatusOK, "/nodes/1"), "The node holds no jobs.", `id="node-same-name"`, `href="/nodes/2">east #2</a>`, "by the last 2 nodes with this name")
	r.shows(r.page(http.StatusOK, "/nodes/2"), ">dead<", "Lease expired:", `<span class="held">1</span>`)
	r.shows(r.page(http.StatusOK, "/"), `href="/nodes/2"`) // the list of problems links to the dead node
}

func TestNodesAreFoundByNameAndOnlyByViewersOfAllTenants(t *testing.T) {
	r := newRig(t, true, nil)
	r.joined(fairlead.Node{Name: "east", Slots: 1})
	all, bound := r.token("all", access.RoleViewer), r.token("bound", access.RoleViewer, "acme")
	for _, query := range []string{"east", "1"} {
		if answer := r.ask(http.MethodGet, "/find?q="+query, nil, sessionCookie, all); answer.Header.Get("Location") != "/nodes/1" {
			t.Errorf("%s leads to %d, %q", query, answer.StatusCode, answer.Header.Get("Location"))
		}
	}
	r.hides(r.page(http.StatusOK, "/find?q=east", sessionCookie, bound), "/nodes/1")
	r.page(http.StatusForbidden, "/nodes/1", sessionCookie, bound)
	r.hides(r.page(http.StatusOK, "/nodes/1", sessionCookie, all), "/drain?next=") // a viewer may not
}
