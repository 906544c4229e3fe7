package console

import (
	"fmt"
	"slices"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// heldLine is an obstacle of jobs after a change, or one that the change removes.
type heldLine struct {
	Text string
	Gone bool
}

// HeldBy lists what blocks the next of the jobs after a change, and the obstacles that the
// change removes.
func (v *visit) HeldBy(wait *fairleadv1.ForecastWait) (lines []heldLine) {
	job := &fairleadv1.Job{Queue: wait.GetQueue(), Tenant: wait.GetTenant(), Kind: wait.GetKind()}
	for _, o := range wait.GetHeldAfter() {
		lines = append(lines, heldLine{Text: v.explain(job, o, 0).Text})
	}
	for _, o := range wait.GetHeldBefore() {
		if !slices.ContainsFunc(wait.GetHeldAfter(), func(still *fairleadv1.Obstacle) bool { return sameObstacle(o, still) }) {
			lines = append(lines, heldLine{Text: v.T("No longer: %s", v.explain(job, o, 0).Text), Gone: true})
		}
	}
	if len(wait.GetHeldAfter()) == 0 && wait.GetStartsAfter() < wait.GetStartsBefore() {
		lines = append(lines, heldLine{Text: v.T("Other jobs start first.")})
	}
	return lines
}

func sameObstacle(a, b *fairleadv1.Obstacle) bool {
	return a.GetCode() == b.GetCode() && a.GetScope() == b.GetScope() && a.GetName() == b.GetName()
}

// WaitEffect names the effect of a change on jobs. If none of them starts before or after
// the change, it only adds or removes obstacles.
func (v *visit) WaitEffect(wait *fairleadv1.ForecastWait) string {
	switch {
	case wait.GetStartsBefore() > 0 || wait.GetStartsAfter() > 0:
		return v.EffectName(wait.GetEffect())
	case wait.GetEffect() == "later":
		return v.T("more obstacles")
	}
	return v.T("fewer obstacles")
}

// NextToken says when a rate permits the next start after those that are shown, if the
// change moves that time.
func (v *visit) NextToken(f *foreseen) string {
	before, after := moment(f.GetTokenBefore()), moment(f.GetTokenAfter())
	switch {
	case after.Equal(before):
		return ""
	case after.IsZero():
		return v.T("After these starts, no rate delays the next job. Now, a rate delays it until %s.", v.clock(before))
	case before.IsZero():
		return v.T("After these starts, a rate delays the next job until %s. Now, no rate delays it.", v.clock(after))
	}
	return v.T("After these starts, a rate delays the next job until %s. Now, it is delayed until %s.", v.clock(after), v.clock(before))
}

// Arriving describes the jobs of a steady state.
func (v *visit) Arriving(s *fairleadv1.SteadyState) string {
	arrivals := v.Rate(s.GetArrivals())
	if s.GetMore() {
		arrivals = v.T("at least %s", arrivals)
	}
	if s.GetSample() == 0 {
		return v.T("%s jobs per second arrived in the last %s. Their duration is unknown: none finished in the last hour.", arrivals, v.Dur(s.GetWindow()))
	}
	return v.T("%s jobs per second arrived in the last %s and ran for %s on average, so about %s run at the same time.", arrivals, v.Dur(s.GetWindow()), v.Dur(s.GetDuration()), v.Rate(s.GetRunning()))
}

// Utilization formats the utilization of a limit in a steady state.
func (v *visit) Utilization(part float64) string {
	if part == 0 {
		return v.T("unlimited")
	}
	return fmt.Sprintf("%.0f %%", 100*part)
}
