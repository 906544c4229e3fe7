package schedule

import (
	"time"

	"github.com/fairlead-io/fairlead"
)

// mostCounted is how many missed instants are counted.
const mostCounted = 1000

// alertEnded decides which alerts are sent because of the runs that have ended.
func (d *decision) alertEnded() {
	a, st := d.schedule.Alert, &d.plan.Standing
	if a == nil {
		*st = Standing{Chosen: st.Chosen}
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

// worthTelling reports whether a success is news: it ends failures that were reported, or
// the alert asks only for the end of failures.
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

// quietSince reports whether the last alert of its sort is older than the time between
// two. If so, it notes that one is sent now.
func (d *decision) quietSince(last *time.Time) bool {
	if !last.IsZero() && d.view.Now.Before(last.Add(d.schedule.Alert.Quiet)) {
		return false
	}
	*last = d.view.Now
	return true
}

func (d *decision) alert(o occasion) {
	d.plan.Alerts = append(d.plan.Alerts, d.schedule.alertJob(o))
}
