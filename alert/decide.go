package alert

import (
	"time"

	"github.com/fairlead-io/fairlead"
)

// A View is the input to one evaluation of the alert rules.
type View struct {
	Now    time.Time
	Keep   time.Time // slices from this time on are checked again
	Counts []Count
	Usage  fairlead.UsageReport
	// Ahead reports that there are more events to count before Now. Messages are postponed
	// until those are counted, so that one message covers all of them.
	Ahead bool
}

// Decide evaluates the rule. It returns the rule's new standing and the occasions to report.
// It is a pure function.
func (w Watched) Decide(view View) (Standing, []Occasion) {
	d := decision{rule: &w.Rule, view: view, standing: w.Standing}
	d.count(Failed, &d.standing.Failed)
	d.count(Missed, &d.standing.Missed)
	d.backlog(&d.standing.Backlog)
	return d.standing, d.occasions
}

type decision struct {
	rule      *Rule
	view      View
	standing  Standing
	occasions []Occasion
}

// count adds up the occurrences of an event, and reports them when a message is due.
func (d *decision) count(event Event, tally *Tally) {
	if !d.rule.tells(event) {
		*tally = Tally{}
		return
	}
	tally.add(slicesOf(d.rule, event, d.view.Counts), d.view.Now, d.view.Keep)
	if d.view.Ahead || !tally.due(d.rule, d.view.Now) {
		return
	}
	o, pending := d.occasion(event), tally.Pending
	o.Count, o.Groups, o.Since, o.from = &pending, tally.Groups, alertTime(tally.From), tally.From
	d.occasions = append(d.occasions, o)
	tally.sent(d.view.Now)
}

// backlog reports that ready jobs wait too long, and later that the backlog is gone.
func (d *decision) backlog(wait *Wait) {
	if !d.rule.tells(Backlog) {
		*wait = Wait{}
		return
	}
	usage := d.rule.Scope.usage(d.view.Usage)
	late := usage.Ready > 0 && usage.OldestWait >= d.rule.Backlog
	switch {
	case d.view.Ahead || late == wait.Open:
		return
	case late && !passed(wait.SentAt, d.rule.Quiet, d.view.Now):
		return // the backlog comes and goes, and the last message is recent
	}
	event := Recovered
	if late {
		event, wait.SentAt = Backlog, d.view.Now
	}
	wait.Open = late
	oldest, bound := seconds(usage.OldestWait), seconds(d.rule.Backlog)
	o := d.occasion(event)
	o.Ready, o.OldestWait, o.Backlog = &usage.Ready, &oldest, &bound
	d.occasions = append(d.occasions, o)
}

func (d *decision) occasion(event Event) Occasion {
	return Occasion{Event: event, Alert: d.rule.Name, Scope: d.rule.Scope, At: *alertTime(d.view.Now)}
}
