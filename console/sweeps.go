package console

import (
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// sweepList is a page of sweeps.
type sweepList struct {
	Items []*fairleadv1.Sweep
	Pages map[string]any
}

// sweepStates lists all states of sweeps, for the filter.
var sweepStates = []string{"created", "waiting", "running", "stopping", "stopped", "finished"}

// SweepStates returns sweepStates for templates.
func (v *visit) SweepStates() []string { return sweepStates }

func loadSweeps(v *visit) (any, error) {
	if err := v.only("state", "tenant", "name", "page"); err != nil {
		return nil, err
	}
	answer, err := v.sweeps.ListSweeps(v.ctx, &fairleadv1.ListSweepsRequest{
		State: v.All("state"), Tenant: v.All("tenant"), Name: v.All("name"), PageSize: listRows, PageToken: v.Get("page"),
	})
	if err != nil {
		return nil, ofPage(err)
	}
	return &sweepList{Items: answer.GetItems(), Pages: v.further(answer.GetNextPageToken())}, nil
}

// SweepBar returns the progress bar of a sweep: items done before the marks, items that
// have ended in the windows behind them, and remaining items.
func (v *visit) SweepBar(s *fairleadv1.Sweep) segmented {
	p := s.GetProgress()
	bar := segmented{Label: v.T("%s items done", v.Num(p.GetDone()+p.GetAbandoned()))}
	if p.GetTotal() > 0 {
		bar.Label = v.T("%s of %s items done", v.Num(p.GetDone()+p.GetAbandoned()), v.Num(p.GetTotal()))
		bar.Segments = segments(p.GetTotal(),
			segment{Tone: "good", Name: v.T("done"), N: p.GetMarked()},
			segment{Tone: "waiting", Name: v.T("done in the window"), N: p.GetInWindow()},
		)
	}
	return bar
}

// FailedItems returns the number of failed items, with a link.
func (v *visit) FailedItems(s *fairleadv1.Sweep) count {
	c := count{N: s.GetProgress().GetAbandoned(), Href: v.Href(sweepPath(s) + "/failed")}
	if c.N > 0 {
		c.Tone = "bad"
	}
	return c
}

// ItemsLeft returns the number of items that have not ended, for a sweep with a known
// number of items.
func (v *visit) ItemsLeft(s *fairleadv1.Sweep) int64 {
	p := s.GetProgress()
	return max(0, p.GetTotal()-p.GetDone()-p.GetAbandoned())
}

// SweepRate describes the current and the maximum rate of a sweep.
func (v *visit) SweepRate(s *fairleadv1.Sweep) string {
	set := v.T("unlimited")
	if s.GetRate() > 0 {
		set = v.Rate(s.GetRate())
	}
	return v.Rate(s.GetProgress().GetRate()) + " / " + set
}

// SweepState returns the display name of a sweep's state: a waiting sweep waits at its
// gate, not for an answer like a job.
func (v *visit) SweepState(state string) string {
	if state == "waiting" {
		return v.T("at gate")
	}
	return v.StateName(state)
}

// Before returns the last index before an end.
func (v *visit) Before(end int64) int64 { return end - 1 }

// Plain returns a URL without user info.
func (v *visit) Plain(address string) string { return withoutUserinfo(address) }

// sweepPath returns the path of a sweep's page. It uses the ID, because a name may contain
// slashes.
func sweepPath(s *fairleadv1.Sweep) string { return "/sweeps/" + s.GetId() }

// findSweeps finds sweeps by ID and by name.
func findSweeps(v *visit, f *finding) error {
	exact, err := v.sweeps.GetSweep(v.ctx, &fairleadv1.GetSweepRequest{Id: f.query})
	if err := found(err); err != nil {
		return err
	}
	if exact != nil {
		f.exactly(exact.GetName(), v.T("sweep %s", exact.GetId()), v.Href(sweepPath(exact)))
	}
	list, err := v.sweeps.ListSweeps(v.ctx, &fairleadv1.ListSweepsRequest{PageSize: findAmong})
	for _, s := range list.GetItems() {
		f.named(s.GetName(), v.T("sweep %s", s.GetId()), v.Href(sweepPath(s)))
	}
	return found(err)
}
