package top

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
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
		},
		Failures: []*fairleadv1.Job{{Id: 9, Kind: "mail", Error: "no\x1b[2J route", FinishedAt: timestamppb.New(noon.Add(-time.Minute))}},
	}
	for i := range 30 {
		s.Queues = append(s.Queues, &fairleadv1.Queue{Name: fmt.Sprintf("queue-%02d", i), Ready: int64(i), Paused: i == 1, OldestWait: durationpb.New(time.Hour)})
	}
	return s
}

func newModel(color bool) Model {
	return NewModel(context.Background(), Source{URL: "http://here"}, busy(), time.Second, color)
}

// after is a model after some messages; texts are keys.
func after(t *testing.T, m Model, messages ...any) Model {
	t.Helper()
	for _, message := range messages {
		if key, ok := message.(string); ok {
			message = pressed(key)
		}
		next, _ := m.Update(message)
		m = next.(Model)
	}
	return m
}

func pressed(key string) tea.KeyPressMsg {
	special := map[string]rune{"tab": tea.KeyTab, "enter": tea.KeyEnter, "esc": tea.KeyEscape, "down": tea.KeyDown, "up": tea.KeyUp, "left": tea.KeyLeft, "right": tea.KeyRight, "backspace": tea.KeyBackspace}
	if code, ok := special[key]; ok {
		return tea.KeyPressMsg{Code: code}
	}
	return tea.KeyPressMsg{Code: []rune(key)[0], Text: key}
}

func wants(t *testing.T, m Model, texts ...string) {
	t.Helper()
	view := m.View().Content
	for _, text := range texts {
		if !strings.Contains(view, text) {
			t.Errorf("%q is not in\n%s", text, view)
		}
	}
}

func TestEverythingFitsOnAnyScreen(t *testing.T) {
	for _, size := range []tea.WindowSizeMsg{{Width: 80, Height: 24}, {Width: 200, Height: 60}, {Width: 72, Height: 16}, {Width: 40, Height: 10}, {Width: 10, Height: 3}, {Width: 1, Height: 1}} {
		m := after(t, newModel(true), size)
		lines := strings.Split(m.View().Content, "\n")
		if len(lines) > size.Height {
			t.Errorf("%v: there are %d lines", size, len(lines))
		}
		for _, line := range lines {
			if screen.Width(line) > size.Width {
				t.Errorf("%v: a line has %d cells: %q", size, screen.Width(line), line)
			}
		}
	}
}

func TestItShowsHowTheClusterIs(t *testing.T) {
	m := newModel(false)
	wants(t, m, "ready 1234k", "starts/s     42.5", "oldest wait 1m30s", "Queues (30)", "queue-01", "paused", "3/6 █████░░░░░", "4/4 ██████████", "1 ··········", "1 alpha", "2s", "dead", "draining", "mail: no")
	if strings.Contains(m.View().Content, "\x1b") {
		t.Error("there are control characters without colours")
	}
	wants(t, newModel(true), "\x1b[33m")
}

func TestKeysMoveTheView(t *testing.T) {
	m := newModel(false)
	wants(t, m, "▶ Queues")
	wants(t, after(t, m, "tab"), "▶ Tenants")
	wants(t, after(t, m, "left"), "▶ Failures")
	wants(t, after(t, m, "right", "right", "right", "right"), "▶ Queues")
	down := after(t, m, "down", "down", "down", "up")
	if view := down.View().Content; strings.Contains(view, "queue-01") || !strings.Contains(view, "queue-02") {
		t.Errorf("it is scrolled to\n%s", view)
	}
	if _, quit := m.Update(pressed("q")); quit == nil || quit() != (tea.QuitMsg{}) {
		t.Error("q does not quit")
	}
	small := after(t, m, tea.WindowSizeMsg{Width: 50, Height: 12}, "tab")
	if view := small.View().Content; strings.Contains(view, "Queues") || !strings.Contains(view, "Tenants") {
		t.Errorf("a small screen shows\n%s", view)
	}
}

func TestTheFilterKeepsNames(t *testing.T) {
	m := after(t, newModel(false), "/", "2", "9", "x", "backspace")
	wants(t, m, "/29▏", "Queues (1)", "queue-29", "Tenants (0)")
	wants(t, after(t, m, "enter"), "filter: 29")
	wants(t, after(t, m, "enter", "/", "q"), "/29q") // letters are letters while it is typed
	wants(t, after(t, m, "esc"), "Queues (30)")
	wants(t, after(t, m, "enter", "esc"), "Queues (30)")
}

func TestAPauseKeepsWhatIsSeen(t *testing.T) {
	next := busy()
	next.Queues = nil
	m := after(t, newModel(false), looked{snapshot: next})
	wants(t, m, "Queues (0)", "██")
	m = after(t, newModel(false), "p", looked{snapshot: next})
	wants(t, m, "paused", "Queues (30)")
	m = after(t, m, "p", looked{snapshot: next})
	wants(t, m, "Queues (0)")
}

func TestASilentServerIsToldOfAndWaitedFor(t *testing.T) {
	m := newModel(false)
	m.look = func(context.Context) (Snapshot, error) { return Snapshot{}, errors.New("gone\x1b") }
	_, look := m.Update(due{})
	next, again := m.Update(look())
	wants(t, next.(Model), "no answer: gone", "Queues (30)")
	if again == nil {
		t.Error("it does not look again")
	}
	wants(t, after(t, next.(Model), looked{snapshot: busy()}), "q quit")
}
