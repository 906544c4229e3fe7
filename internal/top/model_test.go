package top

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/screen"
)

var noon = time.Date(2030, 5, 17, 12, 0, 0, 0, time.UTC)

func busy() Snapshot {
	s := Snapshot{
		At: noon, Total: &fairleadv1.Usage{Ready: 1234567, Running: 7, Started: 42.5, OldestWait: durationpb.New(90 * time.Second)},
		Tenants: []*fairleadv1.Usage{{Tenant: "acme", Running: 2, Waiting: 1, MaxRunning: 6}, {Tenant: "full", Running: 4, MaxRunning: 4}, {Tenant: "free", Running: 1}},
		Nodes: []*fairleadv1.Node{
			{Id: 1, Name: "alpha", Slots: 32, IdleSlots: 30, LastBeat: timestamppb.New(noon.Add(-2 * time.Second))},
			{Id: 2, Name: "beta", Dead: true},
			{Id: 3, Name: "gamma", Draining: true},
			{Id: 4, Name: "delta", Dead: true, LeftAt: timestamppb.New(noon)},
		},
		Failures: []*fairleadv1.Job{{Id: 9, Kind: "mail", Error: "no\x1b[2J route", FinishedAt: timestamppb.New(noon.Add(-time.Minute))}},
	}
	for i := range 30 {
		s.Queues = append(s.Queues, &fairleadv1.Queue{Name: fmt.Sprintf("queue-%02d", i), Ready: int64(i), Paused: i == 1, OldestWait: durationpb.New(time.Hour)})
	}
	return s
}

func newModel(color bool) Model {
	return NewModel("http://here", busy(), color)
}

// after returns a model after some keys and snapshots.
func after(m Model, events ...any) Model {
	for _, event := range events {
		switch event := event.(type) {
		case string:
			text := event
			if len(text) > 1 {
				text = ""
			}
			m = m.pressed(key{event, text})
		case looked:
			m = m.looked(event)
		}
	}
	return m
}

func sized(m Model, width, height int) Model {
	m.width, m.height = width, height
	return m
}

func view(m Model) string { return strings.Join(m.lines(), "\n") }

func wants(t *testing.T, m Model, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(view(m), text) {
			t.Errorf("%q is not in\n%s", text, view(m))
		}
	}
}

func TestEverythingFitsOnAnyScreen(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {200, 60}, {72, 16}, {40, 10}, {10, 3}, {1, 1}} {
		lines := sized(newModel(true), size[0], size[1]).lines()
		if len(lines) > size[1] {
			t.Errorf("%v: there are %d lines", size, len(lines))
		}
		for _, line := range lines {
			if screen.Width(line) > size[0] {
				t.Errorf("%v: a line has %d cells: %q", size, screen.Width(line), line)
			}
		}
	}
}

func TestItShowsHowTheClusterIs(t *testing.T) {
	m := newModel(false)
	wants(t, m, "ready 1234k", "starts/s     42.5", "oldest wait 1m30s", "Queues (30)", "queue-01", "paused", "3/6 █████░░░░░", "4/4 ██████████", "1 ··········", "1 alpha", "2s", "dead", "draining", "left", "mail: no")
	if strings.Contains(view(m), "\x1b") {
		t.Error("there are control characters without colours")
	}
	wants(t, newModel(true), "\x1b[33m")
}

func TestKeysMoveTheView(t *testing.T) {
	m := newModel(false)
	wants(t, m, "▶ Queues")
	wants(t, after(m, "tab"), "▶ Tenants")
	wants(t, after(m, "left"), "▶ Failures")
	wants(t, after(m, "right", "right", "right", "right"), "▶ Queues")
	down := after(m, "down", "down", "down", "up")
	if seen := view(down); strings.Contains(seen, "queue-01") || !strings.Contains(seen, "queue-02") {
		t.Errorf("it is scrolled to\n%s", seen)
	}
	for _, key := range []string{"q", "ctrl+c"} {
		if !after(m, key).quit {
			t.Errorf("%s does not quit", key)
		}
	}
	small := after(sized(m, 50, 12), "tab")
	if seen := view(small); strings.Contains(seen, "Queues") || !strings.Contains(seen, "Tenants") {
		t.Errorf("a small screen shows\n%s", seen)
	}
}

func TestTheFilterKeepsNames(t *testing.T) {
	m := after(newModel(false), "/", "2", "9", "x", "backspace")
	wants(t, m, "/29▏", "Queues (1)", "queue-29", "Tenants (0)")
	wants(t, after(m, "enter"), "filter: 29")
	wants(t, after(m, "enter", "/", "q"), "/29q") // letters are text while the filter is edited
	wants(t, after(m, "esc"), "Queues (30)")
	wants(t, after(m, "enter", "esc"), "Queues (30)")
}

func TestAPauseKeepsWhatIsSeen(t *testing.T) {
	next := busy()
	next.Queues = nil
	m := after(newModel(false), looked{snapshot: next})
	wants(t, m, "Queues (0)", "██")
	m = after(newModel(false), "p", looked{snapshot: next})
	wants(t, m, "paused", "Queues (30)")
	m = after(m, "p", looked{snapshot: next})
	wants(t, m, "Queues (0)")
}

func TestASilentServerIsReported(t *testing.T) {
	silent := after(newModel(false), looked{err: errors.New("gone\x1b")})
	wants(t, silent, "no answer: gone", "Queues (30)")
	wants(t, after(silent, looked{snapshot: busy()}), "q quit")
}
