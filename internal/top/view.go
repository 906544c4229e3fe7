package top

import (
	"fmt"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead/internal/screen"
)

// Minimum size for all four panes. Smaller screens show one pane.
const (
	fourWidth  = 72
	fourHeight = 16
)

// lines returns the content of the screen, limited to its size.
func (m Model) lines() []string {
	lines := m.header()
	room := m.height - len(lines) - 1
	switch {
	case room < 3: // a title, a header and at least one row
	case m.width < fourWidth || m.height < fourHeight:
		lines = append(lines, m.pane(m.focus, m.width, room)...)
	default:
		left, upper := m.width/2, room/2
		lines = append(lines, beside(m.pane(queuePane, left-1, upper), m.pane(tenantPane, m.width-left-1, upper), left-1)...)
		lines = append(lines, beside(m.pane(nodePane, left-1, room-upper), m.pane(failurePane, m.width-left-1, room-upper), left-1)...)
	}
	lines = append(lines, m.footer())
	lines = lines[:min(len(lines), max(m.height, 1))]
	for i := range lines {
		lines[i] = screen.Cut(lines[i], m.width)
	}
	return lines
}

func (m Model) header() []string {
	total := m.now.Total
	title := m.colors.In(screen.Head, "fairlead top") + "  " + screen.Clean(m.source) + "  " + m.now.At.Format(time.TimeOnly)
	if m.paused {
		title += "  " + m.colors.In(screen.Warn, "paused")
	}
	counts := fmt.Sprintf("scheduled %s  parked %s  ready %s  running %s  waiting %s  oldest wait %s",
		short(int64(total.GetScheduled())), short(int64(total.GetParked())), short(int64(total.GetReady())),
		short(int64(total.GetRunning())), short(int64(total.GetWaiting())), span(total.GetOldestWait().AsDuration()))
	rate := fmt.Sprintf("starts/s %8.1f  ", total.GetStarted())
	return []string{title, counts, rate + m.colors.In(screen.Busy, screen.Spark(m.starts, m.width-screen.Width(rate)))}
}

func (m Model) footer() string {
	switch {
	case m.typing:
		return "/" + screen.Clean(m.filter) + "▏ enter keeps, esc clears"
	case m.err != nil:
		return m.colors.In(screen.Bad, "no answer: "+screen.Clean(m.err.Error()))
	case m.filter != "":
		return m.colors.In(screen.Faint, "filter: "+screen.Clean(m.filter)+"  esc clears  q quits")
	}
	return m.colors.In(screen.Faint, "q quit  p pause  tab next pane  ↑↓ scroll  / filter")
}

// pane returns one table with the given size.
func (m Model) pane(p pane, width, height int) []string {
	rows := m.rows(p)
	first := min(m.scroll[p], max(len(rows)-1, 0))
	title := fmt.Sprintf("%s (%d)", titles[p], len(rows))
	if p == m.focus {
		title = m.colors.In(screen.Head, "▶ "+title)
	} else {
		title = m.colors.In(screen.Faint, "  "+title)
	}
	lines := []string{screen.Pad(screen.Cut(title, width), width), m.colors.In(screen.Faint, paneLine(p, row{columns: heads[p]}, width))}
	for _, r := range rows[first:] {
		if len(lines) == height {
			break
		}
		lines = append(lines, m.colors.In(r.tone, paneLine(p, r, width)))
	}
	for len(lines) < height {
		lines = append(lines, strings.Repeat(" ", width))
	}
	return lines[:height]
}

// paneLine returns a row with its name cut to the width that the columns leave.
func paneLine(p pane, r row, width int) string {
	columns := ""
	for i, text := range r.columns {
		text = screen.Cut(text, widths[p][i])
		columns += " " + strings.Repeat(" ", widths[p][i]-screen.Width(text)) + text
	}
	room := max(width-2-screen.Width(columns), 0)
	return screen.Pad(screen.Cut("  "+screen.Pad(screen.Cut(screen.Clean(r.name), room), room)+columns, width), width)
}

// beside joins two panes of the same height horizontally.
func beside(left, right []string, width int) []string {
	lines := make([]string, len(left))
	for i := range left {
		lines[i] = screen.Pad(left[i], width) + "  " + right[i]
	}
	return lines
}
