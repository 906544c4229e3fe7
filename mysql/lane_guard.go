package mysql

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// laneGuard holds the lanes that jobs are about to be stored in, as this process knows
// them. The statement that reads the clock for these jobs compares them with the
// database, so that no job is stored in a lane with other names.
type laneGuard struct {
	number int64 // of the server
	lanes  []sqlstore.Lane
	ids    map[sqlstore.LaneKey]int32
}

// unknownLanes reports that jobs are to be stored in lanes that this process does not
// know. The store looks lanes up and creates them on another connection, but no
// transaction waits for a second connection: the transaction is rolled back, and
// repeated once the lanes are known.
type unknownLanes []sqlstore.LaneKey

// Error implements error.
func (u unknownLanes) Error() string { return fmt.Sprintf("%d lanes are not known yet", len(u)) }

// guardLanes returns the guard of jobs' lanes. It fails if one is not known.
func (s *Store) guardLanes(jobs []*fairlead.Job) (*laneGuard, error) {
	g := &laneGuard{number: s.number.Load(), ids: map[sqlstore.LaneKey]int32{}}
	var missing unknownLanes
	for _, job := range jobs {
		key := sqlstore.KeyOf(job)
		if _, has := g.ids[key]; has {
			continue
		}
		id, known := s.lanes.ID(key)
		g.ids[key] = id
		if known {
			g.lanes = append(g.lanes, sqlstore.Lane{ID: id, LaneKey: key})
		} else {
			missing = append(missing, key)
		}
	}
	if len(missing) > 0 {
		return nil, missing
	}
	return g, nil
}

// of returns the lane of a job.
func (g *laneGuard) of(job *fairlead.Job) int32 { return g.ids[sqlstore.KeyOf(job)] }

// changed returns the error of a guard that did not hold.
func (g *laneGuard) changed() error { return staleLanes(g.lanes) }

// staleLanes reports that jobs are to be stored in lanes of which some differ from what
// this process knows. They are looked up and created again.
type staleLanes []sqlstore.Lane

// Error implements error.
func (l staleLanes) Error() string { return changedLanes(l).Error() }

func changedLanes(lanes []sqlstore.Lane) sqlstore.ChangedLanes {
	ids := make(sqlstore.ChangedLanes, len(lanes))
	for i, lane := range lanes {
		ids[i] = lane.ID
	}
	return ids
}

// clockAtLanes returns the statement that reads the clock, into a variable if one is
// given, and returns null if the lanes or the server have changed.
func (s *Store) clockAtLanes(number int64, lanes []sqlstore.Lane, into string) string {
	return fill(s.sql.ClockAtLanes, "into", into, "count", decimal(len(lanes)), "number", decimal(number), "chosen", sameLanes(lanes))
}

// sameLanes returns a condition on l that holds for lanes with the ids and names that
// this process knows. Most often there is one lane, which the server then reads before
// it plans the rest.
func sameLanes(lanes []sqlstore.Lane) string {
	if len(lanes) == 1 {
		lane := &lanes[0]
		return "l.id = " + decimal(lane.ID) + " and l.queue = " + literal(lane.Queue) + " and l.tenant = " + literal(lane.Tenant) + " and l.kind = " + literal(lane.Kind)
	}
	ids := make([]int64, len(lanes))
	var named tuples
	for i, lane := range lanes {
		ids[i] = int64(lane.ID)
		named.add().int(int64(lane.ID)).str(lane.Queue).str(lane.Tenant).str(lane.Kind).end()
	}
	return "l.id in (" + idList(ids) + ") and (l.id, l.queue, l.tenant, l.kind) in (" + strings.Join(slices.Collect(named.chunks()), ",") + ")"
}

// clockAt reads the database's clock as clock does, for jobs that are stored next. It
// fails if one of their lanes has changed.
func (t *txn) clockAt(ctx context.Context, g *laneGuard) (int64, error) {
	var us sql.NullInt64
	for lanes := range slices.Chunk(g.lanes, chunkTuples) {
		if err := t.askClock(ctx, &us, t.clockAtLanes(g.number, lanes, "")); err != nil {
			return 0, err
		}
		if !us.Valid {
			return 0, g.changed()
		}
	}
	return us.Int64, nil
}

// askClock reads from the same connection as clock.
func (t *txn) askClock(ctx context.Context, us *sql.NullInt64, statement string) error {
	if t.callers {
		return one(ctx, t.lifeline, []any{us}, statement)
	}
	_, err := t.one(ctx, []any{us}, statement)
	return err
}
