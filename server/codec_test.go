package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/fairlead-io/fairlead/access"
)

// What a caller of Connect sends as JSON is stored as it was sent, though buffers are
// used again for the requests of others.
func TestArgsOfCallersAreNotMixedUp(t *testing.T) {
	a := newGuardedAPI(t)
	secret := a.token(access.RoleAdmin, "")
	var all sync.WaitGroup
	var mu sync.Mutex
	sent := map[string]string{} // by the job's id
	for i := range 8 {
		all.Go(func() {
			for j := range 60 {
				args := fmt.Sprintf("%q", strings.Repeat(fmt.Sprintf("%02d-%03d ", i, j), 3000))
				request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, a.url+"/fairlead.v1.JobService/EnqueueJobs", strings.NewReader(`{"jobs":[{"kind":"noop","args":`+args+`}]}`))
				if err != nil {
					t.Error(err)
					return
				}
				request.Header.Set("Content-Type", "application/json")
				request.Header.Set("Authorization", "Bearer "+secret)
				response, err := http.DefaultClient.Do(request)
				if err != nil {
					t.Error(err)
					return
				}
				var answer struct{ IDs []string }
				err = json.NewDecoder(response.Body).Decode(&answer)
				_ = response.Body.Close()
				if err != nil || len(answer.IDs) != 1 {
					t.Errorf("%s: %v", response.Status, err)
					return
				}
				mu.Lock()
				sent[answer.IDs[0]] = args
				mu.Unlock()
			}
		})
	}
	all.Wait()
	for text, args := range sent {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		job, err := a.client.Get(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if string(job.Args) != args {
			t.Errorf("job %s has %.20s…, and was sent with %.20s…", text, job.Args, args)
		}
	}
}
