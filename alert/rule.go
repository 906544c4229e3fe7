package alert

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/check"
)

// Rule says what is reported of some jobs, and where.
type Rule struct {
	Name  string // unique
	Scope Scope  // whose jobs; default global
	URL   string
	On    []Event // default Failed

	Backlog time.Duration // how old the oldest wait must be for a backlog; needed if On has it
	Gather  time.Duration // how long the first failure waits for others, to be one message with them; default 10 seconds
	Quiet   time.Duration // at most one message of each event is sent within it; default a minute

	Headers       map[string]string
	Body          json.RawMessage // a template, as that of a call; nil: all that is known, as JSON
	SigningSecret string          // a reference to a secret with which calls are signed; empty: they are not

	CreatedAt time.Time // set by the store
	UpdatedAt time.Time // set by the store
}

// Event is something that is reported.
type Event string

// The events. Recovered belongs to Backlog and is in no list of a rule.
const (
	Failed    Event = "failed"    // jobs failed for good
	Missed    Event = "missed"    // jobs started later than their StartBy
	Backlog   Event = "backlog"   // ready jobs wait longer than Rule.Backlog
	Recovered Event = "recovered" // they do not any more
)

// Bounds of rules, and their defaults.
const (
	maxHeaders = 32
	maxBody    = 64 << 10
	maxText    = 2000 // bytes of the URL, of a header and of the reference

	defaultGather = 10 * time.Second
	defaultQuiet  = time.Minute
)

// tells reports whether an event is to be reported.
func (r *Rule) tells(event Event) bool { return slices.Contains(r.On, event) }

// Normalize fills in the defaults of a rule about to be stored, and returns an
// *InvalidError that names every field that cannot be accepted.
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

// checkTarget refuses what cannot be a call.
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

// normalizeTimes fills in and checks how long things take.
func (r *Rule) normalizeTimes(c *complaints) {
	switch wanted := r.tells(Backlog); {
	case wanted && r.Backlog <= 0:
		c.Refuse("backlog", "is %v; it must be positive with on=%s: it is the age of the oldest waiting job that triggers the alert", r.Backlog, Backlog)
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
