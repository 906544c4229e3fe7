package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead-io/fairlead"
)

// Window is the range of IDs that a statement reads, and the way in which it reads them. The
// zero Window includes all IDs, in any order.
type Window struct {
	From, Below int64 // IDs; 0 = unlimited
	// ByID reads places in ID order.
	ByID bool
	// ByOutcome reads ended jobs by outcome, although other places are read by ID: few jobs
	// have the outcome.
	ByOutcome bool
	// LaterByLane reads scheduled jobs by lane, although other places are read by ID: the
	// lanes have few scheduled jobs.
	LaterByLane bool
	// Across contains the places that are not ordered by ID and too large to be read
	// completely. The jobs of the window are looked up in them.
	Across map[string]bool
	// ManyLanes means that there are so many lanes that reading all rows costs less than
	// looking up each lane.
	ManyLanes bool
}

// below returns the smaller of the window's and the filter's upper bounds.
func (w Window) below(filter fairlead.Filter) int64 {
	if w.Below == 0 || filter.Below > 0 && filter.Below < w.Below {
		return filter.Below
	}
	return w.Below
}

// Ask is a function that runs a reading statement and scans its rows.
type Ask func(ctx context.Context, statement string, args []any, each func(Scanner) error) error

// looks limits the number of rows that one look reads, and so the cost of an answer.
type looks struct {
	done int // rows of ended jobs, usually most of all jobs
	live int // rows of each other place
	mass int // rows of a place whose index is not ordered by ID
	ends int // rows of an outcome whose index is not ordered by ID

	whole, many bool // whether a look has read up to wholeLanes rows, and up to wholeMany
}

// No index has the jobs of a lane, or of an outcome, in the order of their ids. A second look reads
// all of them to find the newest, if they are fewer than these bounds.
const (
	// wholeLanes bounds the ready, parked or scheduled jobs of some lanes, and wholeMany those that
	// are read once windows of wholeAfter rows have found nothing: their rows lie next to each other.
	wholeLanes, wholeMany, wholeAfter = 20_000, 200_000, 2_000
	// wholeOutcome bounds the jobs that ended in one way, each of which is looked up.
	wholeOutcome = 20_000
)

// read returns the number of rows that a look reads of the largest place selected by a
// filter.
func (l looks) read(filter fairlead.Filter) int {
	if len(placeOfEnded.asked(filter)) > 0 {
		return l.done
	}
	return l.live
}

// further returns the limits for the look after one without results.
func (l looks) further(filter fairlead.Filter) looks {
	l.done, l.live = 2*l.done, 2*l.live
	l.mass, l.ends = l.live, l.live
	if len(filter.Kinds)+len(filter.Queues)+len(filter.Tenants)+len(filter.States) == 0 {
		return l
	}
	switch {
	case !l.whole:
		l.mass, l.ends, l.whole = wholeLanes, wholeOutcome, true
	case !l.many && l.live >= wholeAfter:
		l.mass, l.many = wholeMany, true
	}
	return l
}

// lookSize returns the limits for a page.
func lookSize(filter fairlead.Filter) looks {
	limit := pageOf(filter)
	size := looks{done: 800 + 12*limit, live: 100 + limit}
	if !filter.From.IsZero() || !filter.To.IsZero() { // each row is also looked up in job
		size.done, size.live = size.done*2/3, size.live*2/3
	}
	size.mass, size.ends = size.live, size.live
	return size
}

// orderedByID lists the places whose primary key is the ID.
var orderedByID = []string{"later", "running", "waiting", "done"}

// choosy reports whether a filter may reject very many ended jobs before it finds a match.
func choosy(filter fairlead.Filter, lanes []int32) bool {
	return lanes != nil || !filter.From.IsZero() || !filter.To.IsZero() || !filter.FinishedFrom.IsZero() || len(filter.States) > 0 || filter.OnFail != ""
}

// frame narrows the bounds of IDs to what one look may read. It returns the window and
// reports whether there are unread IDs below it.
func (q *Query) frame(ctx context.Context, ask Ask, filter fairlead.Filter, bounds Window, size looks, counts bool) (within Window, more bool, err error) {
	lanes, _ := q.Lanes.Matching(filter)
	within = Window{From: bounds.From, Below: bounds.below(filter), ByID: true, Across: map[string]bool{}, ManyLanes: len(lanes) > size.live}
	few := size.done / 3
	switch {
	case counts:
		few = max(few, leastEnds)
	case !q.Unlucky && !slices.Contains(placeOfEnded.asked(filter), fairlead.Succeeded):
		few = size.done // the ids of such jobs are scattered among those of successful ones
	}
	if ends, err := q.fewEnds(ctx, ask, filter, few); err != nil || ends {
		within.ByID = false
		return within, false, err
	}
	if within.ByOutcome, err = q.fewOfOutcome(ctx, ask, filter, size.ends); err != nil {
		return within, false, err
	}
	if !counts && !within.ManyLanes {
		if within.LaterByLane, err = q.fewLater(ctx, ask, filter, lanes, size.mass); err != nil {
			return within, false, err
		}
	}
	b := queryBuilder{Query: q, filter: filter, within: within}
	var edges []string
	for _, p := range places {
		states := p.asked(filter)
		ordered := slices.Contains(orderedByID, p.table)
		switch {
		case len(states) == 0, ordered && !counts && !choosy(filter, lanes), p.table == "done" && within.ByOutcome, p.table == "later" && within.LaterByLane:
		case ordered:
			edges = append(edges, b.edge(p.table, size.of(p.table), b.Unlucky && p.table == "done" && !slices.Contains(states, fairlead.Succeeded)))
		default:
			edges = append(edges, b.mass(p.table, size.mass, lanes))
		}
	}
	if len(edges) == 0 {
		return within, false, nil
	}
	edge, err := b.findEdge(ctx, ask, edges, size)
	if err != nil {
		return within, false, err
	}
	if len(b.within.Across) > 0 {
		b.args = nil
		jobs, err := b.findEdge(ctx, ask, []string{b.edge("job", size.live, false)}, size)
		if err != nil {
			return within, false, err
		}
		edge = max(edge, jobs)
	}
	if edge <= within.From {
		return within, false, nil
	}
	within.From = edge
	return within, true, nil
}

func (l looks) of(table string) int {
	if table == "done" {
		return l.done
	}
	return l.live
}

// edge returns the query for the end of a look at a place: the ID of the last row to read,
// or null if there are fewer rows.
func (b *queryBuilder) edge(table string, rows int, unlucky bool) string {
	where := b.ids("p.id")
	if unlucky {
		where = append(where, "p.outcome <> 1")
	}
	if len(where) == 0 {
		where = []string{"p.id > 0"}
	}
	return fmt.Sprintf("select '%s' as place, (select p.id from {{%s}} p%s where %s order by p.id desc limit 1 offset %d) as edge", table, table, b.ByID, strings.Join(where, " and "), rows-1)
}

// mass returns the query that counts the rows of a place not ordered by ID, to decide
// whether it is too large to be read completely.
func (b *queryBuilder) mass(table string, rows int, lanes []int32) string {
	where := ""
	if lanes != nil && !b.within.ManyLanes {
		where = " where lane in (" + numbers(lanes) + ")"
	}
	return fmt.Sprintf("select '%s' as place, (select count(*) from (select 1 as one from {{%s}}%s limit %d) m) as edge", table, table, where, rows)
}

// findEdge returns the largest of the edges and records the places that are too large. For
// a place not ordered by ID, it counts rows.
func (b *queryBuilder) findEdge(ctx context.Context, ask Ask, edges []string, size looks) (edge int64, err error) {
	err = ask(ctx, b.expand(strings.Join(edges, " union all ")), b.args, func(row Scanner) error {
		var table string
		var found sql.NullInt64
		if err := row.Scan(&table, &found); err != nil {
			return err
		}
		switch {
		case table != "ready" && table != "parked":
			edge = max(edge, found.Int64)
		case found.Int64 >= int64(size.mass):
			b.within.Across[table] = true
		}
		return nil
	})
	return edge, err
}

// few reports whether so few rows of a place match the conditions that all of them can be
// read.
func (b *queryBuilder) few(ctx context.Context, ask Ask, table string, where []string, few int) (bool, error) {
	count := 0
	text := fmt.Sprintf("select count(*) from (select 1 as one from {{%s}} p where %s limit %d) m", table, strings.Join(where, " and "), few)
	err := ask(ctx, b.expand(text), b.args, func(row Scanner) error { return row.Scan(&count) })
	return count < few, err
}

// fewLater reports whether the lanes of a filter have few scheduled jobs. It returns false
// without a query if ended jobs are listed too, because there are usually more of those.
func (q *Query) fewLater(ctx context.Context, ask Ask, filter fairlead.Filter, lanes []int32, few int) (bool, error) {
	if lanes == nil || len(placeOfScheduled.asked(filter)) == 0 || len(placeOfEnded.asked(filter)) > 0 {
		return false, nil
	}
	b := queryBuilder{Query: q, filter: filter}
	return b.few(ctx, ask, "later", []string{"p.lane in (" + numbers(lanes) + ")"}, few)
}

// fewOfOutcome reports whether few jobs have the outcomes of a filter. It returns false
// without a query if an index has them in ID order.
func (q *Query) fewOfOutcome(ctx context.Context, ask Ask, filter fairlead.Filter, few int) (bool, error) {
	states := placeOfEnded.asked(filter)
	if q.Unlucky || len(states) == 0 || slices.Contains(states, fairlead.Succeeded) || !filter.FinishedFrom.IsZero() {
		return false, nil
	}
	b := queryBuilder{Query: q, filter: filter}
	return b.few(ctx, ask, "done", b.outcomes(states), few)
}

// fewEnds reports whether so few jobs ended since FinishedFrom that they are best found by
// their end times.
func (q *Query) fewEnds(ctx context.Context, ask Ask, filter fairlead.Filter, few int) (bool, error) {
	if filter.FinishedFrom.IsZero() {
		return false, nil
	}
	states := placeOfEnded.asked(filter)
	if len(states) == 0 {
		return true, nil
	}
	if q.Unlucky && slices.Contains(states, fairlead.Succeeded) {
		return false, nil
	}
	b := queryBuilder{Query: q, filter: filter}
	return b.few(ctx, ask, "done", append(b.outcomes(states), "p.finished_at >= "+b.arg(Micros(filter.FinishedFrom))), few)
}
