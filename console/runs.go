package console

import (
	"fmt"
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

const (
	runJobs    = 500 // number of jobs read for a chart
	namedFew   = 30  // number of schedules whose names are looked up
	ganttTicks = 8
	mostSpan   = 366 * 24 * time.Hour
	// shortRetention is the shortest of the default retention periods of finished jobs.
	shortRetention = 24 * time.Hour
)

// groupings lists the properties to group bars by; the first is the default.
var groupings = []string{"queue", "tenant", "node", "schedule"}

// runs shows the jobs that ran in a period.
type runs struct {
	Chart   *gantt
	Period  *period
	By      string
	More    bool      // whether some jobs are not drawn
	Bars    *runBars  // numbers of all jobs; nil if all are drawn
	Drawn   time.Time // jobs created earlier are not drawn
	Ticks   []tick
	States  []string // states of the drawn jobs
	ZoomOut string
	Jobs    string           // link to the list of jobs created in the period
	nodes   map[string]int64 // newest nodes by name, if grouped by node
	now     time.Time
}

// Empty reports whether no jobs ran.
func (r *runs) Empty() bool { return len(r.Chart.Groups) == 0 }

// Past reports whether finished jobs of the period may have been deleted already.
func (r *runs) Past() bool { return r.now.Sub(r.Period.From) > shortRetention+time.Minute }

// Groupings returns the properties to group bars by.
func (r *runs) Groupings() []string { return groupings }

// Width returns the width of the chart.
func (r *runs) Width() float64 { return ganttWidth }

// ZoomLeft returns the share of the width before the axis.
func (r *runs) ZoomLeft() float64 { return r.Chart.Left / ganttWidth }

// Millis returns a time in milliseconds since 1970, as used by browsers.
func (r *runs) Millis(at time.Time) int64 { return at.UnixMilli() }

// Now returns the position of the present on the axis, or a negative number if it is not on
// the axis.
func (r *runs) Now() float64 {
	if r.now.After(r.Chart.To) || r.now.Before(r.Chart.From) {
		return -1
	}
	return r.Chart.X(r.now)
}

func loadRuns(v *visit) (any, error) {
	p := v.parameters()
	by, period := p.choice("by", groupings...), p.period("15m")
	tenants, queues, kinds := p.texts("tenant"), p.texts("queue"), p.texts("kind")
	if period.To.Sub(period.From) > mostSpan {
		p.refuse("from", v.T("must be at most 366 days before to"))
	}
	if err := p.err(); err != nil {
		return nil, err
	}
	r := &runs{By: by, Period: period, now: v.Now}
	filter := &fairleadv1.ListJobsRequest{Tenant: tenants, Queue: queues, Kind: kinds}
	jobs, more, err := v.ranBetween(r.Period.From, r.Period.To, filter)
	if err != nil {
		return nil, err
	}
	bars, err := v.barsOf(jobs, r)
	if err != nil {
		return nil, err
	}
	r.More, r.Chart = more, layGantt(bars, r.Period.From, r.Period.To, v.T("others"), more)
	if more {
		if r.Bars, err = v.runBarsOf(r.Chart, filter); err != nil {
			return nil, err
		}
		r.Drawn = oldestOf(jobs, r.Period.To)
	}
	at, step := ticksOf(r.Chart.From, r.Chart.To, ganttTicks, v.Zone)
	for _, t := range at {
		if x := r.Chart.X(t); r.Chart.Idle == 0 || x > r.Chart.Left+foldWidth/2 { // do not overlap the text of the fold
			r.Ticks = append(r.Ticks, tick{X: x, Width: ganttWidth, Text: tickText(t, step)})
		}
	}
	for _, bar := range bars {
		if !slices.Contains(r.States, bar.State) {
			r.States = append(r.States, bar.State)
		}
	}
	slices.Sort(r.States)
	v.ways(r)
	return r, nil
}

// oldestOf returns the earliest creation time of jobs.
func oldestOf(jobs []*fairleadv1.Job, latest time.Time) time.Time {
	for _, job := range jobs {
		if at := moment(job.GetCreatedAt()); at.Before(latest) {
			latest = at
		}
	}
	return latest
}

// Undrawn returns the width of the part of the chart without drawn jobs.
func (r *runs) Undrawn() float64 { return r.Chart.X(r.Drawn) - r.Chart.Left }

// UndrawnTitle returns the title of the hatched part of a chart.
func (v *visit) UndrawnTitle(drawn time.Time) string {
	return v.T("Not drawn: jobs created before %s", v.clock(drawn))
}

// ways sets the links above the chart.
func (v *visit) ways(r *runs) {
	half := r.Period.To.Sub(r.Period.From) / 2
	from, to := r.Period.From.Add(-half), r.Period.To.Add(half)
	if to.After(v.Now) {
		from, to = from.Add(v.Now.Sub(to)), v.Now
	}
	if 4*half <= mostSpan {
		r.ZoomOut = v.Here("from", from.Truncate(time.Millisecond), "to", to.Truncate(time.Millisecond))
	}
	parameters := r.Period.parameters()
	for _, name := range []string{"kind", "queue", "tenant"} {
		for _, value := range v.All(name) {
			parameters = append(parameters, name, value)
		}
	}
	r.Jobs = v.Href("/jobs", parameters...)
}

// ranBetween reads the jobs that ran in a period: those still running, and those that have
// ended since its start.
func (v *visit) ranBetween(from, to time.Time, filter *fairleadv1.ListJobsRequest) (jobs []*fairleadv1.Job, more bool, err error) {
	filter.To, filter.State = timestamppb.New(to), []string{"running", "waiting"}
	live, err := v.readJobs(filter, runJobs/2)
	if err != nil {
		return nil, false, err
	}
	filter.State, filter.FinishedFrom = []string{"succeeded", "failed", "cancelled"}, timestamppb.New(from)
	ended, err := v.readJobs(filter, runJobs-len(live.jobs))
	for _, job := range append(live.jobs, ended.jobs...) {
		if started := moment(job.GetStartedAt()); !started.IsZero() && started.Before(to) {
			jobs = append(jobs, job)
		}
	}
	return jobs, live.next != "" || ended.next != "", err
}

// barsOf converts jobs to the form that the chart draws.
func (v *visit) barsOf(jobs []*fairleadv1.Job, r *runs) ([]ran, error) {
	names, err := v.groupNames(jobs, r)
	if err != nil {
		return nil, err
	}
	var bars []ran
	for _, job := range jobs {
		bar := ran{ID: job.GetId(), Kind: job.GetKind(), State: job.GetState(), Group: names(job), Starts: moment(job.GetStartedAt()), Ends: moment(job.GetFinishedAt())}
		if bar.Ongoing = bar.Ends.IsZero(); bar.Ongoing {
			bar.Ends = v.Now
		}
		bar.Waits = bar.Starts
		if due := v.Due(job); job.GetAttempt() == 1 && due.Before(bar.Starts) { // the due time of a retry is not stored
			bar.Waits = due
		}
		if bar.Ends.Before(r.Period.From) { // ended between two reads
			continue
		}
		bars = append(bars, bar)
	}
	return bars, nil
}

// GroupHref returns the link to the page of a group, or an empty string. Nodes of the same
// name are one group, which links to the newest of them.
func (v *visit) GroupHref(r *runs, name string) string {
	if id := r.nodes[name]; id != 0 {
		return v.To("/nodes", id)
	}
	return ""
}

// groupNames returns the function that returns a job's group.
func (v *visit) groupNames(jobs []*fairleadv1.Job, r *runs) (func(*fairleadv1.Job) string, error) {
	switch r.By {
	case "tenant":
		return (*fairleadv1.Job).GetTenant, nil
	case "node":
		names, err := v.nodeNames()
		r.nodes = map[string]int64{}
		for id := range names {
			name := nodeName(names, id)
			r.nodes[name] = max(r.nodes[name], id)
		}
		return func(job *fairleadv1.Job) string { return nodeName(names, job.GetNode()) }, err
	case "schedule":
		return v.scheduleNames(jobs)
	}
	return (*fairleadv1.Job).GetQueue, nil
}

// scheduleNames looks up the names of some schedules; it uses IDs for the others.
func (v *visit) scheduleNames(jobs []*fairleadv1.Job) (func(*fairleadv1.Job) string, error) {
	names := map[int64]string{0: v.T("no schedule")}
	for _, job := range jobs {
		id := job.GetScheduleId()
		if _, known := names[id]; known {
			continue
		}
		names[id] = "#" + text(id)
		if len(names) > namedFew {
			continue
		}
		var err error
		if names[id], err = v.scheduleName(id); err != nil {
			return nil, err
		}
	}
	return func(job *fairleadv1.Job) string { return names[job.GetScheduleId()] }, nil
}

// BarTitle describes a bar.
func (v *visit) BarTitle(bar ganttBar) string {
	if bar.Jobs > 1 {
		return fmt.Sprintf("%s\n%s – %s", v.N(bar.Jobs, "%s job", "%s jobs"), v.clock(bar.Waits), v.clock(bar.Ends))
	}
	waited, took := v.Dur(bar.Starts.Sub(bar.Waits)), v.Dur(bar.Ends.Sub(bar.Starts))
	return fmt.Sprintf("%s #%d\n%s\n%s\n%s – %s", bar.Kind, bar.ID, v.StateName(bar.State), v.T("waited %s, ran %s", waited, took), v.clock(bar.Starts), v.clock(bar.Ends))
}

// BarHref returns the link to the job of a bar, or to a closer view of its jobs.
func (v *visit) BarHref(bar ganttBar) string {
	if bar.Jobs > 1 {
		return v.Here("from", bar.Waits.Truncate(time.Millisecond), "to", bar.Ends.Add(time.Millisecond).Truncate(time.Millisecond))
	}
	return v.To("/jobs", bar.ID)
}

// Cut truncates a string to a small length.
func (v *visit) Cut(name string, length int) string {
	if runes := []rune(name); len(runes) > length {
		return string(runes[:length-1]) + "…"
	}
	return name
}
