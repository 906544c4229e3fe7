package schedule

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead/internal/check"
)

// Alert configures where a schedule reports problems with its runs. An HTTP call delivers
// each report: a job of kind "http" that has the same tenant and queue as the schedule's own
// jobs. The job is stored in the same transaction as the event that it reports, so each
// report is delivered at least once.
type Alert struct {
	URL      string        // URL to call
	On       []AlertEvent  // events to report; default failure and recovery
	Failures int           // number of consecutive failures for AlertFailures; default 3
	Quiet    time.Duration // minimum time between two reports of failures, and between two reports of missed instants; default 1m

	Headers       map[string]string // headers of the call; default none
	Body          json.RawMessage   // template of the body, as for an httpcall.Call; nil sends all details as JSON
	SigningSecret string            // reference to the secret that signs calls; default unsigned
}

// AlertEvent is a type of event that a schedule can report.
type AlertEvent string

// The events that a schedule can report. A run that was cancelled or skipped is not a
// failure, and does not end a series of failures.
const (
	AlertFailure  AlertEvent = "failure"  // a run has failed
	AlertFailures AlertEvent = "failures" // Alert.Failures consecutive runs have failed; reported once per series
	AlertRecovery AlertEvent = "recovery" // a run succeeded after failures that were reported
	AlertMissed   AlertEvent = "missed"   // the schedule was due, but no node acted on it in time
)

// Standing is the information that a schedule passes from one plan to the next: the results
// of its runs, if it has an Alert, and the instants that did not fit into a plan.
type Standing struct {
	Failures int       // number of consecutive failed runs
	Told     bool      // whether these failures were reported
	FailedAt time.Time // time of the last report of a failure
	MissedAt time.Time // time of the last report of missed instants
	// Chosen is the last instant that a plan chose to run but had no room for. The next
	// plans run the instants up to it, even if the catch-up policy considers them too old.
	Chosen time.Time
}

// Bounds of alerts, and their defaults.
const (
	leastFailures   = 2
	mostFailures    = 1000
	maxAlertHeaders = 32
	maxAlertBody    = 64 << 10
	maxAlertText    = 2000 // bytes of the URL, of a header and of the reference

	defaultFailures = 3
	defaultQuiet    = time.Minute
)

// tells reports whether an event is to be reported.
func (a *Alert) tells(event AlertEvent) bool { return slices.Contains(a.On, event) }

// normalize fills in the defaults and refuses what cannot be accepted.
func (a *Alert) normalize(c *complaints) {
	if a.URL == "" {
		c.Refuse("alert.url", "is empty; set the URL to send alerts to, or omit alert")
	}
	texts := map[string]string{"url": a.URL, "signing_secret": a.SigningSecret}
	for name, value := range a.Headers {
		c.Text("alert.headers", name+value)
		texts["headers"] = name + value
		if len(texts["headers"]) > maxAlertText {
			break
		}
	}
	for field, text := range texts {
		if len(text) > maxAlertText {
			c.Refuse("alert."+field, "has %d bytes; at most %d are allowed", len(text), maxAlertText)
		} else if field != "headers" {
			c.Text("alert."+field, text)
		}
	}
	if len(a.Headers) > maxAlertHeaders {
		c.Refuse("alert.headers", "has %d entries; at most %d are allowed", len(a.Headers), maxAlertHeaders)
	}
	if len(a.On) == 0 {
		a.On = []AlertEvent{AlertFailure, AlertRecovery}
	}
	for _, event := range a.On {
		c.OneOf("alert.on", string(event), string(AlertFailure), string(AlertFailures), string(AlertRecovery), string(AlertMissed))
	}
	if a.Failures == 0 {
		a.Failures = defaultFailures
	}
	if a.Failures < leastFailures || a.Failures > mostFailures {
		c.Refuse("alert.failures", "is %d; it must be between %d and %d", a.Failures, leastFailures, mostFailures)
	}
	if a.Quiet == 0 {
		a.Quiet = defaultQuiet
	}
	if a.Quiet < 0 || a.Quiet > check.MaxPause {
		c.Refuse("alert.quiet", "is %v; it must be between 0 and %v", a.Quiet, check.MaxPause)
	}
	if len(a.Body) > maxAlertBody {
		c.Refuse("alert.body", "has %d bytes; at most %d are allowed", len(a.Body), maxAlertBody)
	} else {
		c.JSON("alert.body", a.Body, maxAlertBody)
	}
}
