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

// forgetAll drops what this process has cached of the database. It is called while
// connections are made, so it waits for nothing. Calls in progress may still use cached
// values; their statements find that out.
func (s *Store) forgetAll() {
	s.ids.Drop()
	s.lanes.Reset()
	s.lanesGone.Store(true)
	s.refreshed.Store(0)
	s.limitConfig.Store(nil)
	s.laneHeads.forget()
	s.sets.forget()
	s.wishes.forgetAll()
	s.tasks.Forget()
	s.pending.Forget()
	s.openSeen.Store(0)
	s.signer.forget()
}

// lostCommits reports that the database lost commits which this process has seen, or
// gave out again what this process has.
type lostCommits struct {
	under int64 // the number of the server at which they were seen
	what  string
}

// Error implements error.
func (l lostCommits) Error() string { return "the database has lost its last commits: " + l.what }

// commitsLost returns the error for evidence of lost commits.
func (s *Store) commitsLost(format string, values ...any) error {
	return lostCommits{under: s.number.Load(), what: fmt.Sprintf(format, values...)}
}

// idsTaken recognises the error of an id that another job has: ids are reserved for one
// process, unless the database lost that.
func (s *Store) idsTaken(err error) error {
	var answer *mysql.MySQLError
	if errors.As(err, &answer) && answer.Number == errDuplicate {
		return s.commitsLost("%s", answer.Message)
	}
	return err
}

// errForgotten reports that a value was looked up and dropped again meanwhile.
var errForgotten = errors.New("the server was replaced in the meantime")

// retryError is the error of a transaction that should be repeated, because this
// process has corrected what it had cached.
type retryError struct{ error }

// Unwrap implements errors.
func (r retryError) Unwrap() error { return r.error }

func isRetry(err error) bool {
	var r retryError
	return errors.As(err, &r)
}

// relearn examines why a rolled back transaction has failed. If this process had cached
// something that no longer holds, it reads it again and returns a retryError.
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

// recheckLanes reads lanes again that are not all as this process knows them, and drops
// those that are gone or retired. It drops everything else too if the server is another
// one since.
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
			return fmt.Errorf("look up lanes: %w", err)
		}
		for _, lane := range found {
			delete(gone, lane.ID)
		}
	}
	s.lanes.Forget(slices.Collect(maps.Keys(gone))...)
	s.lanesGone.Store(true)
	return nil
}

// renewLanes reads lanes again that are not all as this process knows them, and creates
// those that are gone or retired.
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
