package sqlstore

import (
	"encoding/json"
	"time"

	"github.com/fairlead-io/fairlead/schedule"
)

// scheduleAlert specifies where the events of a schedule are reported. Its body is a
// string, because JSON would not preserve its bytes.
type scheduleAlert struct {
	URL           string                `json:"url"`
	On            []schedule.AlertEvent `json:"on,omitempty"`
	Failures      int                   `json:"failures,omitempty"`
	Quiet         time.Duration         `json:"quiet,omitempty"`
	Headers       map[string]string     `json:"headers,omitempty"`
	Body          string                `json:"body,omitempty"`
	SigningSecret string                `json:"signing_secret,omitempty"`
}

func encodeAlert(a *schedule.Alert) *scheduleAlert {
	if a == nil {
		return nil
	}
	return &scheduleAlert{a.URL, a.On, a.Failures, a.Quiet, a.Headers, string(a.Body), a.SigningSecret}
}

func (a *scheduleAlert) decode() *schedule.Alert {
	if a == nil {
		return nil
	}
	out := &schedule.Alert{URL: a.URL, On: a.On, Failures: a.Failures, Quiet: a.Quiet, Headers: a.Headers, SigningSecret: a.SigningSecret}
	if a.Body != "" {
		out.Body = json.RawMessage(a.Body)
	}
	return out
}

// planState is the state that a schedule keeps from one plan to the next. Times are in
// microseconds.
type planState struct {
	Failures int   `json:"failures,omitempty"`
	Told     bool  `json:"told,omitempty"`
	FailedAt int64 `json:"failed_at,omitempty"`
	MissedAt int64 `json:"missed_at,omitempty"`
	Chosen   int64 `json:"chosen,omitempty"`
}

// EncodePlanState returns the state that a plan passes to the next as JSON, or "" if it is
// empty.
func EncodePlanState(s schedule.Standing) string {
	if s == (schedule.Standing{}) {
		return ""
	}
	text, err := json.Marshal(planState{s.Failures, s.Told, Micros(s.FailedAt), Micros(s.MissedAt), Micros(s.Chosen)})
	if err != nil {
		panic(err) // numbers always encode
	}
	return string(text)
}

// decodePlanState decodes the result of EncodePlanState. It ignores unreadable text, after
// which the alert's receiver may get a message twice.
func decodePlanState(text []byte) schedule.Standing {
	var s planState
	if len(text) == 0 || json.Unmarshal(text, &s) != nil {
		return schedule.Standing{}
	}
	return schedule.Standing{Failures: s.Failures, Told: s.Told, FailedAt: Time(s.FailedAt), MissedAt: Time(s.MissedAt), Chosen: Time(s.Chosen)}
}
