package top

import (
	"time"

	"github.com/fairlead-io/fairlead/internal/screen"
)

// Model is the view and what a person has done to it. It changes only by its methods, which
// return the changed one.
type Model struct {
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
	quit          bool
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

// NewModel shows a source, beginning with a snapshot of it.
func NewModel(source string, begin Snapshot, color bool) Model {
	m := Model{source: source, colors: &screen.Screen{Terminal: true, Color: color, Now: time.Now}, width: 80, height: 24}
	return m.saw(begin)
}

func (m Model) saw(s Snapshot) Model {
	m.now, m.err = s, nil
	m.starts = append(m.starts, s.Total.GetStarted())
	m.starts = m.starts[max(len(m.starts)-remembered, 0):]
	return m
}

// looked is the model after another look. What was seen before stays if there is no answer.
func (m Model) looked(seen looked) Model {
	switch {
	case seen.err != nil:
		m.err = seen.err
	case !m.paused:
		m = m.saw(seen.snapshot)
	}
	return m
}

// pressed does what a key means.
func (m Model) pressed(key key) Model {
	if m.typing {
		return m.typed(key)
	}
	switch key.name {
	case "q", "ctrl+c":
		m.quit = true
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
	return m
}

// typed changes the filter by a key.
func (m Model) typed(key key) Model {
	switch key.name {
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
		return m.filtered(m.filter + key.text)
	}
	return m
}

func (m Model) filtered(filter string) Model {
	m.filter, m.scroll = filter, [panes]int{}
	return m
}
