package alert

import (
	"context"
	"reflect"
	"time"

	"github.com/fairlead-io/fairlead"
)

const (
	// mostAtOnce limits the period whose events one statement counts. Only after all nodes
	// have been idle for long is there a longer period to count.
	mostAtOnce = 10 * time.Minute
	// restPerJob is added to the delay before the next check for each job that this check
	// counted. It limits the share of database time that checks use.
	restPerJob = 50 * time.Microsecond
	// mostRest limits that delay: failed jobs must be counted before they are removed, see
	// fairlead.RemoveAfter.
	mostRest = fairlead.RemoveAfter / 2
)

// A Source provides the database operations that Look needs.
type Source interface {
	Store
	FindPage(ctx context.Context, filter fairlead.Filter) (fairlead.Page, error)
	Usage(ctx context.Context) (fairlead.UsageReport, error)
	Confidential(ctx context.Context) (fairlead.Confidential, error)
}

// Sent describes a message that Look has stored.
type Sent struct {
	Rule  string
	Event Event
	Count int64 // number of jobs; zero for a backlog
}

// Look checks for new events and stores messages that report them. It does nothing if
// another node is checking, or if the last check began less than every ago. Many nodes may
// call it concurrently.
func Look(ctx context.Context, source Source, every time.Duration) ([]Sent, error) {
	turn, taken, err := source.TakeLook(ctx, every)
	if err != nil || !taken {
		return nil, err
	}
	l := look{source: source, turn: turn}
	if l.any(Backlog) {
		if l.usage, err = source.Usage(ctx); err != nil {
			return nil, err
		}
	}
	for from := l.begin(); ; {
		to := from.Add(mostAtOnce)
		ahead := to.Before(turn.Now)
		if !ahead {
			to = turn.Now.Truncate(Bucket).Add(Bucket)
		}
		ended, err := l.span(ctx, from, to, ahead)
		if err != nil || !ended || !ahead {
			return l.sent, err
		}
		from = l.turn.Seen
	}
}

// look is the state of one check.
type look struct {
	source Source
	turn   Turn
	usage  fairlead.UsageReport
	sent   []Sent
}

func (l *look) any(events ...Event) bool {
	for _, rule := range l.turn.Rules {
		for _, event := range events {
			if rule.tells(event) {
				return true
			}
		}
	}
	return false
}

// begin returns the first bucket that may contain new events. It skips events older than
// every rule. After the clock moves backwards, it includes events that are new by the
// current clock.
func (l *look) begin() time.Time {
	first := l.turn.Rules[0].CreatedAt
	for _, rule := range l.turn.Rules {
		if rule.CreatedAt.Before(first) {
			first = rule.CreatedAt
		}
	}
	if l.turn.Seen.After(first) {
		first = l.turn.Seen
	}
	if latest := l.turn.Now.Add(-overlap); first.After(latest) && l.turn.Seen.After(latest) {
		first = latest
	}
	return first.Truncate(Bucket)
}

// span counts the events of a period, decides for each rule what to report, and stores the
// result. It returns false if another node has started a check since.
func (l *look) span(ctx context.Context, from, to time.Time, ahead bool) (bool, error) {
	view := View{Now: l.turn.Now, Usage: l.usage, Ahead: ahead, Keep: to.Add(-overlap - Bucket)}
	if l.any(Failed, Missed) {
		var err error
		if view.Counts, err = l.source.AlertCounts(ctx, from, to); err != nil {
			return false, err
		}
	}
	found := Found{Version: l.turn.Version, Seen: view.Keep}
	var sent []Sent
	for i := range l.turn.Rules {
		rule := &l.turn.Rules[i]
		standing, occasions := rule.Decide(view)
		if !reflect.DeepEqual(standing, rule.Standing) {
			rule.Standing = standing
			found.Standings = append(found.Standings, *rule)
		}
		for _, o := range occasions {
			if err := l.exemplify(ctx, rule, &o); err != nil {
				return false, err
			}
			found.Messages = append(found.Messages, rule.message(o))
			one := Sent{Rule: rule.Name, Event: o.Event}
			if o.Count != nil {
				one.Count = *o.Count
			}
			sent = append(sent, one)
		}
	}
	for _, count := range view.Counts {
		found.Rest += time.Duration(count.Jobs) * restPerJob
	}
	found.Rest = min(found.Rest, mostRest)
	if err := fairlead.NormalizeJobs(found.Messages); err != nil {
		return false, err
	}
	ended, err := l.source.EndLook(ctx, found)
	if err != nil || !ended {
		return false, err
	}
	l.turn.Version, l.turn.Seen = l.turn.Version+1, found.Seen
	l.sent = append(l.sent, sent...)
	return true, nil
}

// exemplify adds examples of the failed jobs to an occasion.
func (l *look) exemplify(ctx context.Context, rule *Watched, o *Occasion) error {
	if o.Event != Failed {
		return nil
	}
	filter := rule.Scope.filter()
	filter.States, filter.FinishedFrom, filter.Limit = []fairlead.State{fairlead.Failed}, o.from, mostExamples
	page, err := l.source.FindPage(ctx, filter)
	if err != nil {
		return err
	}
	all, err := l.source.Confidential(ctx)
	if err != nil {
		return err
	}
	for _, job := range page.Jobs {
		if rule.Scope.has(job.Queue, job.Tenant, job.Kind) {
			o.Examples = append(o.Examples, exampleOf(all, job))
		}
	}
	return nil
}
