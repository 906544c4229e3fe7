package top

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/fairlead-io/fairlead/internal/screen"
)

// Model is the view and what the user has done to it. It is a tea.Model.
type Model struct {
	look   func(context.Context) (Snapshot, error)
	ctx    context.Context // a model's commands have no other way to learn that the program ends
	every  time.Duration
	source string
	colors *screen.Screen

	width, height int
	now           Snapshot
	starts        []float64 // per second, as of each snapshot
	err           error     // of the last look
	paused        bool
	focus         pane
	scroll        [panes]int
	filter        string
	typing        bool // the filter
}

// pane is one of the tables.
type pane int

const (
	queuePane pane = iota
	tenantPane
	nodePane
	failurePane
	panes
)

// remembered is how many figures the curve of starts is made of, at most.
const remembered = 600

// looked is what a look saw.
type looked struct {
	snapshot Snapshot
	err      error
}

// due says that it is time to look again.
type due struct{}

// NewModel shows a source, beginning with a snapshot of it, and looks again every
// so often until ctx ends.
func NewModel(ctx context.Context, source Source, begin Snapshot, every time.Duration, color bool) Model {
	m := Model{
		look: source.Look, ctx: ctx, every: every, source: source.URL, colors: &screen.Screen{Terminal: true, Color: color, Now: time.Now},
		width: 80, height: 24,
	}
	return m.saw(begin)
}

func (m Model) saw(s Snapshot) Model {
	m.now, m.err = s, nil
	m.starts = append(m.starts, s.Total.GetStarted())
	m.starts = m.starts[max(len(m.starts)-remembered, 0):]
	return m
}

// Init is part of tea.Model.
func (m Model) Init() tea.Cmd { return m.later() }

func (m Model) later() tea.Cmd {
	return tea.Tick(m.every, func(time.Time) tea.Msg { return due{} })
}

func (m Model) lookAgain() tea.Msg {
	snapshot, err := m.look(m.ctx)
	return looked{snapshot, err}
}

// Update is part of tea.Model.
func (m Model) Update(message tea.Msg) (tea.Model, tea.Cmd) {
	switch message := message.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = message.Width, message.Height
	case due:
		if m.paused {
			return m, m.later()
		}
		return m, m.lookAgain
	case looked:
		if message.err != nil {
			m.err = message.err // what was seen before stays
		} else if !m.paused {
			m = m.saw(message.snapshot)
		}
		return m, m.later()
	case tea.KeyPressMsg:
		if m.typing {
			return m.typed(message), nil
		}
		return m.pressed(message.String())
	}
	return m, nil
}

// pressed does what a key means.
func (m Model) pressed(key string) (tea.Model, tea.Cmd) {
	switch key {
	case "q", "ctrl+c":
		return m, tea.Quit
	case "p", "space":
		m.paused = !m.paused
	case "tab", "right", "l":
		m.focus = (m.focus + 1) % panes
	case "shift+tab", "left", "h":
		m.focus = (m.focus + panes - 1) % panes
	case "down", "j":
		m.scroll[m.focus] = min(m.scroll[m.focus]+1, max(len(m.rows(m.focus))-1, 0))
	case "up", "k":
		m.scroll[m.focus] = max(m.scroll[m.focus]-1, 0)
	case "home", "g":
		m.scroll[m.focus] = 0
	case "/":
		m.typing = true
	case "esc":
		m = m.filtered("")
	}
	return m, nil
}

// typed changes the filter by a key.
func (m Model) typed(key tea.KeyPressMsg) Model {
	switch key.String() {
	case "enter":
		m.typing = false
	case "esc", "ctrl+c":
		m.typing = false
		return m.filtered("")
	case "backspace":
		if letters := []rune(m.filter); len(letters) > 0 {
			return m.filtered(string(letters[:len(letters)-1]))
		}
	default:
		return m.filtered(m.filter + key.Text)
	}
	return m
}

func (m Model) filtered(filter string) Model {
	m.filter, m.scroll = filter, [panes]int{}
	return m
}
