package server_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead"
)

// Large jobs come on several pages, each once, however many are asked for at a time.
func TestAPageOfLargeJobsEndsEarly(t *testing.T) {
	a := newGuardedAPI(t)
	secret := "Bearer " + a.token(fairlead.RoleAdmin, "")
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
	seen, pages, token := map[string]bool{}, 0, ""
	for more := true; more; more = token != "" {
		answer, _ := a.send(200, "GET", "/api/v1/jobs?page_size=1000&page_token="+url.QueryEscape(token), "", "Authorization", secret)
		size := 0
		for _, item := range answer["items"].([]any) {
			job := item.(map[string]any)
			id := job["id"].(string)
			if seen[id] {
				t.Errorf("job %s is on two pages", id)
			}
			seen[id] = true
			text, _ := job["args"].(string)
			size += len(text)
		}
		if size > 12<<20 {
			t.Errorf("a page has %d MiB", size>>20)
		}
		pages++
		token, _ = answer["next_page_token"].(string)
	}
	if len(seen) != jobs || pages < 2 {
		t.Errorf("%d jobs came on %d pages", len(seen), pages)
	}
}
