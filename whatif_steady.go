package fairlead

import (
	"context"
	"fmt"
	"strconv"
	"time"
)

// SteadyState estimates whether a limit keeps up with its jobs: arrivals times duration,
// compared with the cap, and starts compared with the rate. It describes the recent past,
// not the jobs that are waiting now. A utilization above 1 means that the backlog grows for
// as long as jobs continue to arrive at this pace.
type SteadyState struct {
	Scope    LimitScope    // scope of the changed limit
	Name     string        // name of the queue, kind or tenant; empty for the global limit
	Window   time.Duration // period in which the arriving jobs were counted, until now
	Arrivals float64       // jobs per second that arrived in Window
	More     bool          // counting stopped early: Arrivals and everything derived from it are lower bounds
	Sample   int           // number of recently finished jobs from which Attempts and Duration were taken
	Attempts float64       // mean number of attempts of a job
	Duration time.Duration // mean duration of an attempt
	Running  float64       // jobs that run at once on average: Arrivals × Attempts × Duration; zero if Sample is zero
	Before   float64       // utilization of the current cap or rate, whichever is higher; zero without a cap or rate
	After    float64       // utilization of the changed cap or rate, whichever is higher; zero without a cap or rate
}

// Bounds of a steady state.
const (
	maxSteadyStates = 10     // changes of one question that have one
	maxArrivals     = 10_000 // jobs that are counted in a window
	maxFinished     = 50     // finished jobs that are read
	familyPage      = 1000   // tenants that one query reads
)

// steadyWindows are the periods in which arrivals are counted: the first one that does not
// have too many jobs, or else the last.
var steadyWindows = []time.Duration{time.Hour, 5 * time.Minute, time.Minute}

// steadyStates estimates the steady states of the changed limits.
func (c *Client) steadyStates(ctx context.Context, changes []RuleChange, at time.Time) (all []SteadyState, err error) {
	for _, change := range changes {
		before, after, err := c.changedLimit(ctx, change)
		if err != nil {
			return nil, err
		}
		if !before.bounds() && !after.bounds() {
			continue
		}
		state, known, err := c.steadyState(ctx, before, after, at)
		if err != nil {
			return nil, err
		}
		if known {
			all = append(all, state)
		}
		if len(all) == maxSteadyStates {
			break
		}
	}
	return all, nil
}

// bounds reports whether the limit has a cap or a rate.
func (l *Limit) bounds() bool { return l.MaxRunning > 0 || l.Rate > 0 }

// changedLimit returns the limit of a change as it is stored, and as it would be.
func (c *Client) changedLimit(ctx context.Context, change RuleChange) (before, after Limit, err error) {
	if change.Limit == nil {
		after = change.Tenant.Limit()
		found, err := c.store.Tenants(ctx, TenantFilter{Names: []string{after.Name}})
		if err != nil || len(found) == 0 {
			return before, after, err
		}
		return found[0].Limit(), after, nil
	}
	after = *change.Limit
	limits, err := c.store.Limits(ctx)
	for _, limit := range limits {
		if limit.Scope == after.Scope && limit.Name == after.Name {
			before = limit.Limit
		}
	}
	return before, after, err
}

// steadyState measures the jobs of a limit. It returns false if too little is known.
func (c *Client) steadyState(ctx context.Context, before, after Limit, at time.Time) (SteadyState, bool, error) {
	state := SteadyState{Scope: after.Scope, Name: after.Name}
	filter, err := c.jobsUnder(ctx, after)
	if err == nil {
		err = c.countArrivals(ctx, &state, filter, at)
	}
	if err == nil && state.Arrivals > 0 {
		err = c.measureRuns(ctx, &state, filter, at)
	}
	if err != nil {
		return state, false, err
	}
	state.Before, state.After = state.utilization(before), state.utilization(after)
	return state, state.Before > 0 || state.After > 0, nil
}

// jobsUnder returns a filter for the jobs that a limit counts.
func (c *Client) jobsUnder(ctx context.Context, limit Limit) (filter Filter, err error) {
	switch limit.Scope {
	case LimitQueue:
		filter.Queues = []string{limit.Name}
	case LimitKind:
		filter.Kinds = []string{limit.Name}
	case LimitTenant:
		filter.Tenants, err = c.family(ctx, limit.Name)
	case LimitGlobal:
	}
	return filter, err
}

// family returns a tenant and its children, whose jobs count against the limit of their
// parent.
func (c *Client) family(ctx context.Context, name string) ([]string, error) {
	family, page := []string{name}, TenantFilter{Limit: familyPage}
	for {
		tenants, err := c.store.Tenants(ctx, page)
		if err != nil {
			return nil, err
		}
		for _, tenant := range tenants {
			if tenant.Parent == name {
				family = append(family, tenant.Name)
			}
		}
		if len(tenants) < page.Limit {
			return family, nil
		}
		page.After = tenants[len(tenants)-1].Name
	}
}

// countArrivals counts the jobs that were created recently and are due.
func (c *Client) countArrivals(ctx context.Context, state *SteadyState, filter Filter, at time.Time) error {
	for _, window := range steadyWindows {
		filter.From = at.Add(-window)
		count, err := c.store.TallyUpTo(ctx, filter, maxArrivals)
		if err != nil {
			return err
		}
		jobs := count.Total() - count.States[Scheduled] - count.States[Skipped]
		state.Window, state.Arrivals, state.More = window, float64(jobs)/window.Seconds(), count.More
		if !count.More {
			return nil
		}
	}
	return nil
}

// measureRuns measures the jobs that finished recently.
func (c *Client) measureRuns(ctx context.Context, state *SteadyState, filter Filter, at time.Time) error {
	filter.States, filter.FinishedFrom, filter.Limit = []State{Succeeded, Failed}, at.Add(-steadyWindows[0]), maxFinished
	page, err := c.store.FindPage(ctx, filter)
	if err != nil {
		return err
	}
	total, attempts := time.Duration(0), 0
	for _, job := range page.Jobs {
		if job.StartedAt.IsZero() || job.FinishedAt.Before(job.StartedAt) {
			continue
		}
		state.Sample++
		attempts += max(1, job.Attempt)
		total += job.FinishedAt.Sub(job.StartedAt)
	}
	if state.Sample > 0 {
		state.Attempts = float64(attempts) / float64(state.Sample)
		state.Duration = total / time.Duration(state.Sample)
		state.Running = state.Arrivals * state.Attempts * state.Duration.Seconds()
	}
	return nil
}

// utilization compares the jobs with a cap and a rate. Without a sample, only the rate of
// first attempts is known.
func (s *SteadyState) utilization(limit Limit) (highest float64) {
	if limit.MaxRunning > 0 {
		highest = s.Running / float64(limit.MaxRunning)
	}
	if limit.Rate > 0 {
		highest = max(highest, s.Arrivals*max(1, s.Attempts)/limit.Rate)
	}
	return highest
}

// sentence summarizes the steady state for people.
func (s *SteadyState) sentence() string {
	limit := Limit{Scope: s.Scope, Name: s.Name}
	least := ""
	if s.More {
		least = "at least "
	}
	text := fmt.Sprintf("steady state of %s: %s%s jobs per second arrived in the last %d min", limit.subject(), least, threeDigits(s.Arrivals), int(s.Window.Minutes()))
	if s.Sample > 0 {
		text += fmt.Sprintf(" and ran for %v on average, so about %s run at once", s.Duration.Round(time.Millisecond), threeDigits(s.Running))
	}
	text += fmt.Sprintf("; that is %s now and %s after the change", utilized(s.Before), utilized(s.After))
	if s.After > 1 {
		text += ", so the backlog would grow"
	}
	return text
}

func utilized(part float64) string {
	if part == 0 {
		return "without a limit"
	}
	return threeDigits(100*part) + " % of the limit"
}

// threeDigits formats a number with about three significant digits.
func threeDigits(x float64) string {
	decimals := 2
	switch {
	case x >= 100:
		decimals = 0
	case x >= 10:
		decimals = 1
	}
	return strconv.FormatFloat(x, 'f', decimals, 64)
}
