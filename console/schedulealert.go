package console

import (
	"slices"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// alertTicks lists the events that a schedule can report, in the order of the form.
var alertTicks = []string{"failure", "failures", "recovery", "missed"}

// alertTick is the checkbox of an event.
type alertTick struct {
	Name, Label, Value string
}

// AlertTicks returns the checkboxes for the events of an alert.
func (v *visit) AlertTicks(alert *fairleadv1.Alert) (ticks []alertTick) {
	on := alert.GetOn()
	if alert == nil {
		on = []string{"failure", "recovery"}
	}
	for _, event := range alertTicks {
		tick := alertTick{Name: "alert_" + event, Label: v.T(alertEvents[event])}
		if event == "failures" {
			tick.Label = v.T("several consecutive runs fail")
		}
		if slices.Contains(on, event) {
			tick.Value = "true"
		}
		ticks = append(ticks, tick)
	}
	return ticks
}

// alert reads the alert settings. The URL is not shown, and stays unless another is given.
// A new URL removes the headers, body and signature, because they were intended for the old
// one.
func (f *scheduleFields) alert(s *fairleadv1.Schedule) {
	if f.ticked("alert_off") {
		s.Alert = nil
		return
	}
	fresh := s.GetAlert() == nil
	if to := f.text("alert_url"); to != "" {
		s.Alert = &fairleadv1.Alert{Url: to, On: s.GetAlert().GetOn(), Failures: s.GetAlert().GetFailures(), Quiet: s.GetAlert().GetQuiet()}
	}
	if s.GetAlert() == nil {
		return
	}
	if fresh || slices.ContainsFunc(alertTicks, func(event string) bool { return f.edited("alert_" + event) }) {
		s.Alert.On = slices.DeleteFunc(slices.Clone(alertTicks), func(event string) bool { return !f.ticked("alert_" + event) })
	}
	if fresh || f.edited("alert_in_a_row") {
		s.Alert.Failures = f.integer("alert_in_a_row")
	}
	if fresh || f.edited("alert_quiet") {
		s.Alert.Quiet = f.span("alert_quiet")
	}
}
