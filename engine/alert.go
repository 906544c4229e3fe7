package engine

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead/alert"
)

// alertPolls is how many polls are between two looks for what is to be reported, on all
// nodes together.
const alertPolls = 5

// keepAlerting looks for jobs that failed, started too late or wait too long, and reports
// them as the rules of alerts say.
func (l *life) keepAlerting(ctx context.Context) {
	every := alertPolls * l.options.Poll
	l.newLoop("alert", every).run(ctx, func(ctx context.Context) (time.Duration, error) {
		sent, err := alert.Look(ctx, l.alerts, every)
		for _, message := range sent {
			l.log.Warn("jobs need attention: sending an alert", "alert", message.Rule, "event", message.Event, "jobs", message.Count)
		}
		return 0, err
	})
}
