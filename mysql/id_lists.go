package mysql

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
)

// naming puts ids into a statement, as the list or as the condition that it contains.
func naming(statement string, ids []int64) string {
	if strings.Contains(statement, "{{among}}") {
		return fill(statement, "among", among(ids))
	}
	return fill(statement, "ids", idList(ids))
}

// idRange is a range of ids without gaps.
type idRange struct{ first, last int64 }

// worthSpan is the number of ids from which on a range is cheaper than naming each.
const worthSpan = 4

// chunkSpans is how many ranges one statement names.
const chunkSpans = 50

// spans splits sorted ids into ranges without gaps.
func spans(ids []int64) iter.Seq[idRange] {
	return func(yield func(idRange) bool) {
		for i := 0; i < len(ids); {
			s := idRange{ids[i], ids[i]}
			for i++; i < len(ids) && ids[i] == s.last+1; i++ {
				s.last++
			}
			if !yield(s) {
				return
			}
		}
	}
}

// worth reports whether naming the range pays.
func (s idRange) worth() bool { return s.last-s.first+1 >= worthSpan }

// among returns a condition that holds for the given ids and no others.
//
// Jobs that were enqueued together have consecutive ids, and a range of them costs the
// server a fraction of what a list does. But after the last row of a range the server
// reads the row that follows, and waits if another transaction has locked it. So ranges
// end one short of their last id, which is named like single ids: the row after the
// range is then one of the given ids too.
//
// MariaDB scans a small table, whatever index it is forced to, if a deletion reads only
// the primary key. Deletions therefore also have a condition on another column that
// always holds.
func among(ids []int64) string {
	if !slices.IsSorted(ids) {
		ids = slices.Sorted(slices.Values(ids))
	}
	var ranges, named []byte
	name := func(id int64) {
		if len(named) > 0 {
			named = append(named, ',')
		}
		named = strconv.AppendInt(named, id, 10)
	}
	for s := range spans(ids) {
		if !s.worth() {
			for id := s.first; id <= s.last; id++ {
				name(id)
			}
			continue
		}
		ranges = append(ranges, "id between "...)
		ranges = strconv.AppendInt(ranges, s.first, 10)
		ranges = append(ranges, " and "...)
		ranges = strconv.AppendInt(ranges, s.last-1, 10)
		ranges = append(ranges, " or "...)
		name(s.last)
	}
	return "(" + string(ranges) + "id in (" + string(named) + "))"
}

// spansOf splits jobs in ready into conditions for those that were enqueued together,
// with consecutive ids, and the others. Both are in the order of the table, so that
// rows on one page are touched together.
func spansOf(jobs []*taken) (ranges []string, others []*taken) {
	jobs = slices.Clone(jobs)
	slices.SortFunc(jobs, func(a, b *taken) int {
		return cmp.Or(cmp.Compare(a.lane, b.lane), cmp.Compare(a.turn, b.turn), cmp.Compare(a.startBy, b.startBy), cmp.Compare(a.job.ID, b.job.ID))
	})
	for i := 0; i < len(jobs); {
		place, s, from := jobs[i].place(), idRange{jobs[i].job.ID, jobs[i].job.ID}, i
		for i++; i < len(jobs) && jobs[i].job.ID == s.last+1 && jobs[i].place() == place; i++ {
			s.last++
		}
		if s.worth() {
			ranges = append(ranges, s.at(place))
		} else {
			others = append(others, jobs[from:i]...)
		}
	}
	return ranges, others
}

// place returns the job's place in ready.
func (t *taken) place() readyPlace { return readyPlace{t.lane, t.turn, t.startBy} }

// readyPlace is a place in ready where several jobs may be side by side.
type readyPlace struct {
	lane    int32
	turn    int16
	startBy int64
}

// at returns a condition for the range in a place of ready. It ends as the ranges of
// among do.
func (s idRange) at(p readyPlace) string {
	in := fmt.Sprintf("lane = %d and turn = %d and start_by = %d and id", p.lane, p.turn, p.startBy)
	return fmt.Sprintf("%s between %d and %d or %s = %d", in, s.first, s.last-1, in, s.last)
}
