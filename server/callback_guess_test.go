package server_test

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/server"
)

// asked is a store that counts how often its database is asked for a clock or a job.
type asked struct {
	server.Store
	n *atomic.Int64
}

func (s asked) Now(ctx context.Context) (time.Time, error) {
	s.n.Add(1)
	return s.Store.Now(ctx)
}

func (s asked) Get(ctx context.Context, id int64) (*fairlead.Job, error) {
	s.n.Add(1)
	return s.Store.Get(ctx, id)
}

func TestGuessedCallbackTokensAreThrottledAndWrittenDown(t *testing.T) {
	var questions atomic.Int64
	a := newGuardedAPIOn(t, func(store server.Store) server.Store { return asked{store, &questions} })
	path, run, token := a.waitingJob()
	before, statuses := questions.Load(), map[int]int{}
	for range 30 {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, a.url+path, strings.NewReader(`{"status":"success"}`))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer guess")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		statuses[response.StatusCode]++
	}
	if statuses[401] < 20 || statuses[429] == 0 || statuses[401]+statuses[429] != 30 {
		t.Errorf("guesses were answered with %v", statuses)
	}
	if n := questions.Load() - before; n > 0 {
		t.Errorf("guesses asked the database %d times", n)
	}
	a.wantJob(run.Job, fairlead.Waiting)
	a.send(200, "POST", path, `{"status":"success"}`, token(run)...)

	ended, end := context.WithCancel(t.Context())
	end()
	if err := a.service.Run(ended); err != nil { // what is not written yet is written at the end
		t.Fatal(err)
	}
	log, _ := a.send(200, "GET", "/api/v1/audit?action=Callback", "", a.as(a.token(access.RoleAdmin, ""))...)
	items := log["items"].([]any)
	if len(items) != 1 {
		t.Fatalf("written down is %v", log)
	}
	entry := items[0].(map[string]any)
	if sum := entry["after"].(map[string]any); sum["requests"] != 30.0 || entry["error"] != "unknown token" || entry["address"] == "" {
		t.Errorf("written down is %v", entry)
	}
	if strings.Contains(jsonOf(t, log), "guess") {
		t.Errorf("the token is in %v", log)
	}
}
