package mysql

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// naming puts ids into a statement, as the list or as the condition that it
// asks for.
func naming(statement string, ids []int64) string {
	if strings.Contains(statement, "{{among}}") {
		return fill(statement, "among", among(ids))
	}
	return fill(statement, "ids", idList(ids))
}

// span is a range of ids without gaps.
type span struct{ first, last int64 }

// worthSpan is from how many ids on a range is cheaper than naming each.
const worthSpan = 4

// chunkSpans is how many ranges are named at once.
const chunkSpans = 50

// spans parts ids, which are in order, into ranges without gaps.
func spans(ids []int64) iter.Seq[span] {
	return func(yield func(span) bool) {
		for i := 0; i < len(ids); {
			s := span{ids[i], ids[i]}
			for i++; i < len(ids) && ids[i] == s.last+1; i++ {
				s.last++
			}
			if !yield(s) {
				return
			}
		}
	}
}

// worth tells whether naming the range pays.
func (s span) worth() bool { return s.last-s.first+1 >= worthSpan }

// among is a condition that holds for the given ids and no others.
//
// Jobs that were enqueued together have ids in a row, and a range of them
// costs the server a fraction of what a list does. But after the last row of a
// range it looks at the one that follows, and waits if somebody has locked
// that. So ranges end one short of their last id, which is named like those
// that stand alone: what follows the range is then one of the given ids too.
//
// MariaDB scans a small table after all, whatever index it is forced to, if
// the primary key is all that a deletion reads. Deletions therefore also have
// a condition on another column that always holds.
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

// spansOf parts jobs in ready into conditions for those that were enqueued
// together, with ids in a row, and the others.
func spansOf(jobs []*taken) (ranges []string, others []*taken) {
	byPlace := map[readyPlace]map[int64]*taken{}
	for _, t := range jobs {
		place := readyPlace{t.lane, t.turn, t.startBy}
		if byPlace[place] == nil {
			byPlace[place] = map[int64]*taken{}
		}
		byPlace[place][t.job.ID] = t
	}
	for place, byID := range byPlace {
		for s := range spans(slices.Sorted(maps.Keys(byID))) {
			if s.worth() {
				ranges = append(ranges, s.at(place))
				continue
			}
			for id := s.first; id <= s.last; id++ {
				others = append(others, byID[id])
			}
		}
	}
	return ranges, others
}

// readyPlace is where in ready jobs stand side by side.
type readyPlace struct {
	lane    int32
	turn    int16
	startBy int64
}

// at is a condition for the range in a place of ready. It ends as the ranges
// of among do.
func (s span) at(p readyPlace) string {
	in := fmt.Sprintf("lane = %d and turn = %d and start_by = %d and id", p.lane, p.turn, p.startBy)
	return fmt.Sprintf("%s between %d and %d or %s = %d", in, s.first, s.last-1, in, s.last)
}
