package top

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/screen"
)

// row is a line of a pane: a name and columns.
type row struct {
	name    string
	columns []string
	tone    screen.Tone
}

// Titles and headers of the panes, and the widths of the columns after the name.
var (
	titles = [panes]string{"Queues", "Tenants", "Nodes", "Failures"}
	heads  = [panes][]string{{"ready", "run", "oldest"}, {"used", ""}, {"idle", "slots", "beat"}, {"job", "ended"}}
	widths = [panes][]int{{7, 6, 7}, {9, barWidth}, {5, 5, 8}, {8, 6}}
)

const barWidth = 10

// rows returns the rows of a pane that match the filter.
func (m Model) rows(p pane) (rows []row) {
	add := func(r row) {
		if m.filter == "" || strings.Contains(strings.ToLower(r.name), strings.ToLower(m.filter)) {
			rows = append(rows, r)
		}
	}
	switch p {
	case queuePane:
		for _, q := range m.now.Queues {
			add(queueRow(q))
		}
	case tenantPane:
		for _, u := range m.now.Tenants {
			add(tenantRow(u))
		}
	case nodePane:
		for _, n := range m.now.Nodes {
			add(nodeRow(n, m.now.At))
		}
	case failurePane:
		for _, job := range m.now.Failures {
			add(failureRow(job, m.now.At))
		}
	}
	return rows
}

func queueRow(q *fairleadv1.Queue) row {
	r := row{name: q.GetName(), columns: []string{short(q.GetReady()), short(q.GetRunning() + q.GetWaiting()), span(q.GetOldestWait().AsDuration())}}
	if q.GetPaused() {
		r.tone, r.columns[2] = screen.Warn, "paused"
	}
	return r
}

func tenantRow(u *fairleadv1.Usage) row {
	used := u.GetRunning() + u.GetWaiting()
	text := strconv.Itoa(int(used))
	if u.GetMaxRunning() > 0 {
		text += "/" + strconv.Itoa(int(u.GetMaxRunning()))
	}
	r := row{name: u.GetTenant(), columns: []string{text, screen.Bar(int(used), int(u.GetMaxRunning()), barWidth)}}
	if u.GetMaxRunning() > 0 && used >= u.GetMaxRunning() {
		r.tone = screen.Warn
	}
	return r
}

func nodeRow(n *fairleadv1.Node, now time.Time) row {
	r := row{name: fmt.Sprintf("%d %s", n.GetId(), n.GetName()), columns: []string{short(int64(n.GetIdleSlots())), short(int64(n.GetSlots())), span(now.Sub(n.GetLastBeat().AsTime()))}}
	switch {
	case n.GetLeftAt() != nil:
		r.columns[2] = "left"
	case n.GetDead():
		r.tone, r.columns[2] = screen.Bad, "dead"
	case n.GetDraining():
		r.tone, r.columns[2] = screen.Warn, "draining"
	}
	return r
}

func failureRow(job *fairleadv1.Job, now time.Time) row {
	name := job.GetKind()
	if job.GetError() != "" {
		name += ": " + job.GetError()
	}
	return row{name: name, tone: screen.Bad, columns: []string{strconv.FormatInt(job.GetId(), 10), span(now.Sub(job.GetFinishedAt().AsTime()))}}
}

// short formats a number in at most six characters.
func short(n int64) string {
	switch {
	case n < 100_000:
		return strconv.FormatInt(n, 10)
	case n < 10_000_000:
		return strconv.FormatInt(n/1000, 10) + "k"
	}
	return strconv.FormatInt(n/1_000_000, 10) + "M"
}

// span formats a duration, or returns "-" if it is shorter than a second.
func span(d time.Duration) string {
	if d < time.Second {
		return "-"
	}
	return screen.Span(d.Truncate(time.Second))
}
