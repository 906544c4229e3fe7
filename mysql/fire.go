package mysql

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/schedule"
)

// Fires returns the matching scheduled runs, newest first.
func (s *Store) Fires(ctx context.Context, filter schedule.FireFilter) ([]schedule.Fire, error) {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	conditions, index := []string{"id > 0"}, "primary"
	if filter.Schedule != 0 {
		index = "listing"
		conditions = append(conditions, "schedule = "+decimal(filter.Schedule))
	}
	if len(filter.Jobs) > 0 {
		index = "primary"
		conditions = append(conditions, "id in ("+idList(filter.Jobs)+")")
	}
	if filter.Below > 0 {
		conditions = append(conditions, "id < "+decimal(filter.Below))
	}
	chosen := fill(s.sql.FiresChosen, "index", index, "named", strings.Join(conditions, " and "), "limit", decimal(sqlstore.FirePage(filter)))
	runs, err := readRuns(ctx, s.db, fill(s.sql.Fires, "choice", chosen))
	if err != nil {
		return nil, fmt.Errorf("fires: %w", err)
	}
	slices.SortFunc(runs, func(a, b run) int { return cmp.Compare(b.Job, a.Job) })
	return plainRuns(runs), nil
}

// run is a run as it was read.
type run struct {
	schedule.Fire
	made int64 // when; ids of different processes do not tell
}

func plainRuns(runs []run) (fires []schedule.Fire) {
	for _, run := range runs {
		fires = append(fires, run.Fire)
	}
	return fires
}

func readRuns(ctx context.Context, q querier, statement string) (runs []run, err error) {
	err = each(ctx, q, func(row *sql.Rows) error {
		read, err := scanRun(row)
		runs = append(runs, read)
		return err
	}, statement)
	return runs, err
}

// scanRun reads a row of fires. A run whose job was deleted ended as was noted
// then; of one whose job is missing otherwise it is not known that it succeeded.
func scanRun(row *sql.Rows) (run run, err error) {
	var place string
	var noted fairlead.State
	var due, notBefore, ended int64
	var outcome int
	err = row.Scan(&run.Job, &run.Schedule, &due, &run.Trigger, &run.Number, &run.Skip, &place, &notBefore, &outcome, &ended, &run.made, &noted)
	run.Due, run.EndedAt = sqlstore.Time(due), sqlstore.Time(ended)
	switch place {
	case "later":
		run.State, run.Queued = fairlead.Scheduled, notBefore == sqlstore.Micros(fairlead.Never)
	case "ready":
		run.State = fairlead.Ready
	case "parked":
		run.State = fairlead.Parked
	case "running":
		run.State = fairlead.Running
	case "waiting":
		run.State = fairlead.Waiting
	case "done":
		run.State = sqlstore.StateOf(outcome)
	default:
		run.State = cmp.Or(noted, fairlead.Failed)
	}
	return run, err
}

// openFires locks the open runs of schedules, which are locked, and returns how they
// stand, oldest first. A run that another transaction reopens meanwhile is either seen
// as active here, or opened again after this transaction commits.
func (t *txn) openFires(ctx context.Context, schedules []int64) ([]schedule.Fire, error) {
	var locked int
	err := t.eachOf(ctx, func(row *sql.Rows) error {
		var id, due int64
		locked++
		return row.Scan(&id, &due)
	}, t.sql.LockOpen, schedules)
	if err != nil || locked == 0 {
		return nil, err
	}
	var runs []run
	for list := range idChunks(schedules) {
		chunk, err := readRuns(ctx, t.tx, fill(t.sql.Fires, "choice", fill(t.sql.OpenFires, "ids", list)))
		if err != nil {
			return nil, err
		}
		runs = append(runs, chunk...)
	}
	slices.SortFunc(runs, func(a, b run) int { return cmp.Or(cmp.Compare(a.made, b.made), cmp.Compare(a.Job, b.Job)) })
	return plainRuns(runs), nil
}

// closeFires notes that open runs, which are locked, have ended.
func (t *txn) closeFires(ctx context.Context, runs []schedule.Fire) error {
	ids := make([]int64, len(runs))
	for i, run := range runs {
		ids[i] = run.Job
	}
	closed, err := t.execIDs(ctx, t.sql.CloseFires, ids)
	return checkHits(len(ids), closed, err)
}
