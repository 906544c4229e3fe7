package sweep

import (
	"fmt"
	"math"
	"reflect"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/check"
)

// Bounds of what a sweep may say.
const (
	maxIndex        = int64(1_000_000_000_000_000_000)
	maxInFlight     = 10_000
	maxWindow       = 16_384
	maxItemAttempts = 1000
	maxPerCall      = 1000

	defaultInFlight = 16
	defaultAttempts = 5
	defaultBackoff  = 3 * time.Second
	defaultBudget   = 100
	defaultGateTime = 30 * time.Minute
	leastWindow     = 1024
)

// Normalize validates a sweep and fills in its defaults before it is stored. It returns an
// *InvalidError that names every invalid field.
func Normalize(s *Sweep) error {
	var c complaints
	c.Addressed("name", s.Name, fairlead.MaxName)
	c.Name("kind", s.Kind, fairlead.MaxName-len(KindOf("")))
	switch KindOf(s.Kind) {
	case GateKind:
		c.Refuse("kind", "is %q, which is reserved for calling gates; choose another", s.Kind)
	case StartKind:
		c.Refuse("kind", "is %q, which is reserved for starting sweeps; choose another", s.Kind)
	}
	if s.Queue == "" {
		s.Queue = fairlead.DefaultQueue
	}
	if s.Tenant == "" {
		s.Tenant = fairlead.DefaultTenant
	}
	c.Name("queue", s.Queue, fairlead.MaxName)
	c.Name("tenant", s.Tenant, fairlead.MaxName)
	c.JSON("args", s.Data, fairlead.MaxArgs)
	if s.Priority < -fairlead.MaxPriority || s.Priority > fairlead.MaxPriority {
		c.Refuse("priority", "is %d; it must be between %d and %d", s.Priority, -fairlead.MaxPriority, fairlead.MaxPriority)
	}
	s.checkItems(&c)
	s.checkFlow(&c)
	s.checkFailures(&c)
	c.URL("gate.before_create", s.Gate.BeforeCreate)
	c.URL("gate.before_run", s.Gate.BeforeRun)
	if s.Gate.Timeout == 0 {
		s.Gate.Timeout = defaultGateTime
	}
	if s.Gate.Timeout < time.Second || s.Gate.Timeout > check.MaxPause {
		c.Refuse("gate.timeout", "is %v; it must be between 1s and %v", s.Gate.Timeout, check.MaxPause)
	}
	return fairlead.Invalid(c.Found...)
}

// CheckChange returns an ErrConflict if the change would replace the items of a sweep that
// has been started. It returns an ErrInvalid if after refers to a list other than the stored
// one without supplying the list's items.
func CheckChange(before *Record, after *Sweep) error {
	if listed := after.Source.Listed; listed > 0 && len(after.Items) == 0 && (listed != before.Source.Listed || after.Source.Digest != before.Source.Digest) {
		return fairlead.Invalid(fairlead.FieldError{Field: "source.list", Message: "is missing: listed and digest do not match the stored list; give the list, or leave out both"})
	}
	if !before.Cut {
		return nil
	}
	for _, fixed := range []struct {
		field string
		same  bool
	}{
		{"kind", before.Kind == after.Kind},
		{"source", reflect.DeepEqual(before.Source, after.Source)},
		{"from", before.From == after.From},
		{"to", before.To == after.To},
		{"serial", before.Serial == after.Serial},
	} {
		if !fixed.same {
			return fmt.Errorf("sweep %q has been started: field %q can no longer be changed; create a new sweep: %w", before.Name, fixed.field, fairlead.ErrConflict)
		}
	}
	return nil
}

// checkItems checks what it goes over.
func (s *Sweep) checkItems(c *complaints) {
	given := 0
	s.checkList(c)
	for _, set := range []bool{s.Source.File != "", s.Source.URL != "", s.Source.Table != nil, s.Source.Listed > 0} {
		if set {
			given++
		}
	}
	switch {
	case given > 1:
		c.Refuse("source", "has several sources; set only one of file, url, table and list")
	case given == 0 && s.To == 0:
		c.Refuse("to", "is missing; set the number of items, or set a source")
	}
	c.Text("source.file", s.Source.File)
	c.URL("source.url", s.Source.URL)
	if t := s.Source.Table; t != nil {
		c.Name("source.table.database", t.Database, fairlead.MaxName)
		c.Name("source.table.name", t.Name, fairlead.MaxName)
		c.Name("source.table.key", t.Key, fairlead.MaxName)
	}
	switch {
	case s.From < 0 || s.From > maxIndex:
		c.Refuse("from", "is %d; it must be between 0 and %d", s.From, maxIndex)
	case s.To < 0 || s.To > maxIndex:
		c.Refuse("to", "is %d; it must be between 1 and %d, or zero for all items of the source", s.To, maxIndex)
	case s.To != 0 && s.To <= s.From:
		c.Refuse("to", "is %d; it must be greater than from (%d)", s.To, s.From)
	}
}

// checkFlow checks how much it does at once.
func (s *Sweep) checkFlow(c *complaints) {
	if s.InFlight == 0 {
		s.InFlight = defaultInFlight
	}
	if s.Serial {
		s.InFlight = 1
	}
	if s.Shards == 0 {
		s.Shards = 1
	}
	if s.PerCall == 0 {
		s.PerCall = 1
	}
	if s.InFlight < 1 || s.InFlight > maxInFlight {
		c.Refuse("in_flight", "is %d; it must be between 1 and %d", s.InFlight, maxInFlight)
	}
	if math.IsNaN(s.Rate) || s.Rate < 0 || s.Rate > fairlead.MaxRate {
		c.Refuse("rate", "is %v; it must be between 0 (unlimited) and %v items per second", s.Rate, fairlead.MaxRate)
	}
	if s.Adaptive && s.Rate == 0 {
		c.Refuse("adaptive", "requires a maximum rate; set rate")
	}
	if s.Shards < 1 || s.Shards > MaxShards {
		c.Refuse("shards", "is %d; it must be between 1 and %d", s.Shards, MaxShards)
	} else if s.Shards > s.InFlight && !s.Serial {
		c.Refuse("shards", "is %d; it must be at most in_flight (%d), because more shards would have nothing to do", s.Shards, s.InFlight)
	}
	if s.Serial && s.Shards > 1 {
		c.Refuse("shards", "is %d; it must be 1 for a serial sweep", s.Shards)
	}
	if s.PerCall < 1 || s.PerCall > maxPerCall {
		c.Refuse("per_call", "is %d; it must be between 1 and %d", s.PerCall, maxPerCall)
	}
	if s.Window == 0 {
		s.Window = min(max(2*s.InFlight, leastWindow), maxWindow)
	}
	if s.Window < s.InFlight || s.Window > maxWindow {
		c.Refuse("window", "is %d; it must be between in_flight (%d) and %d", s.Window, s.InFlight, maxWindow)
	}
}

// checkFailures checks what becomes of items that fail.
func (s *Sweep) checkFailures(c *complaints) {
	if s.Attempts == 0 {
		s.Attempts = defaultAttempts
	}
	if s.Attempts < 1 || s.Attempts > maxItemAttempts {
		c.Refuse("attempts", "is %d; it must be between 1 and %d", s.Attempts, maxItemAttempts)
	}
	if s.Backoff == 0 {
		s.Backoff = defaultBackoff
	}
	if s.Backoff < time.Millisecond || s.Backoff > check.MaxPause {
		c.Refuse("backoff", "is %v; it must be between 1ms and %v", s.Backoff, check.MaxPause)
	}
	if s.Timeout < 0 || s.Timeout > check.MaxPause {
		c.Refuse("timeout", "is %v; it must be between 1ms and %v, or zero for the handler's default", s.Timeout, check.MaxPause)
	}
	if s.Budget == (Budget{}) {
		s.Budget.Items = defaultBudget
	}
	if s.Budget.Items < 0 {
		c.Refuse("error_budget.items", "is %d; it must be positive, or zero if percent or per_minute is set", s.Budget.Items)
	}
	if s.Budget.PerMinute < 0 {
		c.Refuse("error_budget.per_minute", "is %d; it must be positive, or zero for no limit", s.Budget.PerMinute)
	}
	if math.IsNaN(s.Budget.Percent) || s.Budget.Percent < 0 || s.Budget.Percent > 100 {
		c.Refuse("error_budget.percent", "is %v; it must be between 0 (no limit) and 100", s.Budget.Percent)
	}
	switch s.OnExhausted {
	case "":
		s.OnExhausted = ExhaustedAbandon
	case ExhaustedAbandon, ExhaustedStop:
	default:
		c.Refuse("on_exhausted", "is %q; it must be abandon or stop", s.OnExhausted)
	}
}
