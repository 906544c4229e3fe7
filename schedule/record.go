package schedule

// Record is a stored schedule with the information about its runs. It is meant for stores
// only.
type Record struct {
	Schedule
	Last     *Fire    // among the ended runs that were not skipped, the one with the newest instant; nil if there is none
	Skipped  bool     // a run was skipped after Last
	Standing Standing // Standing of the last plan
	Deleted  bool     // the schedule starts no more runs, and only records the ends of existing ones
}

// LastRun returns the schedule's last run. If there is none, it returns the zero Fire.
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
