package top

import (
	"time"

	"github.com/fairlead-io/fairlead/internal/screen"
)

// Model is the view's state, including the user's input. Its methods return the changed
// model.
type Model struct {
	source string
	colors *screen.Screen

	width, height int
	now           Snapshot
	starts        []float64 // per second, for each snapshot
	err           error     // error of the last snapshot
	paused        bool
	focus         pane
	scroll        [panes]int
	filter        string
	typing        bool // editing the filter
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

// remembered is the maximum number of points in the graph of starts.
const remembered = 600

// NewModel returns a model that shows begin, the first snapshot of a source.
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

// looked returns the model after another snapshot. If there was an error, the previous
// snapshot remains.
func (m Model) looked(seen looked) Model {
	switch {
	case seen.err != nil:
		m.err = seen.err
	case !m.paused:
		m = m.saw(seen.snapshot)
	}
	return m
}

// pressed returns the model after a key press.
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

// typed returns the model after a key press in the filter.
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
