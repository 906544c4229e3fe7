package sqlstore

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
)

// Ids grow with time, so that when jobs were created bounds their ids. A process uses an
// id at most idsHeld after it was set aside, then stores the job: that may wait for a
// lock, on a server whose clock may have been set. The tasks of batches get their ids
// when the batch is made and are created much later, so that jobs with small ids may be
// new.

// createdSlack is how long after its id was set aside a job is created, at most.
const createdSlack = 5 * time.Minute

const (
	nearEnough = 500 // ids: closer bounds are not worth a question
	sampled    = 10  // jobs that are looked at to find one that is no task
	confirmed  = 8   // further blocks of ids that have to agree with the upper bound
)

// sample is a job that tells about when the ids around it were set aside.
type sample struct {
	id, created int64
}

// createdBounds are the ids that jobs created between From and To of a filter can have.
func (q *Query) createdBounds(ctx context.Context, ask Ask, filter fairlead.Filter) (bounds Window, err error) {
	if filter.From.IsZero() && filter.To.IsZero() {
		return Window{}, nil
	}
	var least, most int64
	err = ask(ctx, q.expand("select coalesce((select min(id) from {{job}}), 0), coalesce((select max(id) from {{job}}), 0)"), nil, func(row Scanner) error {
		return row.Scan(&least, &most)
	})
	if err != nil {
		return Window{}, err
	}
	if to := filter.To; !to.IsZero() {
		if bounds.Below, err = q.firstCreated(ctx, ask, Micros(to.Add(createdSlack)), least, most); err != nil {
			return Window{}, err
		}
	}
	if from := filter.From; !from.IsZero() {
		since, err := q.batchesSince(ctx, ask, from)
		if err != nil {
			return Window{}, err
		}
		if bounds.From, err = q.lastCreated(ctx, ask, since-createdSlack.Microseconds(), least, most); err != nil {
			return Window{}, err
		}
	}
	return bounds, nil
}

// firstCreated returns an id from which on all ids were set aside so late that their jobs
// were created later than createdSlack before a time; zero if none is known. One job that
// is no task, created at the time or later, proves it: its block of ids was set
// aside at most createdSlack before, and all larger ids later still.
func (q *Query) firstCreated(ctx context.Context, ask Ask, at, least, most int64) (bound int64, err error) {
	for low, high := least, most+1; high-low > nearEnough; {
		middle := low + (high-low)/2
		job, err := q.sampleFrom(ctx, ask, middle)
		if err != nil {
			return 0, err
		}
		if job != nil && job.created >= at {
			bound, high = job.id, middle
		} else {
			low = middle
		}
	}
	return q.confirm(ctx, ask, bound, at)
}

// confirm drops a bound that later blocks of ids contradict: processes of earlier
// versions use ids for as long as they have any.
func (q *Query) confirm(ctx context.Context, ask Ask, bound, at int64) (int64, error) {
	const block = 1000
	for i, from := 0, bound; bound > 0 && i < confirmed; i++ {
		job, err := q.sampleFrom(ctx, ask, from+block)
		if err != nil {
			return 0, err
		}
		if job == nil {
			break
		}
		if job.created < at {
			return 0, nil
		}
		from = job.id
	}
	return bound, nil
}

// lastCreated returns an id below which all jobs but tasks were created less than
// createdSlack after a time; zero if none is known. One job that was created until then
// proves it: ids below its own were set aside before it was created.
func (q *Query) lastCreated(ctx context.Context, ask Ask, at, least, most int64) (bound int64, err error) {
	for low, high := least, most+1; high-low > nearEnough; {
		middle := low + (high-low)/2
		job, err := q.sampleFrom(ctx, ask, middle)
		if err != nil {
			return 0, err
		}
		if job != nil && job.created <= at {
			bound, low = job.id, middle
		} else {
			high = middle
		}
	}
	return bound, nil
}

// sampleFrom returns the first job from an id on that is no task of a batch, if it is
// among the next few.
func (q *Query) sampleFrom(ctx context.Context, ask Ask, id int64) (found *sample, err error) {
	b := queryBuilder{Query: q}
	statement := fmt.Sprintf("select id, created_at, policy from {{job}} where id >= %s order by id limit %d", b.arg(id), sampled)
	err = ask(ctx, q.expand(statement), b.args, func(row Scanner) error {
		var job sample
		var raw []byte
		if err := row.Scan(&job.id, &job.created, &raw); err != nil || found != nil {
			return err
		}
		if len(raw) > 0 {
			if policy, err := readPolicy(raw); err != nil || policy.Batch != 0 {
				return err
			}
		}
		found = &job
		return nil
	})
	return found, err
}

// manyBatches is how many batches are looked at to find the oldest that counts.
const manyBatches = 1000

// endedStates are those of batches that have completed, which are found by their ends.
var endedStates = []batch.State{
	batch.Success, batch.PartialFail, batch.Fail, batch.Cancel, batch.RollbackSuccess, batch.RollbackFail,
}

// batchesSince returns when the oldest batch was made that still released tasks at a
// time, or the time itself if all are younger: the ids of its tasks are as old.
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
