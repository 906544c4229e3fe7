package fairlead

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// WhatIf asks which jobs would start next if limits and tenants were other than they are.
type WhatIf struct {
	Changes []RuleChange // made in this order; none: how things are
	Slots   int          // how many jobs could start; zero means DefaultForecast
	Tenants []string     // whose starts and waits are told; nil: those of all
}

// RuleChange is what would be saved: one of its fields is set.
type RuleChange struct {
	Limit  *Limit  // as for SetLimit
	Tenant *Tenant // as for PutTenant
}

// Bounds of a Forecast.
const (
	DefaultForecast = 50
	MaxForecast     = 200 // starts
	MaxChanges      = 100 // of one question
	MaxWaits        = 200 // that are listed
)

// Forecast compares which jobs would start now, as things are and with some changes.
//
// It is what the code of a claim chooses from the present state, if so many slots were
// free: all live nodes that start jobs are taken for one node that serves what they
// serve. Each start counts against the caps and rates that hold for the next. Where tenants
// share starts, they have had what the node of this process that claimed last knows of;
// a process without such a node takes them as level, as a node that joins does.
//
// It does not foresee jobs that end, become due or are enqueued, and it knows no
// bounds that single nodes have for kinds. Jobs that are parked stay parked, also if PerKey
// of their kind changes. Crash suspects are claimed apart, and are not part of it.
type Forecast struct {
	At     time.Time // the database's clock
	Slots  int       // how many jobs could start
	Idle   int       // slots that live nodes have free, as of their last beats
	Before Outlook
	After  Outlook
	Waits  []ForecastWait // where jobs are ready: those that get later first, then those that get sooner; at most MaxWaits
	Later  int            // how many get later, listed or not
	Sooner int
	Text   []string // the most of that for people; a store leaves all to its Client but what it alone knows
}

// Outlook is what would start under some rules.
type Outlook struct {
	Starts []ForecastStart // in the order in which they are chosen
	Token  time.Time       // when a rate allows the next start that nothing else holds back; zero: none waits for that
}

// ForecastStart is a job that would start.
type ForecastStart struct {
	Job      int64
	Queue    string
	Tenant   string
	Kind     string
	Priority int
	StartBy  time.Time
}

// ForecastWait is what becomes of the ready jobs of one queue, tenant and kind.
type ForecastWait struct {
	Queue  string
	Tenant string
	Kind   string
	Effect Effect
	Before WaitOutlook
	After  WaitOutlook
}

// WaitOutlook is what becomes of them under some rules.
type WaitOutlook struct {
	Starts int        // of them, among those that start
	First  int        // place of the first of these among all that start, from 1; zero: none starts
	Held   []Obstacle // what holds back the first that does not start; none: only that others go first, or that there is no such job
}

// Effect is what a change does to jobs.
type Effect string

// The effects.
const (
	NoEffect   Effect = ""
	GetsLater  Effect = "later"  // fewer of them start, or the first of them later, or something new holds them back
	GetsSooner Effect = "sooner" // the reverse
)

// WhatIf compares which jobs would start now, as things are and with some changes, which
// are not made. It fails as saving them would: with ErrInvalid, ErrConflict or ErrNotFound.
// Fields of several changes are named with their place, as changes[1].max_running.
func (c *Client) WhatIf(ctx context.Context, question WhatIf) (Forecast, error) {
	if err := NormalizeWhatIf(&question); err != nil {
		return Forecast{}, err
	}
	forecast, err := c.store.WhatIf(ctx, question)
	if err != nil {
		return Forecast{}, err
	}
	forecast.Text = append(forecast.sentences(), forecast.Text...)
	return forecast, nil
}

// NormalizeWhatIf fills in the defaults of a question, and returns an *InvalidError that
// names every field that could not be saved. What it is given is not changed.
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

// InChange adds to the fields of an *InvalidError to which of several changes they belong.
// Those of a single change are named as when it is saved.
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

// MoveChanges renames the fields of an *InvalidError of which several changes were asked
// about: the change i of them was the change places[i] of the caller's.
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
