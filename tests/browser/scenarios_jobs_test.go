package browser

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/sqlite"
)

// learnsWhyAJobIsStuck starts from the number of ready jobs.
func learnsWhyAJobIsStuck(t *testing.T) *person {
	n := newNight(t)
	n.ask(http.MethodPost, "/tenants", `{"name":"acme","max_running":1}`)
	n.enqueue(n.call("/hang", `,"tenant":"acme"`))
	n.awaits("the cap is used up", func() bool { return n.count("state=running&tenant=acme") == 1 })
	stuck := n.enqueue(n.call("/orders", `,"tenant":"acme"`), n.call("/orders", `,"tenant":"acme"`))[1]
	n.enqueue(`{"kind":"legacy"}`)
	n.wakes()
	n.goes(`.figure:has(a[href$="state=ready"])`, "3")
	n.goes("#jobs-table", stuck)
	n.sees("#job-why", "acme")
	n.sees("#job-why", "1 of 1")
	n.sees("#job-why .acts", "Raise the cap")
	why := read[struct {
		Obstacles []struct{ Code, Scope, Name string }
	}](n, "/jobs/"+stuck+"/explain")
	if len(why.Obstacles) == 0 || why.Obstacles[0].Code != "at_cap" || why.Obstacles[0].Name != "acme" {
		t.Errorf("the API explains %+v", why)
	}
	return n.person
}

// runsTheMostFrequentCauseAgain finds three causes of failures and, after the target was
// fixed, runs the jobs of one of them again.
func runsTheMostFrequentCauseAgain(t *testing.T) *person {
	n := newNight(t)
	for status, jobs := range map[int]int{http.StatusServiceUnavailable: 60, http.StatusNotFound: 25, http.StatusBadRequest: 3} {
		n.enqueue(strings.Split(strings.Repeat(n.call(fmt.Sprintf("/fails-with-%d", status), "")+"\n", jobs), "\n")[:jobs]...)
	}
	n.awaits("all fail", func() bool { return n.count("state=failed") == 88 })
	n.target.fix()
	n.wakes()
	n.goes(".nav", "Failures")
	n.sees("section.failure:first-of-type .cause", "60")
	n.goes("section.failure:first-of-type .like", "")
	n.opens("", "Run all again")
	n.sees("#dialog #bulk-matched", "60")
	n.submits("Run all again")
	n.awaits("the jobs of the cause succeed", func() bool { return n.count("state=succeeded&kind=http") == 60 })
	if n.target.called("/fails-with-503") != 120 || n.count("state=failed") != 28 {
		t.Errorf("%d calls, %d jobs still failed", n.target.called("/fails-with-503"), n.count("state=failed"))
	}
	n.sees("#bulk-ended", "succeeded")
	return n.person
}

// findsAKindByAPartOfItsName uses the search box.
func findsAKindByAPartOfItsName(t *testing.T) *person {
	n := newNight(t)
	n.enqueue(`{"kind":"billing.import"}`, `{"kind":"billing.import"}`, `{"kind":"billing.export"}`)
	n.wakes()
	n.click("#find", "")
	n.types("Search", "impo")
	n.await(`document.querySelector("#palette-found a")?.innerText.includes("billing.import")`)
	n.leaves(n.enter)
	n.await(`location.pathname + location.search === "/jobs?kind=billing.import"`)
	if rows := value[int](n.tab, `document.querySelectorAll("#jobs-table [data-row]").length`); rows != n.count("kind=billing.import") {
		t.Errorf("%d rows", rows)
	}
	return n.person
}

// cancelsStuckJobs starts from what needs attention.
func cancelsStuckJobs(t *testing.T) *person {
	const stuck = 60_000
	needBrowser(t)
	file := filepath.Join(t.TempDir(), "night.db")
	store, err := sqlite.Open(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	client := fairlead.NewClient(store)
	for range stuck / 1000 {
		jobs := make([]*fairlead.Job, 1000)
		for i := range jobs {
			jobs[i] = &fairlead.Job{Kind: "legacy.export", Queue: "legacy", Tenant: fmt.Sprint("tenant-", i%20)}
		}
		if err := client.Enqueue(t.Context(), jobs...); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	n := startNight(t, file)
	n.enqueue(`{"kind":"other"}`)
	n.awaits("a wait is recorded", func() bool { return strings.Contains(string(n.ask(http.MethodGet, "/holds", "")), "legacy.export") })
	n.wakes()
	n.sees("#attention", "No live node runs kind legacy.export in queue legacy. Waiting jobs: 60,000")
	n.goes("#attention", "60,000")
	n.sees("#jobs-waiting", "60,000")
	n.opens("#jobs-waiting", "Cancel all")
	n.sees("#dialog #bulk-matched", "60,000")
	n.submits("Cancel all")
	n.awaits("the jobs are cancelled", func() bool {
		return read[struct{ State string }](n, "/bulks/"+n.lastOf("/bulks/")).State == "completed"
	})
	if n.count("state=ready&kind=legacy.export") != 0 || n.count("state=ready&kind=other") != 1 {
		t.Errorf("%d of the stuck jobs and %d others are ready", n.count("state=ready&kind=legacy.export"), n.count("state=ready&kind=other"))
	}
	n.await(`document.getElementById("bulk-progress").innerText.includes("60,000")`)
	return n.person
}

// lastOf returns the last part of the path of the page.
func (n *night) lastOf(prefix string) string {
	n.Helper()
	n.await(`location.pathname.startsWith(` + quoted(prefix) + `)`)
	return value[string](n.tab, `location.pathname.split("/").at(-1)`)
}
