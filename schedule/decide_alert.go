package schedule

import (
	"time"

	"github.com/fairlead-io/fairlead"
)

// mostCounted is how many missed instants are counted.
const mostCounted = 1000

// alertEnded decides who is told of the runs that have ended.
func (d *decision) alertEnded() {
	a, st := d.schedule.Alert, &d.plan.Standing
	if a == nil {
		*st = Standing{}
		return
	}
	for _, run := range d.view.Ended {
		switch run.State {
		case fairlead.Failed:
			st.Failures++
			if a.tells(AlertFailure) && d.quietSince(&st.FailedAt) {
				d.alert(occasionOf(AlertFailure, d.schedule, d.view.Now).about(run, st.Failures))
				st.Told = true
			}
			if a.tells(AlertFailures) && st.Failures == a.Failures {
				d.alert(occasionOf(AlertFailures, d.schedule, d.view.Now).about(run, st.Failures))
				st.Told = true
			}
		case fairlead.Succeeded:
			if a.tells(AlertRecovery) && d.worthTelling() {
				d.alert(occasionOf(AlertRecovery, d.schedule, d.view.Now).about(run, st.Failures))
			}
			st.Failures, st.Told = 0, false
		default: // it says nothing of whether the next one will succeed
		}
	}
}

// worthTelling tells whether a success is news. The end of failures is not reported
// that were not told of, unless all that is wanted is to hear of their end.
func (d *decision) worthTelling() bool {
	a, st := d.schedule.Alert, &d.plan.Standing
	if st.Failures == 0 || a.tells(AlertFailure) || a.tells(AlertFailures) {
		return st.Told
	}
	return d.quietSince(&st.FailedAt)
}

// alertMissed decides whether missed instants are reported.
func (d *decision) alertMissed(t *Timing, missed span, caughtUp int) {
	a := d.schedule.Alert
	if a == nil || missed.before.IsZero() || !a.tells(AlertMissed) || !d.quietSince(&d.plan.Standing.MissedAt) {
		return
	}
	count, from := 1, alertTime(missed.from)
	for due := t.Next(missed.from); !due.IsZero() && due.Before(missed.before) && count < mostCounted; due = t.Next(due) {
		count++
	}
	o := occasionOf(AlertMissed, d.schedule, d.view.Now)
	o.Missed, o.MissedFrom, o.RunLater, o.Failures = &count, &from, &caughtUp, d.plan.Standing.Failures
	d.alert(o)
}

// quietSince tells whether nobody was told for a while, and notes that somebody is
// now.
func (d *decision) quietSince(told *time.Time) bool {
	if !told.IsZero() && d.view.Now.Before(told.Add(d.schedule.Alert.Quiet)) {
		return false
	}
	*told = d.view.Now
	return true
}

func (d *decision) alert(o occasion) {
	d.plan.Alerts = append(d.plan.Alerts, d.schedule.alertJob(o))
}
