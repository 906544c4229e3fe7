package schedule_test

import (
	"slices"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/schedule"
)

// explained asks how a schedule stands and expects these reasons, in order.
func (p *planning) explained(s schedule.Schedule, want ...fairlead.ObstacleCode) fairlead.Situation {
	p.Helper()
	found, err := p.client.Explain(p.Context(), s.ID)
	p.ok(err)
	var got []fairlead.ObstacleCode
	for _, o := range found.Reasons {
		got = append(got, o.Code)
	}
	if !slices.Equal(got, want) {
		p.Fatalf("got %+v, want %v", found, want)
	}
	return found
}

func TestAScheduleSaysWhatBecomesOfItsNextInstant(t *testing.T) {
	for name, c := range map[string]struct {
		schedule schedule.Schedule
		want     fairlead.ObstacleCode
	}{
		"it skips":   {schedule.Schedule{Overlap: schedule.OverlapSkip}, fairlead.WillSkip},
		"it queues":  {schedule.Schedule{MaxConcurrency: 1, Concurrency: schedule.ConcurrencyQueue, QueueDepth: 1}, fairlead.WillQueue},
		"it is full": {schedule.Schedule{MaxConcurrency: 1, Concurrency: schedule.ConcurrencySkip}, fairlead.WillSkip},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlanning(t)
			c.schedule.Name, c.schedule.Every, c.schedule.Job = "s", time.Hour, fairlead.Job{Kind: "k"}
			s := p.put(c.schedule)
			if due := p.explained(s, fairlead.NotDue).Reasons[0].Until; !due.After(p.now) {
				t.Errorf("its next instant is %v", due)
			}
			run, err := p.client.Trigger(t.Context(), s.ID, nil)
			p.ok(err)
			why := p.explained(s, fairlead.NotDue, c.want)
			if len(why.Jobs) != 1 || why.Jobs[0].ID != run.Job || why.Jobs[0].Obstacles[0].Code != fairlead.NoNode {
				t.Errorf("its run does not run because of %+v", why.Jobs)
			}
			if fires, err := p.client.Fires(t.Context(), schedule.FireFilter{Schedule: s.ID}); err != nil || len(fires) != 1 {
				t.Errorf("asking made runs: %v, %v", fires, err)
			}
		})
	}
}

func TestAScheduleThatIsDisabledSaysWhy(t *testing.T) {
	p := newPlanning(t)
	s := p.put(schedule.Schedule{Name: "s", Every: time.Hour, Job: fairlead.Job{Kind: "k"}, Disabled: true, Reason: "holidays"})
	if why := p.explained(s, fairlead.IsDisabled); why.State != "disabled" || why.Reasons[0].Text != "it is disabled: holidays" {
		t.Errorf("got %+v", why)
	}
	once := p.put(schedule.Schedule{Name: "once", At: p.now.Add(-time.Hour), Job: fairlead.Job{Kind: "k"}})
	p.explained(once, fairlead.NoNode)
}
