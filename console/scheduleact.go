package console

import (
	"encoding/json"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

var scheduleActions = []action{
	{name: "schedule-enable", path: "/schedules/{id}/enable", Title: "Enable schedule", Nav: "schedules", method: "EnableSchedule", load: loadScheduleEnable, do: enableSchedule},
	{name: "schedule-disable", path: "/schedules/{id}/disable", Title: "Disable schedule", Nav: "schedules", method: "DisableSchedule", load: loadScheduleAct, do: disableSchedule},
	{name: "schedule-trigger", path: "/schedules/{id}/trigger", Title: "Run schedule now", Nav: "schedules", method: "TriggerSchedule", load: loadScheduleAct, do: triggerSchedule},
	{name: "schedule-backfill", path: "/schedules/{id}/backfill", Title: "Backfill schedule", Nav: "schedules", method: "BackfillSchedule", load: loadBackfill, do: backfillSchedule},
	{name: "schedule-test", path: "/schedules/{id}/test", Title: "Test request", Nav: "schedules", method: "TestSchedule", load: loadScheduleAct, do: testSchedule},
	{name: "schedule-delete", path: "/schedules/{id}/delete", Title: "Delete schedule", Nav: "schedules", method: "DeleteSchedule", Grave: true, load: loadScheduleAct, do: deleteSchedule},
}

// scheduleButtons lists the buttons of schedules, in order.
var scheduleButtons = []button[*fairleadv1.Schedule]{
	{"trigger", "TriggerSchedule", "Run now", true, anySchedule},
	{"test", "TestSchedule", "Test request", false, callsHTTP},
	{"enable", "EnableSchedule", "Enable", true, func(s *fairleadv1.Schedule) bool { return !s.GetEnabled() }},
	{"disable", "DisableSchedule", "Disable", true, (*fairleadv1.Schedule).GetEnabled},
	{"backfill", "BackfillSchedule", "Backfill", false, func(s *fairleadv1.Schedule) bool { return s.GetDelay() == nil && s.GetAt() == nil }},
	{"delete", "DeleteSchedule", "Delete", false, anySchedule},
}

func anySchedule(*fairleadv1.Schedule) bool { return true }

// callsHTTP reports whether the jobs of a schedule are HTTP calls.
func callsHTTP(s *fairleadv1.Schedule) bool { return s.GetJob().GetKind() == httpKind }

// httpKind is the kind of jobs whose args are HTTP calls.
const httpKind = "http"

// ScheduleButtons returns the buttons for a schedule in its current state.
func (v *visit) ScheduleButtons(s *fairleadv1.Schedule) []button[*fairleadv1.Schedule] {
	return offered(scheduleButtons, s)
}

// scheduleAct is a schedule in a form, with the number of its active runs.
type scheduleAct struct {
	*fairleadv1.Schedule
	Active, Queued int64
	More           bool                // whether some runs were not read
	First          *fairleadv1.Instant // first instant after enabling; nil = not requested, or none
}

// State returns the name of the schedule's state.
func (s *scheduleAct) State() string {
	if s.GetEnabled() {
		return "enabled"
	}
	return "disabled"
}

// runsLookedAt is the number of recent runs searched for active ones.
const runsLookedAt = 1000

func (v *visit) scheduleAct() (*scheduleAct, error) {
	s, err := v.schedules.GetSchedule(v.ctx, &fairleadv1.GetScheduleRequest{Id: v.Value("id")})
	if err != nil {
		return nil, err
	}
	runs, err := v.schedules.ListRuns(v.ctx, &fairleadv1.ListRunsRequest{Id: s.GetId(), PageSize: runsLookedAt})
	if err != nil {
		return nil, err
	}
	act := &scheduleAct{Schedule: s, More: runs.GetNextPageToken() != ""}
	for _, run := range runs.GetItems() {
		switch {
		case run.GetFinishedAt() != nil || run.GetSkipReason() != "":
		case run.GetQueued():
			act.Queued++
		default:
			act.Active++
		}
	}
	return act, nil
}

func loadScheduleAct(v *visit) (any, error) { return v.scheduleAct() }

// loadScheduleEnable also determines the first instant after enabling.
func loadScheduleEnable(v *visit) (any, error) {
	act, err := v.scheduleAct()
	if err != nil {
		return nil, err
	}
	fires, err := v.schedules.PreviewSchedule(v.ctx, &fairleadv1.PreviewScheduleRequest{Id: act.GetId(), N: 1})
	if err == nil && len(fires.GetItems()) > 0 {
		act.First = fires.GetItems()[0]
	}
	return act, nil // an unreadable schedule has no next fire; enabling it reports the reason
}

func enableSchedule(v *visit) (done, error) {
	s, err := v.schedules.EnableSchedule(v.ctx, &fairleadv1.GetScheduleRequest{Id: v.Value("id")})
	if err != nil {
		return done{}, err
	}
	return done{Notice: v.T("Schedule %s was enabled.", s.GetName())}, nil
}

func disableSchedule(v *visit) (done, error) {
	s, err := v.schedules.DisableSchedule(v.ctx, &fairleadv1.DisableScheduleRequest{Id: v.Value("id"), Reason: v.fields().text("reason")})
	if err != nil {
		return done{}, err
	}
	return done{Notice: v.T("Schedule %s was disabled.", s.GetName())}, nil
}

func triggerSchedule(v *visit) (done, error) {
	f := v.fields()
	args := []byte(f.text("args"))
	if len(args) > 0 && !json.Valid(args) {
		f.refuse("args", v.T("must be a JSON document"))
	}
	if err := f.err(); err != nil {
		return done{}, err
	}
	run, err := v.schedules.TriggerSchedule(v.ctx, &fairleadv1.TriggerScheduleRequest{Id: v.Value("id"), Args: args})
	if err != nil {
		return done{}, err
	}
	made := "#" + text(run.GetId())
	switch {
	case run.GetSkipReason() != "":
		return done{Notice: v.T("Run %s was recorded as skipped: %s.", made, v.T(skipReasons[run.GetSkipReason()]))}, nil
	case run.GetQueued():
		return done{Notice: v.T("Run %s is waiting for an earlier run.", made)}, nil
	}
	return done{Notice: v.T("Run %s was created.", made)}, nil
}

// deleteSchedule deletes the schedule if it is still as the form showed it, because the API
// accepts no version for deletions.
func deleteSchedule(v *visit) (done, error) {
	act, err := v.scheduleAct()
	if err != nil {
		return done{}, err
	}
	f := v.fields()
	v.unchanged(f, map[string]any{"version": act.GetVersion(), "queued": act.Queued})
	if err := f.err(); err != nil {
		return done{}, err
	}
	if _, err := v.schedules.DeleteSchedule(v.ctx, &fairleadv1.GetScheduleRequest{Id: act.GetId()}); err != nil {
		return done{}, err
	}
	return done{Notice: v.T("Schedule %s was deleted.", act.GetName()), To: "/schedules"}, nil
}
