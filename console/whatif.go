package console

import (
	"errors"
	"net/http"
	"regexp"

	"connectrpc.com/connect"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// foreseen is the forecast for saving a form, compared with not saving it.
type foreseen struct {
	*fairleadv1.WhatIfResponse
	Starts []foreseenStart
	Moved  []*fairleadv1.ForecastWait // jobs that would start later or earlier
}

// foreseenStart is a position among the jobs that start next, with the jobs before and
// after the change.
type foreseenStart struct {
	Place         int
	Before, After *fairleadv1.ForecastStart // nil = none
}

// Same reports whether the same job has the position in both cases.
func (s foreseenStart) Same() bool {
	return s.Before.GetJob() == s.After.GetJob()
}

const (
	foreseenStarts   = 12 // maximum number shown; more are compared
	foreseenWaits    = 12
	foreseenInstants = 10
)

// foresee shows a form again with a forecast for saving it. It saves nothing.
func (c *Console) foresee(w http.ResponseWriter, v *visit, a *action) {
	change, err := a.whatIf(v)
	if err != nil {
		c.notDone(w, v, a, err)
		return
	}
	answer, err := v.whatIfs.WhatIf(v.ctx, &fairleadv1.WhatIfRequest{Changes: []*fairleadv1.WhatIfChange{change}, Instants: foreseenInstants})
	if err != nil {
		c.notDone(w, v, a, ofForm(err))
		return
	}
	data, err := a.load(v)
	if err != nil {
		c.refuse(w, v, err)
		return
	}
	c.renderForm(w, http.StatusOK, v, &actForm{action: a, Foreseen: newForeseen(answer), Data: data})
}

// changed matches the field of the only change in an error.
var changed = regexp.MustCompile(`\bchanges\[0\]\.[a-z_]+\.`)

// ofForm renames the fields in an error to those of the form.
func ofForm(err error) error {
	var refused *connect.Error
	if !errors.As(err, &refused) {
		return err
	}
	return connect.NewError(refused.Code(), errors.New(changed.ReplaceAllString(refused.Message(), "")))
}

// newForeseen prepares a response for display.
func newForeseen(answer *fairleadv1.WhatIfResponse) *foreseen {
	f := &foreseen{WhatIfResponse: answer}
	for i := range min(foreseenStarts, max(len(answer.GetBefore()), len(answer.GetAfter()))) {
		start := foreseenStart{Place: i + 1}
		if i < len(answer.GetBefore()) {
			start.Before = answer.GetBefore()[i]
		}
		if i < len(answer.GetAfter()) {
			start.After = answer.GetAfter()[i]
		}
		f.Starts = append(f.Starts, start)
	}
	for _, wait := range answer.GetWaits() {
		if wait.GetEffect() != "" && len(f.Moved) < foreseenWaits {
			f.Moved = append(f.Moved, wait)
		}
	}
	return f
}

// Capacity reports whether the forecast concerns limits or tenants.
func (f *foreseen) Capacity() bool { return f.GetSlots() > 0 }

// HasWhatIf reports whether the form has a button for a forecast next to the one that saves.
func (a *action) HasWhatIf() bool { return a.whatIf != nil && a.Ask == "" }

// EffectName describes the effect on waiting jobs or on an instant.
func (v *visit) EffectName(effect string) string {
	switch effect {
	case "later":
		return v.T("later")
	case "sooner":
		return v.T("earlier")
	case "appears":
		return v.T("added")
	case "disappears":
		return v.T("removed")
	case "moves":
		return v.T("moved")
	case "becomes":
		return v.T("different outcome")
	}
	return ""
}

// ProspectName describes the outcome of an instant.
func (v *visit) ProspectName(p *fairleadv1.Prospect) string {
	switch {
	case p == nil:
		return v.T("not due")
	case p.GetSkip() != "":
		return v.T("skipped")
	case p.GetQueued():
		return v.T("waits for an earlier run")
	case p.GetCancels() > 0:
		return v.N(p.GetCancels(), "runs and cancels %s earlier run", "runs and cancels %s earlier runs")
	}
	return v.T("runs")
}
