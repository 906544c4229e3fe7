package schedule

// Record is a schedule as a store keeps it, together with what it remembers of its
// runs. It is meant for stores only.
type Record struct {
	Schedule
	Last     *Fire // among the ended runs that were not skipped, the one with the newest instant; nil if there is none
	Skipped  bool  // a run was skipped after Last
	Standing Standing
	Deleted  bool // the schedule makes no more decisions, and only records the ends of its runs
}

// LastRun returns the last run, or zero if there is none.
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
