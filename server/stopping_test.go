package server_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/server"
)

// A program that is to end lets go of callers that wait, however long they would have
// waited.
func TestCallsThatLastEndWhenTheProgramStops(t *testing.T) {
	store := sqlitetest.Open(t)
	stopping := make(chan struct{})
	workers := server.WorkerOptions{Beat: time.Hour, Lease: 4 * time.Minute, Poll: time.Hour}
	handler, err := server.New(node(true), store, server.Options{Version: "test", Log: slog.New(slog.DiscardHandler), Stopping: stopping, Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	a := &api{TB: t, url: served(t, handler, store), store: store}
	if _, err := store.Join(t.Context(), fairlead.Node{Name: "n", Kinds: []string{"wall.paint"}}, time.Hour); err != nil {
		t.Fatal(err)
	}
	if _, err := batch.NewClient(store).Start(t.Context(), batch.Batch{Name: "b", Type: "paint"}, batch.Change{Target: batch.Target{ID: "1", Type: "wall"}}); err != nil {
		t.Fatal(err)
	}
	job := a.enqueue(`{"kind":"noop"}`)
	a.send(200, "POST", sweeps, `{"name":"s","kind":"count","to":9}`)
	w := a.join(`{"kinds":["k"],"lease":"240s"}`)
	session := `{"session":"` + w.session + `"`
	var all sync.WaitGroup
	begun := make(chan struct{}, 10)
	for _, call := range []struct{ verb, path, body string }{
		{"GET", job + "/watch", ""},
		{"GET", batches + "/1/watch", ""},
		{"GET", sweeps + "/s/watch", ""},
		{"GET", "/api/v1/events", ""},
		{"POST", w.path + "/watch", session + "}"},
		{"POST", w.path + "/jobs", session + "}"},
		{"POST", w.path + "/lease", session + `,"wait":"60s"}`},
		{"POST", w.path + "/beat", session + `,"wait":"60s","lease":"240s"}`},
	} {
		all.Go(func() {
			request, err := http.NewRequestWithContext(t.Context(), call.verb, a.url+call.path, strings.NewReader(call.body))
			if err != nil {
				t.Error(err)
				return
			}
			begun <- struct{}{}
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Error(err)
				return
			}
			defer response.Body.Close()
			text, err := io.ReadAll(response.Body)
			if err != nil || response.StatusCode != http.StatusOK || strings.Contains(string(text), "event: error") {
				t.Errorf("%s ends as %s, %v: %s", call.path, response.Status, err, text)
			}
		})
	}
	for range 8 {
		<-begun
	}
	close(stopping)
	all.Wait()
}

// moving is a store in which others have moved some jobs meanwhile.
type moving struct{ server.Store }

func (s moving) Operate(ctx context.Context, id int64, operation fairlead.Operation) error {
	switch id {
	case 1:
		return fairlead.ErrConflict
	case 2:
		return fairlead.ErrNotFound
	}
	return s.Store.Operate(ctx, id, operation)
}

func TestJobsThatWereMovedMeanwhileAreMissed(t *testing.T) {
	a := newGuardedAPIOn(t, func(store server.Store) server.Store { return moving{store} })
	operator := a.as(a.token("operator", ""))
	a.send(200, "POST", "/api/v1/jobs", `{"jobs":[{"kind":"noop"},{"kind":"noop"},{"kind":"noop"}]}`, operator...)
	done, _ := a.send(200, "POST", "/api/v1/jobs/bulk", `{"action":"cancel","filter":{}}`, operator...)
	wantFields(t, done, map[string]any{"matched": "3", "done": "1", "missed": "2"})
}

func TestWithoutMetricsThereIsNothing(t *testing.T) {
	a := newAPI(t)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, a.url+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusNotFound {
		t.Errorf("it is answered with %s", response.Status)
	}
}
