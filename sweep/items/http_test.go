package items_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/httpcall"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/sqlite"
	"github.com/fairlead-io/fairlead/sweep"
	"github.com/fairlead-io/fairlead/sweep/items"
)

// site is a node in real time, and a target of HTTP calls.
type site struct {
	*testing.T
	client *sweep.Client
	store  *sqlite.Store
	target *httptest.Server

	mu     sync.Mutex
	calls  []request
	answer func(call request) (status int, body string)
}

// request is a call that the target got.
type request struct {
	path, key string
	body      struct {
		Sweep string `json:"sweep_id"`
		Items []struct {
			Index   int64
			Attempt int
			Data    any
		}
	}
}

func newSite(t *testing.T, options items.Options) *site {
	t.Helper()
	store := sqlitetest.OpenWith(t, sqlite.Options{Poll: -1})
	t.Cleanup(func() { _ = store.Close() })
	s := &site{T: t, store: store, client: sweep.NewClient(store), answer: func(request) (int, string) { return 200, "" }}
	s.target = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.target.Close)
	guard, err := httpcall.NewGuard(nil, true)
	if err != nil {
		t.Fatal(err)
	}
	mux := fairlead.NewMux()
	options.Client, options.Logger = guard.Client(), slog.New(slog.DiscardHandler)
	items.HandleHTTP(mux, store, options, httpcall.New(httpcall.Options{Guard: guard}))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- engine.Run(ctx, store, mux, engine.Options{Poll: 20 * time.Millisecond, Logger: slog.New(slog.DiscardHandler)})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return s
}

func (s *site) serve(w http.ResponseWriter, r *http.Request) {
	call := request{path: r.URL.Path, key: r.Header.Get("Idempotency-Key")}
	_ = json.NewDecoder(r.Body).Decode(&call.body) // other bodies are looked at by their paths
	s.mu.Lock()
	s.calls = append(s.calls, call)
	answer := s.answer
	s.mu.Unlock()
	status, body := answer(call)
	w.WriteHeader(status)
	fmt.Fprint(w, body)
}

// sweep runs a sweep to its end.
func (s *site) sweep(made sweep.Sweep) sweep.Sweep {
	s.Helper()
	made.Name, made.Kind = "s", items.HTTPKind
	made.Backoff = 10 * time.Millisecond
	stored, err := s.client.Put(s.Context(), made)
	if err == nil {
		stored, err = s.client.Start(s.Context(), stored.ID, "me")
	}
	for err == nil && stored.State != sweep.Finished && stored.State != sweep.Stopped {
		timer := time.NewTimer(10 * time.Millisecond)
		select {
		case <-timer.C:
		case <-s.Context().Done():
			s.Fatalf("it is %s: %+v", stored.State, stored.Progress)
		}
		stored, err = s.client.ByID(s.Context(), stored.ID)
	}
	if err != nil {
		s.Fatal(err)
	}
	return stored
}

func TestItemsAreSentOneByOne(t *testing.T) {
	s := newSite(t, items.Options{})
	got := s.sweep(sweep.Sweep{To: 50, Data: json.RawMessage(`{"url":"` + s.target.URL + `/users/{{args.item.index}}"}`)})
	if got.State != sweep.Finished || got.Done != 50 || len(s.calls) != 50 {
		t.Fatalf("it is %s after %d calls: %s %+v", got.State, len(s.calls), got.Reason, got.Progress)
	}
	keys := map[string]bool{}
	for _, call := range s.calls {
		if len(call.body.Items) != 1 || call.path != fmt.Sprintf("/users/%d", call.body.Items[0].Index) || call.body.Sweep != fmt.Sprint(got.ID) {
			t.Errorf("a call was %+v", call)
		}
		keys[call.key] = true
	}
	if len(keys) != 50 {
		t.Errorf("there were %d keys", len(keys))
	}
}

func TestItemsOfOneCallFailOnTheirOwn(t *testing.T) {
	s := newSite(t, items.Options{})
	s.answer = func(call request) (int, string) {
		var failed []string
		for _, item := range call.body.Items {
			switch {
			case item.Index == 7:
				failed = append(failed, `{"index":7,"error":"no such user","abandon":true}`)
			case item.Index%10 == 3 && item.Attempt == 1:
				failed = append(failed, fmt.Sprintf(`{"index":"%d","error":"busy"}`, item.Index))
			}
		}
		return 200, `{"failed":[` + strings.Join(failed, ",") + `]}`
	}
	got := s.sweep(sweep.Sweep{To: 100, PerCall: 20, InFlight: 2, Data: json.RawMessage(`{"url":"` + s.target.URL + `"}`)})
	if got.State != sweep.Finished || got.Done != 99 || got.Abandoned != 1 || got.Errors != 11 {
		t.Fatalf("it is %s (%s) with %+v", got.State, got.Reason, got.Progress)
	}
	if len(s.calls) >= 100 {
		t.Errorf("there were %d calls", len(s.calls))
	}
	failed, err := s.store.FailedItems(t.Context(), sweep.ItemFilter{Sweep: got.ID})
	if err != nil || len(failed) != 1 || failed[0].Index != 7 || failed[0].Error != "no such user" {
		t.Errorf("failed are %+v, %v", failed, err)
	}
}

func TestATargetThatRefusesGivesTheItemUp(t *testing.T) {
	s := newSite(t, items.Options{})
	s.answer = func(call request) (int, string) {
		switch call.path {
		case "/3":
			return 404, ""
		case "/4":
			return 500, ""
		}
		return 204, ""
	}
	got := s.sweep(sweep.Sweep{To: 10, Attempts: 2, Data: json.RawMessage(`{"method":"PUT","url":"` + s.target.URL + `/{{args.item.index}}"}`)})
	if got.State != sweep.Finished || got.Abandoned != 2 || got.Errors != 3 || len(s.calls) != 11 {
		t.Fatalf("it is %s (%s) after %d calls with %+v", got.State, got.Reason, len(s.calls), got.Progress)
	}
}

func TestATargetStopsAndFinishesASweep(t *testing.T) {
	for name, c := range map[string]struct {
		sweep         sweep.Sweep
		answer, state string
		done          int64
		reason        string
	}{
		"stop":                      {sweep.Sweep{Serial: true}, `{"failed":[{"index":5,"error":"no paper","stop":true}]}`, "stopped", 5, "item 5: no paper"},
		"finish":                    {sweep.Sweep{Serial: true}, `{"finish":true}`, "finished", 6, ""},
		"something else is meant":   {sweep.Sweep{Serial: true}, `{"finish":"soon"}`, "finished", 10, ""},
		"finish one that may not":   {sweep.Sweep{InFlight: 1}, `{"finish":true}`, "stopped", 5, "serial"},
		"fail rather than finished": {sweep.Sweep{Serial: true}, `{"finish":true,"failed":[{"index":5,"abandon":true}]}`, "finished", 9, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, items.Options{})
			s.answer = func(call request) (int, string) {
				if call.body.Items[0].Index == 5 {
					return 200, c.answer
				}
				return 204, ""
			}
			c.sweep.To, c.sweep.Data = 10, json.RawMessage(`{"url":"`+s.target.URL+`"}`)
			got := s.sweep(c.sweep)
			if string(got.State) != c.state || got.Done != c.done || !strings.Contains(got.Reason, c.reason) {
				t.Errorf("it is %s (%s) with %+v", got.State, got.Reason, got.Progress)
			}
		})
	}
}

func TestACallThatCannotBeStopsTheSweep(t *testing.T) {
	s := newSite(t, items.Options{})
	got := s.sweep(sweep.Sweep{To: 10, PerCall: 5, Data: json.RawMessage(`{"url":"` + s.target.URL + `/{{args.item.index}}"}`)})
	if got.State != sweep.Stopped || !strings.Contains(got.Reason, "args.url") || len(s.calls) != 0 {
		t.Errorf("it is %s (%s) after %d calls", got.State, got.Reason, len(s.calls))
	}
}

func TestLinesOfAFileAreSent(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "users.txt")
	if err := os.WriteFile(file, []byte("ann\nbob\ncleo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := newSite(t, items.Options{Roots: []string{dir}})
	got := s.sweep(sweep.Sweep{Source: sweep.ItemSource{File: file}, Data: json.RawMessage(`{"url":"` + s.target.URL + `/{{args.item.data}}"}`)})
	if got.State != sweep.Finished || got.Done != 3 || got.Total != 3 {
		t.Fatalf("it is %s (%s) with %+v", got.State, got.Reason, got.Progress)
	}
	for _, call := range s.calls {
		if call.path != "/"+[]string{"ann", "bob", "cleo"}[call.body.Items[0].Index] || call.path[1:] != call.body.Items[0].Data {
			t.Errorf("a call was %+v", call)
		}
	}
	if got := s.outside(); got.State != sweep.Stopped {
		t.Errorf("a file elsewhere was read: it is %s", got.State)
	}
}

// outside sweeps over a file that may not be read.
func (s *site) outside() sweep.Sweep {
	s.Helper()
	all, err := s.client.List(s.Context(), sweep.Filter{})
	if err != nil {
		s.Fatal(err)
	}
	for _, one := range all {
		if err := s.client.Delete(s.Context(), one.ID); err != nil {
			s.Fatal(err)
		}
	}
	return s.sweep(sweep.Sweep{Source: sweep.ItemSource{File: "/etc/hostname"}, Data: json.RawMessage(`{"url":"` + s.target.URL + `"}`)})
}
