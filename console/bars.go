package console

import (
	"fmt"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// bar returns the data of the template "bar" for a part of a whole. An unlimited whole has
// no bar.
func bar(part, whole float64, label string) map[string]any {
	percent := -1.0
	if whole > 0 {
		percent = min(100, max(0, 100*part/whole))
	}
	return map[string]any{"percent": percent, "label": label}
}

// Used returns a bar of busy slots.
func (v *visit) Used(slots, idle int32) map[string]any {
	return bar(float64(slots-idle), float64(slots), v.T("%s of %s slots are busy", v.Num(slots-idle), v.Num(slots)))
}

// BusySlots returns the busy slots as text.
func (v *visit) BusySlots(node *fairleadv1.Node) string {
	return fmt.Sprintf("%s / %s", v.Num(node.GetSlots()-node.GetIdleSlots()), v.Num(node.GetSlots()))
}

// CapUse returns a bar of a tenant's usage of its cap.
func (v *visit) CapUse(usage *fairleadv1.Usage) map[string]any {
	return bar(float64(usage.GetRunning()+usage.GetWaiting()), float64(usage.GetMaxRunning()), v.CapText(usage))
}

// CapText returns the usage of the cap as text.
func (v *visit) CapText(usage *fairleadv1.Usage) string {
	used := usage.GetRunning() + usage.GetWaiting()
	if usage.GetMaxRunning() == 0 {
		return v.T("%s, no cap", v.Num(used))
	}
	return fmt.Sprintf("%s / %s", v.Num(used), v.Num(usage.GetMaxRunning()))
}

// RateUse returns a bar of a tenant's usage of its rate.
func (v *visit) RateUse(usage *fairleadv1.Usage) map[string]any {
	return bar(usage.GetStarted(), usage.GetRate(), v.RateText(usage))
}

// RateText returns the usage of the rate as text.
func (v *visit) RateText(usage *fairleadv1.Usage) string {
	if usage.GetRate() == 0 {
		return v.T("%s/s, unlimited", v.Rate(usage.GetStarted()))
	}
	return v.T("%s / %s/s", v.Rate(usage.GetStarted()), v.Rate(usage.GetRate()))
}

// Progress returns a bar of the completed share.
func (v *visit) Progress(share float64) map[string]any {
	return bar(share, 1, fmt.Sprintf("%.0f %%", 100*share))
}

// SweepShare returns a bar of the share of items that are done or abandoned.
func (v *visit) SweepShare(progress *fairleadv1.SweepProgress) map[string]any {
	ended := float64(progress.GetDone() + progress.GetAbandoned())
	return bar(ended, float64(progress.GetTotal()), v.T("%s of %s items done", v.Num(int64(ended)), v.Num(progress.GetTotal())))
}
