package server_test

import (
	"fmt"
	"strings"
	"testing"
)

// Large jobs are leased a few at a time, however many slots a worker has. Those that do not
// fit into an answer stay ready, and none of them counts as started.
func TestALeaseIsBoundedInBytes(t *testing.T) {
	a := newAPI(t)
	const jobs = 8
	for range jobs {
		a.enqueue(`{"kind":"mail","args":"` + strings.Repeat("x", 700<<10) + `"}`)
	}
	w := a.join(`{"name":"w","kinds":["mail"],"slots":1000}`)
	seen := map[any]bool{}
	for len(seen) < jobs {
		leased := w.lease("")
		bytes := 0
		for _, job := range leased {
			bytes += len(job["args"].(string))
			if seen[job["id"]] || job["attempt"] != 1.0 {
				t.Errorf("job %v was leased as attempt %v", job["id"], job["attempt"])
			}
			seen[job["id"]] = true
		}
		if len(leased) == 0 || bytes > 1<<20 {
			t.Fatalf("%d jobs with %d bytes were leased", len(leased), bytes)
		}
		ready, _ := a.send(200, "GET", "/api/v1/jobs?state=ready", "")
		if left := len(listOf(ready, "items")); left == 0 && len(seen) < jobs {
			t.Errorf("%d jobs are neither leased nor ready", jobs-len(seen)-left)
		}
	}
	// Small ones come together again.
	for i := range 20 {
		a.enqueue(fmt.Sprintf(`{"kind":"mail","args":%d}`, i))
	}
	most := 0
	for left := 20; left > 0; {
		leased := len(w.lease(""))
		most, left = max(most, leased), left-leased
	}
	if most < 4 {
		t.Errorf("at most %d small jobs were leased at once", most)
	}
}
