package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/fairlead-io/fairlead"
)

// Ids usually grow with the time at which jobs are created, but no list may rely on it. The
// tasks of a batch, and the jobs that it makes when it completes, have ids from when the batch
// was made. A clock that is set back gives old dates to large ids. So no id proves anything
// about the dates of other ids: jobs by time are found by looking at the dates themselves, in
// the order of ids. See docs/decisions/0041.

const (
	// PassedOver is how many jobs of other times a page or a bounded count looks at, at most, to
	// find the next one of its own time. Of each it reads the id and the date, nothing else.
	PassedOver = 10_000
	// firstPassed is how many of them are looked at first: the next job is often near.
	firstPassed = 100
)

// byCreation reports whether a filter chooses jobs by when they were created and is to pass
// over the others. Jobs that ended lately are found by their ends.
func byCreation(filter fairlead.Filter) bool {
	return (!filter.From.IsZero() || !filter.To.IsZero()) && filter.FinishedFrom.IsZero()
}

// passing passes over jobs of other times.
type passing struct {
	*Query
	ask  Ask
	left int // jobs that it may still look at
}

// next looks for the job with the largest id below the filter's that was created at the
// filter's time. It returns an id below which to go on: all jobs between there and the filter's
// are of other times. It is zero if there are no more jobs. found means that the job right below
// it matches; otherwise the search has ended there.
func (p *passing) next(ctx context.Context, filter fairlead.Filter) (below int64, found bool, err error) {
	below = filter.Below
	for size := firstPassed; p.left > 0; size *= 10 {
		size = min(size, p.left)
		match, last, read, err := p.some(ctx, filter, below, size)
		p.left -= read
		switch {
		case err != nil:
			return 0, false, err
		case match.Valid:
			return match.Int64 + 1, true, nil
		case read < size:
			return 0, false, nil
		}
		below = last.Int64
	}
	return below, false, nil
}

// some looks at the jobs with the largest ids below one, and returns the largest id of the
// filter's time, the smallest of all, and how many jobs it has read. The order of ids leaves
// the database no other plan than to read the primary key backwards.
func (p *passing) some(ctx context.Context, filter fairlead.Filter, below int64, size int) (match, last sql.NullInt64, read int, err error) {
	b := queryBuilder{Query: p.Query, filter: filter}
	chosen := strings.Join(b.createdBetween("s"), " and ")
	where := ""
	if below > 0 {
		where = " where p.id < " + b.arg(below)
	}
	statement := fmt.Sprintf("select max(case when %s then s.id end), min(s.id), count(*) from (select p.id, p.created_at from {{job}} p%s%s order by p.id desc limit %d) s",
		chosen, b.ByID, where, size)
	err = p.ask(ctx, p.expand(statement), b.args, func(row Scanner) error { return row.Scan(&match, &last, &read) })
	return match, last, read, err
}

// createdBetween returns the conditions on when a job was created, by the name of its table.
func (b *queryBuilder) createdBetween(table string) (exact []string) {
	if from := b.filter.From; !from.IsZero() {
		exact = append(exact, table+".created_at >= "+b.arg(Micros(from)))
	}
	if to := b.filter.To; !to.IsZero() {
		exact = append(exact, table+".created_at < "+b.arg(Micros(to)))
	}
	return exact
}
