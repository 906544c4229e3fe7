package console

import (
	"context"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"connectrpc.com/connect"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

const (
	firesShown = 15
	runsShown  = 50
	// figuresRest is how long figures are cached if computing them costs a thousand rows or
	// more.
	figuresRest = 30 * time.Second
)

// schedulePage shows a schedule.
type schedulePage struct {
	*scheduleRow
	Policies    []fact
	Stats       *fairleadv1.ScheduleStats
	Fires       []comingFire
	Runs        []*runRow
	Next, First string
	Alert       *alertFacts // nil = no alerts
}

// Remarked reports whether there is a clock change on a day of the coming fires.
func (p *schedulePage) Remarked() bool {
	return slices.ContainsFunc(p.Fires, func(fire comingFire) bool { return fire.Remark != "" })
}

// fact is a named value.
type fact struct {
	Name, Value string
}

// comingFire is an upcoming due instant.
type comingFire struct {
	*fairleadv1.Instant
	Remark string
}

// runRow is a run with details of its job.
type runRow struct {
	*fairleadv1.Run
	Trigger, Skip string // in words
	Started       any
	Took          string // empty = it has not started
	Attempt       int32  // of its job, or zero
}

// alertFacts describes where alerts go, without confidential parts: headers, and everything
// in the URL except the host, because the paths of many webhooks are passwords.
type alertFacts struct {
	To     string
	Events []string
	Quiet  time.Duration
	Signed bool
}

func loadSchedule(v *visit) (any, error) {
	p := v.parameters()
	token := p.page()
	if err := p.err(); err != nil {
		return nil, err
	}
	s, err := v.schedules.GetSchedule(v.ctx, &fairleadv1.GetScheduleRequest{Id: v.Value("id")})
	if err != nil {
		return nil, err
	}
	last, err := v.schedules.ListRuns(v.ctx, &fairleadv1.ListRunsRequest{Id: s.GetId(), PageSize: sparkLength})
	if err != nil {
		return nil, err
	}
	page := &schedulePage{scheduleRow: v.scheduleRow(s, last.GetItems()), Policies: v.policies(s), Alert: v.AlertFacts(s.GetAlert())}
	if page.Stats, err = v.scheduleStats(s.GetId()); err != nil {
		return nil, err
	}
	if page.Fires, err = v.comingFires(s); err != nil {
		return nil, err
	}
	return page, v.scheduleRuns(page, token)
}

// scheduleStats returns the statistics of the last thousand runs. It caches them for a
// while: other pages of the same schedule share them.
func (v *visit) scheduleStats(id string) (*fairleadv1.ScheduleStats, error) {
	request := &fairleadv1.GetScheduleRequest{Id: id}
	stats, err := v.console.stats.Get(v.ctx, v.Now.Truncate(figuresRest), v.scope+"\n"+id, func(ctx context.Context) (*fairleadv1.ScheduleStats, error) {
		return v.schedules.GetScheduleStats(ctx, request)
	})
	if err != nil { // do not cache failures
		return v.schedules.GetScheduleStats(v.ctx, request)
	}
	return stats, nil
}

// comingFires returns the upcoming due instants. For a schedule that is due once, or after
// the end of each run, only the next instant is known.
func (v *visit) comingFires(s *fairleadv1.Schedule) (fires []comingFire, err error) {
	n := int32(firesShown)
	if s.GetDelay() != nil || s.GetAt() != nil {
		if s.GetNextDue() == nil {
			return nil, nil
		}
		n = 1
	}
	preview, err := v.schedules.PreviewSchedule(v.ctx, &fairleadv1.PreviewScheduleRequest{Id: s.GetId(), N: n})
	if connect.CodeOf(err) == connect.CodeInvalidArgument {
		return nil, nil // the stored schedule cannot be read; the page shows the reason
	}
	if err != nil {
		return nil, err
	}
	for _, instant := range preview.GetItems() {
		fires = append(fires, comingFire{Instant: instant, Remark: v.clockChange(instant.GetRemark())})
	}
	if s.GetDelay() != nil && len(fires) > 0 { // a preview starts now
		fires[0] = comingFire{Instant: &fairleadv1.Instant{Due: s.GetNextDue(), Fire: s.GetNextFire(), Local: v.InZone(s.GetNextDue(), s.GetTimezone())}}
	}
	return fires, nil
}

// scheduleRuns reads a page of runs, and the start and end times of their jobs. Both lists
// are sorted by job ID, so one token selects the same page of both.
func (v *visit) scheduleRuns(page *schedulePage, token string) error {
	runs, err := v.schedules.ListRuns(v.ctx, &fairleadv1.ListRunsRequest{Id: page.GetId(), PageSize: runsShown, PageToken: token})
	if connect.CodeOf(err) == connect.CodeInvalidArgument {
		return refuse("page", v.T("is not a valid page token; omit it to get the first page"))
	}
	if err != nil {
		return err
	}
	id, err := strconv.ParseInt(page.GetId(), 10, 64)
	if err != nil {
		return err
	}
	jobs, err := v.jobs.ListJobs(v.ctx, &fairleadv1.ListJobsRequest{Schedule: id, PageSize: runsShown, PageToken: token})
	if err != nil {
		return err
	}
	byID := map[int64]*fairleadv1.Job{}
	for _, job := range jobs.GetItems() {
		byID[job.GetId()] = job
	}
	for _, run := range runs.GetItems() {
		page.Runs = append(page.Runs, v.runRow(run, byID[run.GetId()]))
	}
	if runs.GetNextPageToken() != "" {
		page.Next = v.Here("page", runs.GetNextPageToken())
	}
	if token != "" {
		page.First = v.Here()
	}
	return nil
}

func (v *visit) runRow(run *fairleadv1.Run, job *fairleadv1.Job) *runRow {
	row := &runRow{Run: run, Trigger: run.GetTrigger(), Attempt: job.GetAttempt()}
	if words := triggers[run.GetTrigger()]; words != "" {
		row.Trigger = v.T(words)
	}
	if n := run.GetNumber(); n > 1 { // the failure action of the schedule
		row.Trigger = v.T("%s, retry %s", row.Trigger, v.Num(n-1))
	}
	switch why := skipReasons[run.GetSkipReason()]; {
	case why != "":
		row.Skip = v.T(why)
	case run.GetQueued():
		row.Skip = v.T("waiting for an earlier run")
	}
	began := moment(job.GetStartedAt())
	if began.IsZero() || run.GetSkipReason() != "" {
		return row
	}
	row.Started = began
	switch ended := moment(job.GetFinishedAt()); {
	case !ended.IsZero():
		row.Took = v.Dur(ended.Sub(began))
	case job.GetState() == "running" || job.GetState() == "waiting":
		row.Took = v.T("%s so far", v.Dur(max(0, v.Now.Sub(began)).Truncate(time.Second)))
	}
	return row
}

// triggers contains the triggers of runs in words.
var triggers = map[string]string{"cron": "schedule", "catch_up": "catch-up", "manual": "manual", "backfill": "backfill"}

// SkipReason returns the reason why a job was skipped in words, or an empty string if it
// was not skipped.
func (v *visit) SkipReason(job *fairleadv1.Job) string {
	if why := skipReasons[job.GetError()]; why != "" && job.GetState() == "skipped" {
		return v.T(why)
	}
	return ""
}

// skipReasons contains the reasons for skipping a run in words.
var skipReasons = map[string]string{
	"overlap": "an earlier run was still active", "failure": "the previous run failed", "concurrency": "too many runs were active",
}

// policies describes the handling of overlapping, failed and missed runs.
func (v *visit) policies(s *fairleadv1.Schedule) []fact {
	bound := v.T("unlimited")
	if s.GetMaxConcurrency() > 0 {
		bound = v.T("%s; %s", v.Num(s.GetMaxConcurrency()), v.T(policyWords["more:"+s.GetConcurrencyPolicy()]))
		if s.GetConcurrencyPolicy() == "queue" {
			bound += v.T(", at most %s", v.Num(s.GetQueueDepth()))
		}
	}
	missed := v.T(policyWords["missed:"+s.GetCatchUpMode()])
	if s.GetCatchUpMode() == "full" {
		missed += v.T(", at most %s", v.Num(s.GetCatchUpLimit()))
	}
	if s.GetCatchUpMode() != "none" {
		missed += v.T(", no older than %s", v.Dur(s.GetCatchUpWindow()))
	}
	return []fact{
		{v.T("While an earlier run is active"), v.T(policyWords["overlap:"+s.GetOverlapAction()])},
		{v.T("After a failed run"), v.T(policyWords["failure:"+s.GetFailureAction()])},
		{v.T("Concurrent runs"), bound},
		{v.T("Missed runs"), missed},
	}
}

// policyWords contains the policies of a schedule in words.
var policyWords = map[string]string{
	"overlap:allow": "start the next run if the concurrency limit permits", "overlap:skip": "skip the next run",
	"overlap:cancel_prev": "cancel the earlier run", "overlap:parallel": "run both in parallel",
	"failure:run_new": "start the next run as usual", "failure:retry": "start the next run as another attempt", "failure:skip": "skip only the next run",
	"more:queue": "queue additional runs", "more:skip": "skip additional runs", "more:parallel": "start additional runs anyway",
	"missed:none": "do not run", "missed:compact": "run only the latest", "missed:full": "run all",
}

// AlertFacts returns where and when alerts are sent, or nil without an alert.
func (v *visit) AlertFacts(alert *fairleadv1.Alert) *alertFacts {
	if alert == nil {
		return nil
	}
	facts := &alertFacts{To: v.T("hidden URL"), Quiet: span(alert.GetQuiet()), Signed: alert.GetSigningSecret() != ""}
	if to, err := url.Parse(alert.GetUrl()); err == nil && to.Host != "" && !strings.ContainsAny(to.Host, "{}") {
		facts.To = to.Scheme + "://" + to.Host + "/…"
	}
	for _, event := range alert.GetOn() {
		switch words := alertEvents[event]; {
		case event == "failures":
			facts.Events = append(facts.Events, v.T(words, v.Num(alert.GetFailures())))
		case words != "":
			facts.Events = append(facts.Events, v.T(words))
		}
	}
	return facts
}

// alertEvents contains the events that a schedule reports in words.
var alertEvents = map[string]string{
	"failure": "a run fails", "failures": "%s consecutive runs fail", "recovery": "a run succeeds after failures", "missed": "runs were missed",
}

// SuccessShare formats a share in percent, rounded down: 100 % means all.
func (v *visit) SuccessShare(share float64) string {
	return strconv.FormatFloat(math.Floor(1000*share)/10, 'f', -1, 64) + " %"
}

// isNotFound reports whether the API returned that an object does not exist.
func isNotFound(err error) bool { return err != nil && connect.CodeOf(err) == connect.CodeNotFound }
