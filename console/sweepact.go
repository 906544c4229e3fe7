package console

import (
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

var sweepActions = []action{
	{name: "sweep-start", path: "/sweeps/{id}/start", Title: "Start sweep", Nav: "sweeps", method: "StartSweep", load: loadSweepAct, do: startSweep},
	{name: "sweep-open", path: "/sweeps/{id}/open", Title: "Open gate", Nav: "sweeps", method: "OpenSweep", load: loadSweepAct, do: openSweep},
	{name: "sweep-stop", path: "/sweeps/{id}/stop", Title: "Stop sweep", Nav: "sweeps", method: "StopSweep", Grave: true, load: loadSweepAct, do: stopSweep},
	{name: "sweep-retry", path: "/sweeps/{id}/retry", Title: "Retry failed items", Nav: "sweeps", method: "RetrySweep", load: loadSweepAct, do: retrySweep},
	{name: "sweep-set", path: "/sweeps/{id}/set", Title: "Change settings", Nav: "sweeps", method: "PatchSweep", load: loadSweepAct, do: setSweep},
	{name: "sweep-delete", path: "/sweeps/{id}/delete", Title: "Delete sweep", Nav: "sweeps", method: "DeleteSweep", Grave: true, load: loadSweepAct, do: deleteSweep},
}

// sweepButtons lists the buttons of sweeps, in order.
var sweepButtons = []button[*fairleadv1.Sweep]{
	{"start", "StartSweep", "Start", true, sweepIn("created", "stopped", "finished")},
	{"open", "OpenSweep", "Open gate", true, sweepIn("waiting")},
	{"retry", "RetrySweep", "Retry failures", true, itemsRetryable},
	{"set", "PatchSweep", "Settings", false, sweepIn(sweepStates...)},
	{"stop", "StopSweep", "Stop", true, sweepIn("waiting", "running")},
	{"delete", "DeleteSweep", "Delete", false, sweepIn("created", "stopped", "finished")},
}

// sweepIn returns a function that reports whether a sweep is in one of the states.
func sweepIn(states ...string) func(*fairleadv1.Sweep) bool {
	return func(s *fairleadv1.Sweep) bool { return in(states...)(s.GetState()) }
}

// itemsRetryable reports whether a sweep has failed items that can be retried.
func itemsRetryable(s *fairleadv1.Sweep) bool {
	return sweepIn("stopped", "finished")(s) && itemsToRetry(s) > 0
}

// itemsToRetry returns the number of failed items that do not wait for a retry yet.
func itemsToRetry(s *fairleadv1.Sweep) int64 {
	return s.GetProgress().GetAbandoned() - s.GetProgress().GetAgain()
}

// SweepButtons returns the buttons for a sweep in its current state.
func (v *visit) SweepButtons(s *fairleadv1.Sweep) []button[*fairleadv1.Sweep] {
	return offered(sweepButtons, s)
}

// ItemsToRetry calls itemsToRetry, for templates.
func (v *visit) ItemsToRetry(s *fairleadv1.Sweep) int64 { return itemsToRetry(s) }

// loadSweepAct loads the sweep for a form.
func loadSweepAct(v *visit) (any, error) { return v.sweep() }

// startSweep starts a sweep. A sweep that had finished when the form was opened starts from
// the beginning.
func startSweep(v *visit) (done, error) {
	s, err := v.sweeps.StartSweep(v.ctx, &fairleadv1.StartSweepRequest{Id: v.Value("id"), Again: v.WasState() == "finished"})
	if s.GetState() == "waiting" {
		return done{Notice: v.T("Sweep %s is waiting at its gate.", s.GetName())}, err
	}
	return done{Notice: v.T("Sweep %s was started.", s.GetName())}, err
}

func openSweep(v *visit) (done, error) {
	s, err := v.sweeps.OpenSweep(v.ctx, &fairleadv1.GetSweepRequest{Id: v.Value("id")})
	return done{Notice: v.T("The gate of sweep %s was opened.", s.GetName())}, err
}

func stopSweep(v *visit) (done, error) {
	s, err := v.sweeps.StopSweep(v.ctx, &fairleadv1.StopSweepRequest{Id: v.Value("id"), Reason: v.fields().text("reason")})
	return done{Notice: v.T("Sweep %s is stopping.", s.GetName())}, err
}

func retrySweep(v *visit) (done, error) {
	f := v.fields()
	indexes := f.counts("indexes")
	if err := f.err(); err != nil {
		return done{}, err
	}
	s, err := v.sweeps.RetrySweep(v.ctx, &fairleadv1.RetrySweepRequest{Id: v.Value("id"), Indexes: indexes})
	return done{Notice: v.T("Retrying failed items of sweep %s.", s.GetName())}, err
}

func deleteSweep(v *visit) (done, error) {
	s, err := v.sweep()
	if err != nil {
		return done{}, err
	}
	_, err = v.sweeps.DeleteSweep(v.ctx, &fairleadv1.GetSweepRequest{Id: s.GetId()})
	return done{Notice: v.T("Sweep %s was deleted.", s.GetName()), To: "/sweeps"}, err
}
