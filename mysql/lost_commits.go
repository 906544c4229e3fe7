package mysql

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/go-sql-driver/mysql"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// forgetAll forgets what this process has cached of the database. It is called while
// connections are made, and so waits for nothing. What calls that go on still have of
// it is found out by the statements that use it.
func (s *Store) forgetAll() {
	s.ids.Drop()
	s.lanes.Reset()
	s.lanesGone.Store(true)
	s.refreshed.Store(0)
	s.rules.Store(nil)
	s.laneHeads.forget()
	s.sets.forget()
	s.wishes.forgetAll()
	s.tasks.Forget()
	s.pending.Forget()
	s.openSeen.Store(0)
	s.signer.forget()
}

// lostCommits tells that the database lost commits which this process has seen, or
// has given out again what this process had.
type lostCommits struct {
	under int64 // the number of the server at which they were seen
	what  string
}

// Error implements error.
func (l lostCommits) Error() string { return "the database has lost its last commits: " + l.what }

// commitsLost makes an error of evidence that commits are lost.
func (s *Store) commitsLost(format string, values ...any) error {
	return lostCommits{under: s.number.Load(), what: fmt.Sprintf(format, values...)}
}

// idsTaken tells an id that another job has from other errors: ids that are set
// aside are given to no other process, unless the database forgot that it did so.
func (s *Store) idsTaken(err error) error {
	var answer *mysql.MySQLError
	if errors.As(err, &answer) && answer.Number == errDuplicate {
		return s.commitsLost("%s", answer.Message)
	}
	return err
}

// errForgotten tells that something was looked up and forgotten again meanwhile.
var errForgotten = errors.New("the server is another one since")

// retryError is the error of a transaction that is worth repeating, as this process has
// learned meanwhile what it had wrong.
type retryError struct{ error }

// Unwrap implements errors.
func (r retryError) Unwrap() error { return r.error }

func isRetry(err error) bool {
	var r retryError
	return errors.As(err, &r)
}

// relearn looks at why a transaction, which is undone, has failed. If the reason is
// that this process knows something of the database that is no longer so, it learns
// it anew, and the error is a repeat.
func (s *Store) relearn(ctx context.Context, err error) error {
	var changed sqlstore.ChangedLanes
	var stale staleLanes
	var unknown unknownLanes
	var lost lostCommits
	var learning error
	switch {
	case errors.As(err, &changed):
		if learning = s.recheckLanes(ctx, changed); learning == nil {
			learning = s.refreshLanes(ctx)
		}
	case errors.As(err, &stale):
		learning = s.renewLanes(ctx, stale)
	case errors.As(err, &unknown):
		learning = s.makeLanes(ctx, unknown)
	case errors.As(err, &lost):
		if _, learning = s.meetOnce(ctx, lost.under); learning == nil {
			learning = s.refreshLanes(ctx)
		}
	case errors.Is(err, errForgotten):
	default:
		return err
	}
	if learning != nil {
		return learning
	}
	return retryError{err}
}

// recheckLanes looks again at lanes that are not all as this process knows them, and
// forgets those that are gone or were given up; and everything else too if the server
// is another one since.
func (s *Store) recheckLanes(ctx context.Context, ids []int32) error {
	var number int64
	if err := one(ctx, s.lifeline, []any{&number}, s.sql.ServerNumber); err != nil {
		return fmt.Errorf("read the number of the server: %w", err)
	}
	if number != s.number.Load() {
		_, err := s.meetOnce(ctx, noLoss)
		return err
	}
	gone := map[int32]bool{}
	list := make([]int64, len(ids))
	for i, id := range ids {
		gone[id], list[i] = true, int64(id)
	}
	for chunk := range idChunks(list) {
		found, err := s.readLanes(ctx, fill(s.sql.LanesByID, "ids", chunk))
		if err != nil {
			return fmt.Errorf("look lanes up: %w", err)
		}
		for _, lane := range found {
			delete(gone, lane.ID)
		}
	}
	s.lanes.Forget(slices.Collect(maps.Keys(gone))...)
	s.lanesGone.Store(true)
	return nil
}

// renewLanes looks again at lanes that are not all as this process knows them, and
// makes those that are gone or were given up.
func (s *Store) renewLanes(ctx context.Context, lanes []sqlstore.Lane) error {
	if err := s.recheckLanes(ctx, changedLanes(lanes)); err != nil {
		return err
	}
	var missing []sqlstore.LaneKey
	for _, lane := range lanes {
		if _, known := s.lanes.ID(lane.LaneKey); !known {
			missing = append(missing, lane.LaneKey)
		}
	}
	return s.makeLanes(ctx, missing)
}
