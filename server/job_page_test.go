package server_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/schedule"
)

// Large jobs come on several pages, each once, however many are asked for at a time.
func TestAPageOfLargeJobsEndsEarly(t *testing.T) {
	a := newGuardedAPI(t)
	args := []byte(`"` + strings.Repeat("x", 1<<20-2) + `"`)
	const jobs = 30
	for i := range jobs {
		job := &fairlead.Job{Kind: "noop"}
		if i%2 == 0 {
			job.Args = args
		}
		if err := a.client.Enqueue(t.Context(), job); err != nil {
			t.Fatal(err)
		}
	}
	a.wantPages("", jobs)
}

// The same applies to the runs of a schedule. Their statistics include all runs.
func TestAPageOfLargeRunsEndsEarly(t *testing.T) {
	a := newGuardedAPI(t)
	args := []byte(`"` + strings.Repeat("x", 1<<20-2) + `"`)
	schedule, err := a.schedules.Put(t.Context(), schedule.Schedule{Name: "large", Cron: "0 0 1 1 *", Job: fairlead.Job{Kind: "noop", Args: args}})
	if err != nil {
		t.Fatal(err)
	}
	const runs = 20
	for range runs {
		if _, err := a.schedules.Trigger(t.Context(), schedule.ID, nil); err != nil {
			t.Fatal(err)
		}
	}
	a.wantPages(fmt.Sprintf("&schedule=%d", schedule.ID), runs)
	a.send(200, "GET", fmt.Sprintf("/api/v1/schedules/%d/stats", schedule.ID), "", "Authorization", "Bearer "+a.token(access.RoleAdmin, ""))
}

// wantPages lists jobs page by page, and expects each once and no page too large.
func (a *guardedAPI) wantPages(filter string, jobs int) {
	a.Helper()
	seen, pages, token := map[string]bool{}, 0, ""
	for more := true; more; more = token != "" {
		answer, _ := a.send(200, "GET", "/api/v1/jobs?page_size=1000"+filter+"&page_token="+url.QueryEscape(token), "", "Authorization", "Bearer "+a.token(access.RoleAdmin, ""))
		size := 0
		for _, item := range answer["items"].([]any) {
			job := item.(map[string]any)
			id := job["id"].(string)
			if seen[id] {
				a.Errorf("job %s is on two pages", id)
			}
			seen[id] = true
			text, _ := job["args"].(string)
			size += len(text)
		}
		if size > 12<<20 {
			a.Errorf("a page has %d MiB", size>>20)
		}
		pages++
		token, _ = answer["next_page_token"].(string)
	}
	if len(seen) != jobs || pages < 2 {
		a.Errorf("%d jobs came on %d pages", len(seen), pages)
	}
}
