package schedule

// Record is a schedule as a store keeps it: with what is remembered of its runs. It is for
// stores alone.
type Record struct {
	Schedule
	Last     *Fire // of the runs that ended and were not skipped the one with the newest instant; nil: none has
	Skipped  bool  // one was skipped since then
	Standing Standing
	Deleted  bool // nothing is decided about it: its runs are only seen to have ended
}

// LastRun is the last run, zero if there is none.
func (r *Record) LastRun() Fire {
	if r.Last == nil {
		return Fire{}
	}
	return *r.Last
}

// ended notes that a run has ended. Of several the one with the newest instant
// counts, whichever ended first.
func (r *Record) ended(run Fire) {
	if r.Last == nil || !run.Due.Before(r.Last.Due) {
		r.Last, r.Skipped = &run, false
	}
}
