package schedule

import (
	"errors"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/check"
	"github.com/fairlead-io/fairlead/internal/cron"
)

// Bounds of what a schedule may say.
const (
	leastInterval  = time.Second
	maxJitter      = 24 * time.Hour
	maxQueueDepth  = 100_000
	maxCatchUp     = 1000
	maxDescription = 2000

	defaultQueueDepth    = 100
	defaultCatchUpLimit  = 100
	defaultCatchUpWindow = 24 * time.Hour
)

// Normalize fills in the defaults of a schedule that is about to be stored. It returns an
// *InvalidError that names every invalid field.
func Normalize(s *Schedule) error {
	var c complaints
	c.Addressed("name", s.Name, fairlead.MaxName)
	if len(s.Description) > maxDescription {
		c.Refuse("description", "has %d bytes; at most %d are allowed", len(s.Description), maxDescription)
	} else {
		c.Text("description", s.Description)
	}
	s.checkTiming(&c)
	s.checkPolicies(&c)
	if s.Alert != nil {
		alert := *s.Alert // a copy, because the original may belong to the caller
		alert.normalize(&c)
		s.Alert = &alert
	}
	s.checkJob(&c)
	return fairlead.Invalid(c.Found...)
}

// checkTiming checks when it is due.
func (s *Schedule) checkTiming(c *complaints) {
	given := 0
	for _, set := range []bool{s.Cron != "", s.Every != 0, s.Delay != 0, s.Daily != "", !s.At.IsZero()} {
		if set {
			given++
		}
	}
	if given != 1 {
		c.Refuse("cron", "cannot be combined with another timing; set exactly one of cron, every, delay, daily and at")
	}
	if s.Cron != "" {
		if expr, err := cron.Parse(s.Cron); err != nil {
			c.Refuse("cron", "%v", err)
		} else {
			s.Cron = expr.String() // with seconds, so that two ways to write one are the same
		}
	}
	if s.Daily != "" {
		if daily, err := cron.ParseDaily(s.Daily); err != nil {
			c.Refuse("daily", "%v", err)
		} else {
			s.Daily = daily.String()
		}
	}
	checkInterval := func(field string, d time.Duration) {
		if d != 0 && (d < leastInterval || d > check.MaxPause) {
			c.Refuse(field, "is %v; it must be between %v and %v", d, leastInterval, check.MaxPause)
		}
	}
	checkInterval("every", s.Every)
	checkInterval("delay", s.Delay)
	if s.Zone == "" {
		s.Zone = "UTC"
	}
	if _, err := time.LoadLocation(s.Zone); err != nil || s.Zone == "Local" {
		c.Refuse("timezone", "%q is not a known time zone; use one such as Europe/Paris", s.Zone)
	}
	if !s.EndsAt.IsZero() && !s.EndsAt.After(s.StartsAt) {
		c.Refuse("ends_at", "is not after starts_at; swap them or omit one")
	}
	if s.Jitter < 0 || s.Jitter > maxJitter {
		c.Refuse("jitter", "is %v; it must be between 0 and %v", s.Jitter, maxJitter)
	}
	if s.Calendar != "" {
		c.Name("calendar", s.Calendar, fairlead.MaxName)
	}
}

// choose fills in the default of a choice, which is the first, and checks it.
func choose[T ~string](c *complaints, field string, value *T, choices ...T) {
	if *value == "" {
		*value = choices[0]
	}
	allowed := make([]string, len(choices))
	for i, choice := range choices {
		allowed[i] = string(choice)
	}
	c.OneOf(field, string(*value), allowed...)
}

func (s *Schedule) checkPolicies(c *complaints) {
	choose(c, "overlap_action", &s.Overlap, OverlapAllow, OverlapSkip, OverlapCancel, OverlapParallel)
	choose(c, "failure_action", &s.AfterFailure, FailureRunNew, FailureRetry, FailureSkip)
	choose(c, "concurrency_policy", &s.Concurrency, ConcurrencyQueue, ConcurrencySkip, ConcurrencyParallel)
	choose(c, "catch_up_mode", &s.CatchUp, CatchUpNone, CatchUpCompact, CatchUpFull)
	c.Count("max_concurrency", s.MaxConcurrency, fairlead.MaxCap)
	if s.QueueDepth == 0 {
		s.QueueDepth = defaultQueueDepth
	}
	if s.CatchUpLimit == 0 {
		s.CatchUpLimit = defaultCatchUpLimit
	}
	if s.CatchUpWindow == 0 {
		s.CatchUpWindow = defaultCatchUpWindow
	}
	if s.QueueDepth < 0 || s.QueueDepth > maxQueueDepth {
		c.Refuse("queue_depth", "is %d; it must be between 1 and %d", s.QueueDepth, maxQueueDepth)
	}
	if s.CatchUpLimit < 0 || s.CatchUpLimit > maxCatchUp {
		c.Refuse("catch_up_limit", "is %d; it must be between 1 and %d", s.CatchUpLimit, maxCatchUp)
	}
	if s.CatchUpWindow < 0 || s.CatchUpWindow > check.MaxPause {
		c.Refuse("catch_up_window", "is %v; it must be between 0 and %v", s.CatchUpWindow, check.MaxPause)
	}
}

// checkJob checks what each run is.
func (s *Schedule) checkJob(c *complaints) {
	if !s.Job.NotBefore.IsZero() || !s.Job.StartBy.IsZero() {
		c.Refuse("job.not_before", "is set by the schedule, as is start_by; omit both")
	}
	if err := fairlead.NormalizeJobs([]*fairlead.Job{&s.Job}); err != nil {
		var invalid *fairlead.InvalidError
		if !errors.As(err, &invalid) {
			c.Refuse("job", "%v", err)
			return
		}
		for _, f := range invalid.Fields {
			c.Refuse(fmt.Sprintf("job.%s", f.Field), "%s", f.Message)
		}
	}
}
