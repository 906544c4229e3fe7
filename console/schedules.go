package console

import (
	"time"

	"golang.org/x/sync/errgroup"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

const (
	schedulesShown = 25 // schedules per page; each includes its last runs
	runsAtOnce     = 5  // concurrent calls for the runs of a page
)

// schedulesPage is a page of schedules.
type schedulesPage struct {
	Rows        []*scheduleRow
	Next, First string
	Filtered    bool
	Bounded     bool // whether the list ends at the requested limit although there are more
}

// scheduleRow is a schedule with the outcomes of its last runs.
type scheduleRow struct {
	*fairleadv1.Schedule
	Timing, Words string
	NoNext        string          // reason why there is no coming fire; empty if there is one
	Last          *fairleadv1.Run // nil = no runs
	LastWhen      any             // end of the last run, or otherwise its due time
	Outcomes      sparkBars
}

func loadSchedules(v *visit) (any, error) {
	p := v.parameters()
	tenants, enabled, bound := p.texts("tenant"), p.choice("enabled", "", "true", "false"), p.number("at_most")
	token := p.page()
	if err := p.err(); err != nil {
		return nil, err
	}
	size := int64(schedulesShown)
	if bound > 0 {
		size = min(size, bound)
	}
	request := &fairleadv1.ListSchedulesRequest{Tenant: tenants, PageSize: int32(size), PageToken: token}
	if enabled != "" {
		request.Enabled = new(enabled == "true")
	}
	list, err := v.schedules.ListSchedules(v.ctx, request)
	if err != nil {
		return nil, err
	}
	page := &schedulesPage{Filtered: len(tenants) > 0 || enabled != "" || token != ""}
	if page.Rows, err = v.scheduleRows(list.GetItems()); err != nil {
		return nil, err
	}
	next := list.GetNextPageToken()
	switch {
	case next == "":
	case bound == 0:
		page.Next = v.Here("page", next)
	case bound > size:
		page.Next = v.Here("page", next, "at_most", bound-size)
	default:
		page.Bounded = true
	}
	if token != "" {
		page.First = v.Here("at_most", "")
	}
	return page, nil
}

// scheduleRows reads the last runs of schedules, several at a time.
func (v *visit) scheduleRows(schedules []*fairleadv1.Schedule) ([]*scheduleRow, error) {
	rows := make([]*scheduleRow, len(schedules))
	group, ctx := errgroup.WithContext(v.ctx)
	group.SetLimit(runsAtOnce)
	for i, s := range schedules {
		group.Go(func() error {
			runs, err := v.schedules.ListRuns(ctx, &fairleadv1.ListRunsRequest{Id: s.GetId(), PageSize: sparkLength})
			if isNotFound(err) {
				runs, err = &fairleadv1.ListRunsResponse{}, nil // the schedule was deleted in the meantime
			}
			rows[i] = v.scheduleRow(s, runs.GetItems())
			return err
		})
	}
	return rows, group.Wait()
}

func (v *visit) scheduleRow(s *fairleadv1.Schedule, runs []*fairleadv1.Run) *scheduleRow {
	row := &scheduleRow{Schedule: s, Timing: timingText(s), Words: wordsOf(s), NoNext: v.noNext(s), Outcomes: v.outcomes(runs)}
	if len(runs) > 0 {
		row.Last, row.LastWhen = runs[0], runMoment(runs[0])
	}
	return row
}

// outcomes draws runs, given newest first.
func (v *visit) outcomes(runs []*fairleadv1.Run) sparkBars {
	return sparkline(len(runs), func(i int) string { return v.Tone(runs[i].GetState()) }, func(i int) string {
		title := v.StateName(runs[i].GetState())
		if why := skipReasons[runs[i].GetSkipReason()]; why != "" {
			title += ": " + v.T(why)
		}
		return title + " · " + v.clock(runs[i].GetDue().AsTime())
	})
}

// runMoment returns the end of a run, or its due time if it has not ended.
func runMoment(run *fairleadv1.Run) time.Time {
	if run.GetFinishedAt() != nil {
		return run.GetFinishedAt().AsTime()
	}
	return moment(run.GetDue())
}

// noNext explains why an enabled schedule has no coming fire. It returns an empty string if
// the schedule has one or is disabled.
func (v *visit) noNext(s *fairleadv1.Schedule) string {
	switch {
	case !s.GetEnabled() || s.GetNextFire() != nil:
		return ""
	case s.GetDelay() != nil:
		return v.T("after the current run")
	case s.GetCalendar() != "":
		return v.T("none within 8 years (the calendar excludes every fire)")
	}
	return v.T("none (the schedule has ended)")
}

// findSchedules finds schedules by name or ID.
func findSchedules(v *visit, f *finding) error {
	exact, err := v.schedules.GetSchedule(v.ctx, &fairleadv1.GetScheduleRequest{Id: f.query})
	if err := found(err); err != nil {
		return err
	}
	if exact != nil {
		f.exactly(exact.GetName(), v.T("schedule"), v.To("/schedules", exact.GetId()))
	}
	list, err := v.schedules.ListSchedules(v.ctx, &fairleadv1.ListSchedulesRequest{PageSize: findAmong})
	for _, s := range list.GetItems() {
		f.named(s.GetName(), v.T("schedule"), v.To("/schedules", s.GetId()))
	}
	return found(err)
}
