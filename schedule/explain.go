package schedule

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
)

// errOnlyAsked undoes what a decision would do.
var errOnlyAsked = errors.New("only asked")

// anyLateness makes an instant count that is acted upon late.
const anyLateness = 365 * 24 * time.Hour

// Explain reports when a schedule is due, what happens at its next instant if the states of
// its runs do not change, and why its runs are not running. It makes the same decision as a
// node would at that instant, and then rolls back. Like a node, it waits for other
// transactions that act on the schedule. Explain returns ErrNotFound if the schedule does
// not exist.
func (c *Client) Explain(ctx context.Context, id int64) (fairlead.Situation, error) {
	var asked situation
	_, err := c.store.Act(ctx, id, func(s Schedule, v View) (Plan, error) {
		asked = situation{Schedule: s, view: v}
		asked.decide()
		return Plan{}, errOnlyAsked
	})
	if !errors.Is(err, errOnlyAsked) {
		return fairlead.Situation{}, err
	}
	s := fairlead.Situation{ID: id, Name: asked.Name, State: "enabled", At: asked.view.Now, Reasons: asked.reasons()}
	if asked.Disabled {
		s.State = "disabled"
	}
	var idle, running []int64
	for _, run := range asked.view.Active {
		if run.State == fairlead.Running {
			running = append(running, run.Job)
		} else {
			idle = append(idle, run.Job)
		}
	}
	s.Jobs, err = fairlead.ExplainSome(ctx, c.store.Explain, append(idle, running...))
	return s, err
}

// situation is a schedule and what would be decided about it at its next instant.
type situation struct {
	Schedule
	view View
	plan Plan
	err  error
}

func (s *situation) decide() {
	then := s.view
	if s.FireAt.After(then.Now) {
		then.Now = s.FireAt
	}
	s.plan, s.err = s.Decide(then, anyLateness)
}

// reasons are what keeps the schedule from making runs.
func (s *situation) reasons() []fairlead.Obstacle {
	switch {
	case s.err != nil:
		return []fairlead.Obstacle{{Code: fairlead.IsBroken, Text: s.err.Error()}}
	case s.Disabled && s.Reason != "":
		return []fairlead.Obstacle{{Code: fairlead.IsDisabled, Text: "it is disabled: " + s.Reason}}
	case s.Disabled:
		return []fairlead.Obstacle{{Code: fairlead.IsDisabled, Text: "it is disabled"}}
	case s.FireAt.IsZero() && s.Delay > 0:
		return []fairlead.Obstacle{{Code: fairlead.NotDue, Text: fmt.Sprintf("it is due %v after its run has ended", s.Delay)}}
	case s.FireAt.IsZero():
		return []fairlead.Obstacle{{Code: fairlead.HasEnded, Text: "it will not fire again"}}
	}
	due := s.Due.UTC().Format(time.RFC3339)
	found := []fairlead.Obstacle{{Code: fairlead.NotDue, Until: s.FireAt, Text: "its next fire is due " + due}}
	if !s.FireAt.After(s.view.Now) {
		found[0] = fairlead.Obstacle{Code: fairlead.NoNode, Text: "its fire was due " + due + ", but no node has acted on it yet"}
	}
	for _, fire := range s.plan.Fires {
		if !fire.Due.Equal(s.Due) {
			continue
		}
		if o, hindered := s.outcome(fire); hindered {
			found = append(found, o)
		}
	}
	return found
}

// outcome says why the next instant will make no run that begins at once, if its runs
// stay as they are.
func (s *situation) outcome(fire PlannedFire) (fairlead.Obstacle, bool) {
	active := 0
	for _, run := range s.view.Active {
		if !run.Queued {
			active++
		}
	}
	skip := func(why string) (fairlead.Obstacle, bool) {
		return fairlead.Obstacle{Code: fairlead.WillSkip, Used: active, Cap: s.MaxConcurrency, Text: "this fire will be skipped unless something changes: " + why}, true
	}
	switch {
	case fire.Skip == SkipOverlap:
		return skip("an earlier run has not ended")
	case fire.Skip == SkipFailure:
		return skip("the last run has failed")
	case fire.Skip == SkipConcurrency:
		return skip(fmt.Sprintf("%d of %d runs are active", active, s.MaxConcurrency))
	case fire.Queued:
		return fairlead.Obstacle{Code: fairlead.WillQueue, Used: active, Cap: s.MaxConcurrency, Text: fmt.Sprintf("its run will wait unless something changes: %d of %d runs are active", active, s.MaxConcurrency)}, true
	}
	return fairlead.Obstacle{}, false
}
