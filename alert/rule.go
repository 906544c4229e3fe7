package alert

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/check"
)

// A Rule defines which events to report, for which jobs, and where to send the messages.
type Rule struct {
	Name  string // unique
	Scope Scope  // jobs that the rule covers; default Global
	URL   string
	On    []Event // default Failed

	Backlog time.Duration // minimum wait of the oldest ready job that counts as a backlog; required if On contains Backlog
	Gather  time.Duration // delay after the first failure, to collect more failures into the same message; default 10 seconds
	Quiet   time.Duration // minimum time between two messages of the same event; default one minute

	Headers       map[string]string
	Body          json.RawMessage // template for the request body, as in an HTTP call; nil = all details, as JSON
	SigningSecret string          // reference to the secret that signs the calls; empty = unsigned

	CreatedAt time.Time // set by the store
	UpdatedAt time.Time // set by the store
}

// An Event is a condition that a rule can report.
type Event string

// Events of rules. Recovered accompanies Backlog and must not be listed in Rule.On.
const (
	Failed    Event = "failed"    // jobs failed for good
	Missed    Event = "missed"    // jobs started later than their StartBy
	Backlog   Event = "backlog"   // ready jobs wait longer than Rule.Backlog
	Recovered Event = "recovered" // the backlog is gone
)

// Limits of rule fields, and default values.
const (
	maxHeaders = 32
	maxBody    = 64 << 10
	maxText    = 2000 // in bytes, for the URL, a header and the secret reference

	defaultGather = 10 * time.Second
	defaultQuiet  = time.Minute
)

// tells reports whether the rule reports an event.
func (r *Rule) tells(event Event) bool { return slices.Contains(r.On, event) }

// Normalize fills in the defaults of a rule that is about to be stored. It returns an
// *InvalidError that names every invalid field.
func Normalize(r *Rule) error {
	var c complaints
	c.Addressed("name", r.Name, fairlead.MaxName)
	if r.Scope == "" {
		r.Scope = Global
	}
	r.Scope.check(&c)
	r.checkTarget(&c)
	if len(r.On) == 0 {
		r.On = []Event{Failed}
	}
	for _, event := range r.On {
		if event == "" {
			c.Refuse("on", "contains an empty string; use %s, %s or %s", Failed, Missed, Backlog)
		}
		c.OneOf("on", string(event), string(Failed), string(Missed), string(Backlog))
	}
	r.normalizeTimes(&c)
	return fairlead.Invalid(c.Found...)
}

// checkTarget rejects values that cannot form an HTTP call.
func (r *Rule) checkTarget(c *complaints) {
	if r.URL == "" {
		c.Refuse("url", "is empty; set the URL to send messages to")
	}
	bounded := func(field, text string) {
		c.Text(field, text)
		if len(text) > maxText {
			c.Refuse(field, "has %d bytes; at most %d are allowed", len(text), maxText)
		}
	}
	bounded("url", r.URL)
	bounded("signing_secret", r.SigningSecret)
	if len(r.Headers) > maxHeaders {
		c.Refuse("headers", "has %d entries; at most %d are allowed", len(r.Headers), maxHeaders)
	} else {
		for name, value := range r.Headers {
			bounded("headers", name+value)
		}
	}
	c.JSON("body", r.Body, maxBody)
}

// normalizeTimes validates the durations and fills in their defaults.
func (r *Rule) normalizeTimes(c *complaints) {
	switch wanted := r.tells(Backlog); {
	case wanted && r.Backlog <= 0:
		c.Refuse("backlog", "is %v; it must be positive because \"on\" includes %s: set it to the waiting time at which the oldest ready job triggers the alert", r.Backlog, Backlog)
	case !wanted && r.Backlog != 0:
		c.Refuse("backlog", "is %v, but on does not include %s; add it to on, or remove backlog", r.Backlog, Backlog)
	}
	if r.Gather == 0 {
		r.Gather = defaultGather
	}
	if r.Quiet == 0 {
		r.Quiet = defaultQuiet
	}
	for field, value := range map[string]time.Duration{"backlog": r.Backlog, "gather": r.Gather, "quiet": r.Quiet} {
		if (value < 0 && field != "backlog") || value > check.MaxPause {
			c.Refuse(field, "is %v; it must be between 0 and %v", value, check.MaxPause)
		}
	}
}
