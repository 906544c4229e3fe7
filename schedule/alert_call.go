package schedule

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/fairlead-io/fairlead"
)

// What is made of an alert. The kind is that of package httpcall, which knows of
// schedules as little as they know of it.
const (
	alertKind     = "http"
	alertAttempts = 10
)

// alertBody is what is sent if the schedule has no template of its own.
const alertBody = `{"event":{{args.event}},"schedule":{{args.schedule}},"schedule_id":{{args.schedule_id}},"tenant":{{args.tenant}},` +
	`"at":{{args.at}},"run_id":{{args.run_id}},"due":{{args.due}},"trigger":{{args.trigger}},"attempt":{{args.attempt}},"state":{{args.state}},` +
	`"ended_at":{{args.ended_at}},"failures":{{args.failures}},"missed":{{args.missed}},"missed_from":{{args.missed_from}},"run_later":{{args.run_later}}}`

// occasion is what an alert tells of. All of it can be used in templates, as
// {{args.event}}; what does not apply is null.
type occasion struct {
	Event      AlertEvent `json:"event"`
	Schedule   string     `json:"schedule"`
	ScheduleID string     `json:"schedule_id"`
	Tenant     string     `json:"tenant"`
	At         string     `json:"at"`

	RunID    *string         `json:"run_id"` // the run that failed or succeeded
	Due      *string         `json:"due"`
	Trigger  *Trigger        `json:"trigger"`
	Attempt  *int            `json:"attempt"`
	State    *fairlead.State `json:"state"`
	EndedAt  *string         `json:"ended_at"`
	Failures int             `json:"failures"` // in a row

	Missed     *int    `json:"missed"` // instants, as far as they were counted
	MissedFrom *string `json:"missed_from"`
	RunLater   *int    `json:"run_later"` // number of missed instants that are run now
}

// alertTime writes times as the API does.
func alertTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }

// occasionOf is what is known of any event of a schedule.
func occasionOf(event AlertEvent, s *Schedule, now time.Time) occasion {
	return occasion{Event: event, Schedule: s.Name, ScheduleID: strconv.FormatInt(s.ID, 10), Tenant: s.Job.Tenant, At: alertTime(now)}
}

// about adds the run that an event is about.
func (o occasion) about(run Fire, failures int) occasion {
	id, due, ended := strconv.FormatInt(run.Job, 10), alertTime(run.Due), alertTime(run.EndedAt)
	o.RunID, o.Due, o.EndedAt, o.Failures = &id, &due, &ended, failures
	o.Trigger, o.Attempt, o.State = &run.Trigger, &run.Number, &run.State
	return o
}

// AlertJob returns a job like those that report events according to the schedule's Alert.
// The job's args have the format of package httpcall, which also validates them.
func (s *Schedule) AlertJob() *fairlead.Job {
	return s.alertJob(occasionOf(AlertFailure, s, s.UpdatedAt).about(Fire{}, 1))
}

func (s *Schedule) alertJob(o occasion) *fairlead.Job {
	a := s.Alert
	call := struct {
		URL           string            `json:"url"`
		Headers       map[string]string `json:"headers,omitempty"`
		Body          json.RawMessage   `json:"body"`
		Vars          occasion          `json:"vars"`
		SigningSecret string            `json:"signing_secret,omitempty"`
	}{a.URL, a.Headers, a.Body, o, a.SigningSecret}
	if len(call.Body) == 0 {
		call.Body, _ = json.Marshal(alertBody) // a text always encodes
	}
	args, err := json.Marshal(call)
	if err != nil {
		panic(err) // its body has been through normalize, and all else is text and numbers
	}
	return &fairlead.Job{Kind: alertKind, Args: args, Queue: s.Job.Queue, Tenant: s.Job.Tenant, Priority: fairlead.High, MaxAttempts: alertAttempts}
}
