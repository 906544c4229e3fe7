package sqlstore

import (
	"context"
	"time"
)

const (
	// idMarkSpacing is the time between two ID marks.
	idMarkSpacing = 5 * time.Minute
	// idMarkGap is the longest time between the last mark and a clock set back. Jobs
	// created in that interval are later than any mark records.
	idMarkGap = time.Hour
)

// idMarkStore stores ID marks: records of which job IDs were reserved at a time. Lists by
// creation time read only the IDs between two marks. Marks may be sparse: without them, a
// list reads more rows but misses none. See docs/decisions/0040.
//
// A mark says that exactly the IDs below its own were reserved at a time. It also bounds
// the creation times of the jobs with these IDs, as far as the store knows: latest is the
// latest time that the clock has shown, or the end of a deleted batch whose tasks were
// created long after their IDs were reserved. Both times increase with the IDs of the
// marks.
type idMarkStore struct {
	db  Database
	sql *IDMarkStatements
}

// IDMarkStatements holds the SQL statements of idMarkStore.
type IDMarkStatements struct {
	IDMarkState string `sql:"id_mark_state"`
	AddIDMark   string `sql:"add_id_mark"`
	DropIDMarks string `sql:"drop_id_marks"`
	LateIDs     string `sql:"late_ids"`
}

// idMarkState holds the data that a new mark depends on.
type idMarkState struct {
	now          int64
	next         int64 // smallest unreserved ID
	least        int64 // smallest ID of a job, or 0
	last, latest int64 // largest at and latest of all marks
}

// MarkIDs adds a mark unless there is a recent one, and removes marks below the oldest job.
//
// If the clock is behind the newest mark, it was set back, and new jobs have earlier
// creation times than jobs with smaller IDs. MarkIDs then removes all marks and stores
// latest in the new one.
//
// MarkIDs reads the state again in the transaction that writes the mark: on SQLite, a
// caller's open transaction may have reserved IDs that are invisible to other connections
// until it commits.
func (s *idMarkStore) MarkIDs(ctx context.Context) error {
	states, err := readList(ctx, s.db.Read, "mark ids", scanIDMarkState, s.sql.IDMarkState)
	if err != nil || !states[0].due() {
		return err
	}
	return s.db.InTx(ctx, "mark ids", func(ctx context.Context, db DB) error {
		states, err := list(ctx, db, scanIDMarkState, s.sql.IDMarkState)
		if err != nil || !states[0].due() {
			return err
		}
		state, useless := states[0], states[0].least
		if state.setBack() {
			useless, state.latest = state.next+1, state.latest+idMarkGap.Microseconds()
		}
		db.Queue(s.sql.DropIDMarks, useless)
		db.Queue(s.sql.AddIDMark, state.next, state.now, max(state.now, state.latest))
		return nil
	})
}

// setBack reports whether the clock was set back since the newest mark.
func (s *idMarkState) setBack() bool { return s.now < s.last }

// due reports whether a new mark is due.
func (s *idMarkState) due() bool {
	return s.setBack() || s.now-s.last >= idMarkSpacing.Microseconds()
}

func scanIDMarkState(row Scanner) (s idMarkState, err error) {
	err = row.Scan(&s.now, &s.next, &s.least, &s.last, &s.latest)
	return s, err
}
