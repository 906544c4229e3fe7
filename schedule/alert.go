package schedule

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead/internal/check"
)

// Alert says where to report that runs of a schedule go wrong. The receiver gets an
// HTTP call: a job of the kind "http", of the tenant and queue of the schedule's
// own jobs, that is stored in the same transaction as what it tells of. It comes
// at least once.
type Alert struct {
	URL      string
	On       []AlertEvent  // default failure and recovery
	Failures int           // how many in a row AlertFailures is about; default 3
	Quiet    time.Duration // a failure, or missed instants, are reported at most once within it; default a minute

	Headers       map[string]string
	Body          json.RawMessage // a template, as that of a call; nil: all that is known, as JSON
	SigningSecret string          // a reference to a secret with which calls are signed; empty: they are not
}

// AlertEvent is something that can be reported.
type AlertEvent string

// The events. A run that was cancelled or skipped is neither a failure nor its end.
const (
	AlertFailure  AlertEvent = "failure"  // a run has failed
	AlertFailures AlertEvent = "failures" // so many in a row have, once for each such row
	AlertRecovery AlertEvent = "recovery" // one succeeded after failures that were reported
	AlertMissed   AlertEvent = "missed"   // instants passed while no node acted upon them
)

// Standing is what a schedule remembers from one plan to the next: of its runs, if it has an
// Alert, and of instants that a plan had no room for.
type Standing struct {
	Failures int       // runs in a row that failed
	Told     bool      // whether these were reported
	FailedAt time.Time // when a failure was last reported
	MissedAt time.Time // when missed instants were last reported
	// Chosen is the last of the instants that a plan chose to run and had no room for. The next
	// plans run them, whatever the catch-up policy says of instants that old.
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
		c.Refuse("alert.url", "is empty; set the URL to send alerts to, or leave alert out")
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
