package console

import (
	"google.golang.org/protobuf/types/known/durationpb"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// setSweep changes the edited settings of a sweep. If two users have the form open, the
// second one gets an error with the first one's changes.
func setSweep(v *visit) (done, error) {
	f := v.fields()
	change := &fairleadv1.Sweep{Ref: v.Value("id"), Version: f.number("version")}
	f.setFlow(change)
	f.setFailures(change)
	if f.edited("priority") {
		change.Priority = new(f.integer("priority"))
	}
	if err := f.err(); err != nil {
		return done{}, err
	}
	s, err := v.sweeps.PatchSweep(v.ctx, change)
	return done{Notice: v.T("The settings of sweep %s were changed.", s.GetName())}, err
}

// setFlow sets the rate and the concurrency of a sweep.
func (p *parameters) setFlow(change *fairleadv1.Sweep) {
	if p.edited("rate") {
		change.Rate = new(p.decimal("rate"))
	}
	if p.edited("adaptive") {
		change.Adaptive = new(p.ticked("adaptive"))
	}
	for name, field := range map[string]**int32{"in_flight": &change.InFlight, "window": &change.Window, "shards": &change.Shards, "per_call": &change.PerCall} {
		if p.edited(name) {
			*field = new(p.count(name))
		}
	}
}

// setFailures sets the handling of failed items.
func (p *parameters) setFailures(change *fairleadv1.Sweep) {
	if p.edited("attempts") {
		change.Attempts = new(p.count("attempts"))
	}
	for name, field := range map[string]**durationpb.Duration{"backoff": &change.Backoff, "timeout": &change.Timeout} {
		if !p.edited(name) {
			continue
		}
		if *field = p.span(name); *field == nil {
			change.Clear = append(change.Clear, name)
		}
	}
	if p.edited("on_exhausted") {
		change.OnExhausted = new(p.choice("on_exhausted", "abandon", "stop"))
	}
	if p.edited("budget_items") || p.edited("budget_percent") || p.edited("budget_per_minute") {
		change.ErrorBudget = &fairleadv1.ErrorBudget{
			Items: int64(p.count("budget_items")), Percent: p.decimal("budget_percent"), PerMinute: int64(p.count("budget_per_minute")),
		}
	}
}

// Exhausted returns the choices for an item without attempts left.
func (v *visit) Exhausted() []option {
	return []option{{"abandon", v.T("the item fails and counts against the error budget")}, {"stop", v.T("the sweep stops")}}
}
