package console

import (
	"slices"
	"strings"
	"time"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// jobTimeline is the recorded life of a job, as rows on one time axis.
type jobTimeline struct {
	Rows    []timelineRow
	Stamps  []stamp
	Folds   []stretch // parts of the axis that are not to scale
	Earlier bool      // whether earlier attempts are left out
	Exact   bool      // whether times have milliseconds
}

// timelineRow is a step in the life of a job. Its level is its depth below the job.
type timelineRow struct {
	Level    int
	Name     string
	Href     string // details of the step; empty = none
	Detail   string
	From, To time.Time
	held     time.Duration // total duration of an intermittent cause; zero = To - From
	Bars     []timelineBar
}

// timelineBar is a part of a row on the time axis. A bar of waiting time is thin.
type timelineBar struct {
	X, Width float64
	Tone     string
	Waits    bool
	Title    string
}

// Length returns the duration of a step.
func (r timelineRow) Length() time.Duration {
	if r.held > 0 {
		return r.held
	}
	return r.To.Sub(r.From)
}

// Y returns the position of a bar in its row.
func (b timelineBar) Y() int { return (timelineHeight - b.Height()) / 2 }

// Height returns the height of a bar.
func (b timelineBar) Height() int {
	if b.Waits {
		return waitHeight
	}
	return workHeight
}

// timelineOf returns the timeline of a job, or nil if nothing is recorded.
func (v *visit) timelineOf(p *jobPage, attempts []*fairleadv1.Attempt) *jobTimeline {
	axis := layTimeline(phasesOf(p.Job, attempts, v.Now), timelineWidth)
	if len(axis) == 0 {
		return nil
	}
	t := &jobTimeline{Rows: []timelineRow{v.originRow(p, axis)}, Stamps: v.stamps(axis), Exact: isShort(axis)}
	runs := 0
	for _, s := range axis {
		if s.Folded {
			t.Folds = append(t.Folds, s)
		}
		if s.Run > 0 {
			runs++
			t.Rows = append(t.Rows, v.attemptRows(p, axis, s)...)
		} else {
			t.Rows = append(t.Rows, v.waitRows(p, axis, s)...)
		}
	}
	t.Earlier = runs < len(runsOf(p.Job, attempts, v.Now))
	if end := moment(p.Job.GetFinishedAt()); !end.IsZero() {
		t.Rows = append(t.Rows, v.endRow(p.Job, axis, 1, v.T("End"), end))
	}
	return t
}

// originRow returns the row of the whole job, which names the object that created it.
func (v *visit) originRow(p *jobPage, axis []stretch) timelineRow {
	row := timelineRow{Name: v.T("Job"), From: moment(p.Job.GetCreatedAt()), To: axis[len(axis)-1].To}
	for _, s := range axis {
		if s.What == "ahead" {
			row.To = s.From
		}
	}
	switch {
	case p.Made.Schedule != "":
		row.Name, row.Href = v.T("Run of schedule %s", p.Made.Schedule), v.To("/schedules", p.Job.GetScheduleId())
		if due := moment(p.Job.GetDue()); !due.IsZero() {
			row.Detail = v.T("scheduled for %s", v.clock(due))
		}
	case p.Made.Batch != "":
		row.Name, row.Href = v.T("Task of batch %s", p.Made.Batch), v.To("/batches", p.Job.GetBatchId())
	case p.Made.Sweep != "":
		row.Name, row.Href = v.T("Shard %s of sweep %s", v.Num(p.Shard), p.Made.Sweep), v.To("/sweeps", p.Sweep)
	}
	bar := barOf(axis, row.From, row.To)
	bar.Tone = "whole"
	row.Bars = []timelineBar{bar}
	return row
}

// attemptRows returns the row of an attempt and, below it, the rows of its HTTP call and of
// the wait for the answer.
func (v *visit) attemptRows(p *jobPage, axis []stretch, s stretch) []timelineRow {
	row := timelineRow{Level: 1, Name: v.T("Attempt %s", v.Num(s.Run)), Detail: v.StateName(s.What), From: s.From, To: s.To}
	if s.Reason != "" {
		row.Detail = v.T("%s (%s)", row.Detail, v.StateName(s.Reason))
	}
	if s.Node != 0 {
		row.Detail += " · " + v.T("on %s", nodeName(p.nodes, s.Node))
	}
	if slices.ContainsFunc(p.Attempts, func(a *fairleadv1.Attempt) bool { return a.GetFence() == s.Fence }) {
		row.Href = "#attempt-" + text(s.Fence)
	}
	row.Bars = []timelineBar{{X: s.X, Width: s.Width, Tone: v.Tone(s.What), Title: v.stretchTitle(row.Name, s.From, s.To)}}
	call := p.Call
	if call == nil || int32(call.Attempt) != s.Run || call.At.IsZero() {
		return []timelineRow{row}
	}
	rows := []timelineRow{row, v.callRow(axis, call)}
	if !awaitsAnswer(p.Job, call) || s.What == "running" || s.Reason == "crash" || s.Reason == "lease_lost" {
		return rows
	}
	accepted := rows[1].To
	if accepted.After(s.To) { // the clocks of nodes and of the database differ
		accepted = s.To
	}
	bar := barOf(axis, accepted, s.To)
	bar.Tone, bar.Waits, bar.Title = v.Tone("waiting"), true, v.stretchTitle(v.T("Waiting for the callback"), accepted, s.To)
	work := &rows[0].Bars[0]
	work.Width = max(leastRun, place(axis, accepted)-work.X)
	rows[0].Bars = append(rows[0].Bars, bar)
	rows = append(rows, timelineRow{Level: 2, Name: v.T("Waiting for the callback"), From: accepted, To: s.To, Bars: []timelineBar{bar}})
	if answered := s.What == "succeeded" || s.What == "failed" && s.Reason != "deadline"; answered {
		rows = append(rows, v.endRow(p.Job, axis, 2, v.T("Answer"), s.To))
		rows[len(rows)-1].Detail = v.StateName(s.What)
	}
	return rows
}

// callRow returns the row of the newest HTTP call, the only one that is stored.
func (v *visit) callRow(axis []stretch, call *httpCall) timelineRow {
	row := timelineRow{Level: 2, Name: v.T("HTTP call"), Href: "#job-call", From: call.At, To: call.At.Add(call.Took())}
	tone := "good"
	switch {
	case call.Status != 0:
		row.Detail = v.T("status %s", text(call.Status))
	default:
		row.Detail = v.T("no response")
	}
	if call.Class != "" {
		row.Detail, tone = row.Detail+" · "+v.FailureClass(call.Class), "bad"
	}
	bar := barOf(axis, row.From, row.To)
	bar.Tone, bar.Title = tone, v.stretchTitle(row.Name, row.From, row.To)
	row.Bars = []timelineBar{bar}
	return row
}

// endRow returns the row of an instant at which a job ended or was answered.
func (v *visit) endRow(job *fairleadv1.Job, axis []stretch, level int, name string, at time.Time) timelineRow {
	row := timelineRow{Level: level, Name: name, Detail: v.StateName(job.GetState()), From: at, To: at}
	switch {
	case job.GetError() != "":
		row.Href = "#job-error"
	case len(job.GetOutput()) > 0:
		row.Href = "#job-output"
	}
	bar := barOf(axis, at, at)
	bar.Tone = v.Tone(job.GetState())
	row.Bars = []timelineBar{bar}
	return row
}

// waitRows returns a row for a gap between attempts and, if several causes delayed the job,
// one row for each.
func (v *visit) waitRows(p *jobPage, axis []stretch, s stretch) []timelineRow {
	row := timelineRow{Level: 1, Name: v.waitName(p.Job, s.What), From: s.From, To: s.To}
	tone := v.Tone(s.What)
	if s.What == "ahead" {
		tone = "ahead"
	}
	row.Bars = []timelineBar{{X: s.X, Width: s.Width, Tone: tone, Waits: true, Title: v.stretchTitle(row.Name, s.From, s.To)}}
	if s.What == "ahead" || s.What == "scheduled" || p.Waited == nil {
		return []timelineRow{row}
	}
	causes := v.causeRows(axis, p.Waited.all, s)
	if len(causes) > 0 {
		row.Href = "#job-waited"
	}
	if len(causes) == 1 {
		row.Detail, row.Bars = causes[0].Detail, causes[0].Bars
		return []timelineRow{row}
	}
	// The records are not precise enough for shorter times.
	causes = slices.DeleteFunc(causes, func(r timelineRow) bool { return r.Length() < noticed })
	return append([]timelineRow{row}, causes...)
}

// causeRows returns a row for each cause of a wait, in the order in which they began. If
// causes overlap, only the first one counts, because it alone held the job back.
func (v *visit) causeRows(axis []stretch, periods []waitedLine, s stretch) (rows []timelineRow) {
	places := map[waitCause]int{}
	for _, period := range periods {
		from, to := latest(period.From, s.From), earliest(period.To, s.To)
		if !to.After(from) {
			continue
		}
		cause := waitCause{Code: "in_line"}
		if len(period.Causes) > 0 {
			cause = period.Causes[0]
		}
		at, known := places[cause]
		if !known {
			at, places[cause] = len(rows), len(rows)
			rows = append(rows, timelineRow{Level: 2, Name: v.StateName(cause.Code), Href: "#job-waited", Detail: cause.Text, From: from})
		}
		bar := barOf(axis, from, to)
		bar.Tone, bar.Waits, bar.Title = v.Tone(cause.Code), true, v.stretchTitle(rows[at].Name, from, to)
		rows[at].To, rows[at].held, rows[at].Bars = to, rows[at].held+to.Sub(from), joined(rows[at].Bars, bar)
	}
	return rows
}

// joined adds a bar to the bars of a row. A bar that touches the last one extends it: a rate
// may hold back a job thousands of times.
func joined(bars []timelineBar, bar timelineBar) []timelineBar {
	if last := len(bars) - 1; last >= 0 && bar.X <= bars[last].X+bars[last].Width {
		bars[last].Width, bars[last].Title = max(bars[last].Width, bar.X+bar.Width-bars[last].X), ""
		return bars
	}
	return append(bars, bar)
}

// waitName returns the label of a gap between attempts.
func (v *visit) waitName(job *fairleadv1.Job, what string) string {
	switch what {
	case "idle":
		return v.T("Between attempts")
	case "ahead":
		if job.GetState() == "waiting" {
			return v.T("Time until the answer deadline")
		}
		return v.T("Time until due")
	case "scheduled":
		return v.T("Not due yet")
	case "parked":
		return v.T("Parked")
	}
	return v.T("Waiting to start")
}

// stretchTitle describes a part of a timeline.
func (v *visit) stretchTitle(name string, from, to time.Time) string {
	return strings.Join([]string{name + ", " + v.Dur(to.Sub(from)), v.exactClock(from) + " – " + v.exactClock(to)}, "\n")
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earliest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
