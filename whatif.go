package fairlead

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// WhatIf describes hypothetical changes to limits and tenants. Client.WhatIf returns the
// changes' effect on the next starts.
type WhatIf struct {
	Changes []RuleChange // applied in this order; none means the current rules
	Slots   int          // number of free slots to assume; default DefaultForecast
	Tenants []string     // tenants whose starts and waits are reported; nil means all
}

// RuleChange is one hypothetical change. Exactly one of its fields is set.
type RuleChange struct {
	Limit  *Limit  // as for SetLimit
	Tenant *Tenant // as for PutTenant
}

// Bounds of a Forecast.
const (
	DefaultForecast = 50  // default number of starts
	MaxForecast     = 200 // maximum number of starts
	MaxChanges      = 100 // maximum number of changes in a WhatIf
	MaxWaits        = 200 // maximum number of waits in a Forecast
)

// Forecast compares the jobs that would start now under the current rules with those that
// would start under changed rules. It uses the same code as a claim and the present state,
// as if the given number of slots were free. It treats all live nodes that start jobs as a
// single node that serves everything they serve. Each start counts against the caps and
// rates that apply to the next start. Where tenants share starts, the forecast uses the
// recent starts recorded by the node in this process that claimed last. A process that has
// no node of its own assumes that all tenants have had equal shares, as a newly joined node
// does.
//
// A forecast does not predict which jobs will end, become due or be enqueued. It ignores the
// limits that individual nodes set for kinds. Parked jobs stay parked, even if their kind's
// PerKey changes. The forecast does not include crash suspects, because they are claimed
// separately.
type Forecast struct {
	At     time.Time      // time of the forecast, by the database's clock
	Slots  int            // number of jobs that could start
	Idle   int            // free slots of live nodes at their last beats
	Before Outlook        // under the current rules
	After  Outlook        // under the changed rules
	Waits  []ForecastWait // groups of ready jobs: those that start later first, then those that start earlier; at most MaxWaits
	Later  int            // number of groups that start later, including unlisted ones
	Sooner int            // number of groups that start earlier, including unlisted ones
	Steady []SteadyState  // long-term utilization of changed caps and rates that jobs arrived for; Client.WhatIf adds it
	Text   []string       // human-readable summary; stores add only facts that they alone know, and Client.WhatIf writes the rest
}

// Outlook lists the jobs that would start under a set of rules.
type Outlook struct {
	Starts []ForecastStart // in the order in which the jobs are chosen
	Token  time.Time       // when a rate permits the next start that has no other obstacle; zero if no job waits for a rate
}

// ForecastStart is a job that would start under a set of rules.
type ForecastStart struct {
	Job      int64
	Queue    string
	Tenant   string
	Kind     string
	Priority int
	StartBy  time.Time
}

// ForecastWait describes the changes' effect on the ready jobs of one queue, tenant and
// kind.
type ForecastWait struct {
	Queue  string
	Tenant string
	Kind   string
	Effect Effect      // effect of the changes on these jobs
	Before WaitOutlook // under the current rules
	After  WaitOutlook // under the changed rules
}

// WaitOutlook describes how a group of ready jobs would start under a set of rules.
type WaitOutlook struct {
	Starts int        // number of its jobs that would start
	First  int        // position of the first of its jobs among all starts, counted from 1; zero if none starts
	Held   []Obstacle // obstacles of the first job that would not start; empty if other jobs merely go first, or if all would start
}

// Effect is the changes' effect on a group of jobs.
type Effect string

// The effects of a change.
const (
	NoEffect   Effect = ""       // nothing changes
	GetsLater  Effect = "later"  // fewer of the jobs start, the first of them starts later, or they get a new obstacle
	GetsSooner Effect = "sooner" // the opposite of GetsLater
)

// WhatIf compares the jobs that would start now under the current rules with those that
// would start after the given changes, without applying the changes. It returns the same
// errors as saving the changes: ErrInvalid, ErrConflict or ErrNotFound. With several
// changes, field names include the index of the change, as in changes[1].max_running.
func (c *Client) WhatIf(ctx context.Context, question WhatIf) (Forecast, error) {
	if err := NormalizeWhatIf(&question); err != nil {
		return Forecast{}, err
	}
	forecast, err := c.store.WhatIf(ctx, question)
	if err != nil {
		return Forecast{}, err
	}
	if forecast.Steady, err = c.steadyStates(ctx, question.Changes, forecast.At); err != nil {
		return Forecast{}, err
	}
	forecast.Text = append(forecast.sentences(), forecast.Text...)
	return forecast, nil
}

// NormalizeWhatIf fills in the defaults of question. It returns an *InvalidError that names
// every field that could not be saved. It does not modify the limits and tenants that the
// changes refer to.
func NormalizeWhatIf(question *WhatIf) error {
	var found []FieldError
	refuse := func(field, format string, args ...any) {
		found = append(found, FieldError{Field: field, Message: fmt.Sprintf(format, args...)})
	}
	switch {
	case question.Slots == 0:
		question.Slots = DefaultForecast
	case question.Slots < 0 || question.Slots > MaxForecast:
		refuse("slots", "is %d; it must be from 1 to %d", question.Slots, MaxForecast)
	}
	if len(question.Changes) > MaxChanges {
		refuse("changes", "has %d entries; ask about at most %d at once", len(question.Changes), MaxChanges)
		return Invalid(found...)
	}
	changes, named := make([]RuleChange, len(question.Changes)), map[string]int{}
	for i, change := range question.Changes {
		normalized, name, err := change.normalized()
		if first, twice := named[name]; twice && err == nil {
			refuse(fmt.Sprintf("changes[%d]", i), "changes the same limit or tenant as changes[%d]; give it once", first)
		}
		changes[i], named[name] = normalized, i
		var invalid *InvalidError
		if errors.As(InChange(i, len(changes), err), &invalid) {
			found = append(found, invalid.Fields...)
		}
	}
	question.Changes = changes
	return Invalid(found...)
}

// normalized returns the change as it would be saved, and what it is about.
func (c RuleChange) normalized() (RuleChange, string, error) {
	switch {
	case c.Limit != nil && c.Tenant == nil:
		limit := *c.Limit
		err := NormalizeLimit(&limit)
		return RuleChange{Limit: &limit}, string(limit.Scope) + ":" + limit.Name, err
	case c.Tenant != nil && c.Limit == nil:
		tenant := *c.Tenant
		err := NormalizeTenant(&tenant)
		return RuleChange{Tenant: &tenant}, string(LimitTenant) + ":" + tenant.Name, err
	}
	return c, "", &InvalidError{Fields: []FieldError{{Field: "change", Message: "must have either a limit or a tenant"}}}
}

// InChange adds the index of a change to the field names in an *InvalidError: with several
// changes, a field of change place is named changes[place].field. With a single change, the
// fields keep the names that saving the change would use.
func InChange(place, of int, err error) error {
	var invalid *InvalidError
	if of == 1 || !errors.As(err, &invalid) {
		return err
	}
	fields := make([]FieldError, len(invalid.Fields))
	for i, field := range invalid.Fields {
		fields[i] = FieldError{Field: fmt.Sprintf("changes[%d].%s", place, field.Field), Message: field.Message}
	}
	return &InvalidError{Fields: fields}
}

// MoveChanges maps the fields of an *InvalidError about a subset of changes back to the
// caller's list. Index i in the subset is index places[i] in that list.
func MoveChanges(places []int, err error) error {
	var invalid *InvalidError
	if !errors.As(err, &invalid) {
		return err
	}
	fields := slices.Clone(invalid.Fields)
	for i := range fields {
		var place int
		if n, _ := fmt.Sscanf(fields[i].Field, "changes[%d]", &place); n == 1 && place < len(places) {
			_, rest, _ := strings.Cut(fields[i].Field, "]")
			fields[i].Field = fmt.Sprintf("changes[%d]%s", places[place], rest)
		}
	}
	return &InvalidError{Fields: fields}
}
