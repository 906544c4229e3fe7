package sqlstore

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
)

// createdSlack is the longest time between reserving an ID and the creation time of its
// job, except for batch jobs. A process uses an ID within idsHeld; storing the job may then
// wait for a lock. A transaction may also have read its clock before reserving IDs.
const createdSlack = 5 * time.Minute

// createdBounds returns the range of IDs that jobs created between From and To of a filter
// can have, as far as ID marks show. See idMarkStore.
func (q *Query) createdBounds(ctx context.Context, ask Ask, filter fairlead.Filter) (bounds Window, err error) {
	if from := filter.From; !from.IsZero() {
		since, err := q.batchesSince(ctx, ask, from)
		if err != nil {
			return Window{}, err
		}
		// Use the mark before the newest one that is early enough: if the clock was set
		// forward or the machine slept, a job may be dated much later than its ID was
		// reserved.
		marks, err := q.idMarks(ctx, ask, "latest", "<", since-createdSlack.Microseconds(), "desc")
		if err != nil {
			return Window{}, err
		}
		if len(marks) == 2 {
			bounds.From = marks[1]
		}
	}
	if to := filter.To; !to.IsZero() {
		at := Micros(to.Add(createdSlack))
		later, err := q.idMarks(ctx, ask, "marked_at", ">=", at, "")
		if err != nil {
			return Window{}, err
		}
		earlier, err := q.idMarks(ctx, ask, "marked_at", "<", at, "desc")
		if err != nil {
			return Window{}, err
		}
		// A mark stored late, after the clock was set back, contradicts a newer one.
		if len(later) > 0 && (len(earlier) == 0 || earlier[0] < later[0]) {
			bounds.Below = later[0]
		}
	}
	return bounds, nil
}

// idMarks returns the IDs of the two marks closest to a time.
func (q *Query) idMarks(ctx context.Context, ask Ask, column, compare string, at int64, order string) (ids []int64, err error) {
	b := queryBuilder{Query: q}
	statement := fmt.Sprintf("select id from {{id_mark}} where %s %s %s order by %s %s, id %s limit 2", column, compare, b.arg(at), column, order, order)
	err = ask(ctx, q.expand(statement), b.args, func(row Scanner) error {
		id, err := scanNumber(row)
		ids = append(ids, id)
		return err
	})
	return ids, err
}

// manyBatches limits the number of batches examined to find the oldest relevant one.
const manyBatches = 1000

// endedStates lists the states of completed batches, which are found by their end times.
var endedStates = []batch.State{
	batch.Success, batch.PartialFail, batch.Fail, batch.Cancel, batch.RollbackSuccess, batch.RollbackFail,
}

// batchesSince returns the creation time of the oldest batch that was still releasing tasks
// at a time, or the time itself if all batches are younger. The IDs of a batch's tasks are
// as old as the batch.
func (q *Query) batchesSince(ctx context.Context, ask Ask, at time.Time) (int64, error) {
	b := queryBuilder{Query: q}
	states := make([]string, len(endedStates))
	for i, state := range endedStates {
		states[i] = "'" + string(state) + "'"
	}
	since := Micros(at)
	statement := fmt.Sprintf(
		"select (select created_at from {{batch}} where %s order by id limit 1), min(e.created_at), count(*), (select created_at from {{batch}} order by id limit 1)"+
			" from (select created_at from {{batch}} where state in (%s) and ended_at >= %s and ended_at <> 0 limit %d) e",
		q.Open, strings.Join(states, ", "), b.arg(Micros(at.Add(-createdSlack))), manyBatches)
	err := ask(ctx, q.expand(statement), b.args, func(row Scanner) error {
		var open, ended, oldest *int64
		var n int
		if err := row.Scan(&open, &ended, &n, &oldest); err != nil {
			return err
		}
		if n == manyBatches {
			ended = oldest
		}
		for _, made := range []*int64{open, ended} {
			if made != nil {
				since = min(since, *made)
			}
		}
		return nil
	})
	return since, err
}
