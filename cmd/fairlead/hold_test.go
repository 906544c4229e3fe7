package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/hold"
	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/sqlite"
)

// The one node is killed while a job waits. The next one knows what the job waited for
// before, that no node was there, and claims to know nothing of the time in between.
func TestTheHistoryOfAJobOutlivesTheNodeThatRecordedIt(t *testing.T) {
	const lease = 2 * time.Second
	file := "sqlite://" + filepath.Join(t.TempDir(), "jobs.db")
	args := []string{"--db", file, "--poll", "50ms", "--beat", "200ms", "--lease", lease.String()}
	first := startProcess(t, args...)
	first.send(t, "POST", "/api/v1/queues/default/pause", "")
	store, err := sqlite.Open(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	until := func(what string, holds func() bool) {
		t.Helper()
		for begun := time.Now(); !holds(); <-time.After(20 * time.Millisecond) {
			if time.Since(begun) > patience.Limit {
				t.Fatalf("waited in vain until %s", what)
			}
		}
	}
	until("a node has looked", func() bool { return first.send(t, "GET", "/api/v1/holds", "")["since"] != nil })
	made := first.send(t, "POST", "/api/v1/jobs", `{"jobs":[{"kind":"noop"}]}`)
	var job int64
	if _, err := fmt.Sscan(fmt.Sprint(made["ids"].([]any)[0]), &job); err != nil {
		t.Fatal(err)
	}
	told := func() (codes string, stretches []hold.Stretch) {
		t.Helper()
		history, err := store.History(t.Context(), job)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range history.Stretches {
			if code := s.Causes[0].Code; code != fairlead.InLine { // a moment between two looks
				codes, stretches = codes+string(code)+" ", append(stretches, s)
			}
		}
		return strings.TrimSpace(codes), stretches
	}
	lastly := func(code string) func() bool {
		return func() bool {
			codes, _ := told()
			return strings.HasSuffix(codes, code)
		}
	}
	until("it is paused", lastly("paused"))
	killed := time.Now()
	first.kill()
	until("no node is there", lastly("no_node"))
	second := startProcess(t, args...)
	until("it is paused again", lastly("paused"))
	second.send(t, "POST", "/api/v1/queues/default/resume", "")
	until("it has run", func() bool {
		return second.send(t, "GET", fmt.Sprintf("/api/v1/jobs/%d", job), "")["state"] == "succeeded"
	})
	codes, stretches := told()
	if want := "paused unrecorded no_node unrecorded paused"; codes != want {
		t.Fatalf("it waited for %s, want %s", codes, want)
	}
	nodes, err := store.Nodes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !stretches[2].From.Equal(nodes[0].Until) || !stretches[2].Until.Equal(nodes[1].JoinedAt) || stretches[1].From.After(killed) || stretches[2].From.After(killed.Add(lease)) {
		t.Errorf("nodes %+v; killed at %v; it waited %+v", nodes, killed, stretches)
	}
}
