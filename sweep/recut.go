package sweep

import (
	"context"
	"math/bits"
)

// recut brings a sweep of which no shard runs to the number of shards that it is to have,
// or as near as it can be. What was done stays done.
func (s *steering) recut(ctx context.Context) error {
	n := s.shardsUpTo(s.shards[len(s.shards)-1].To)
	if len(s.shards) == n || s.anyLive() {
		return nil
	}
	parts := recut(s.shards, n)
	if sameParts(s.shards, parts) {
		return nil
	}
	err := s.tx.Cut(ctx, parts)
	if err == nil {
		s.shards, s.states, err = s.tx.Shards(ctx)
	}
	return err
}

func sameParts(a, b []Shard) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].To != b[i].To {
			return false
		}
	}
	return true
}

// recut makes n shards of others. First neighbours are joined, so that shards that are
// over do not count and what was not begun is in one piece. Then that is shared out
// again, in parts as long as each other. There may be more than n: two neighbours that
// both have come some way cannot be joined, as a shard has one mark. There may be fewer
// if there are not enough items.
func recut(shards []Shard, n int) []Shard {
	parts := joinNeighbours(shards)
	for len(parts) > n {
		at := leastToRetry(parts)
		if at < 0 {
			break
		}
		parts[at] = parts[at].join(&parts[at+1])
		parts = append(parts[:at+1], parts[at+2:]...)
	}
	if len(parts) < n {
		parts = splitLongest(parts, n)
	}
	for i := range parts {
		parts[i].Number = i
	}
	return parts
}

// joinNeighbours joins shards that can be, unless items of theirs wait to be tried again:
// several shards are faster with these.
func joinNeighbours(shards []Shard) []Shard {
	parts := []Shard{shards[0]}
	for i := 1; i < len(shards); i++ {
		last, next := &parts[len(parts)-1], &shards[i]
		if last.over() && last.Again == 0 || next.untouched() {
			*last = last.join(next)
		} else {
			parts = append(parts, *next)
		}
	}
	return parts
}

// leastToRetry finds the shard that is over and has, with the one behind it, the fewest
// items that wait to be tried again. It is -1 if none can be joined with the one behind
// it.
func leastToRetry(parts []Shard) int {
	at, least := -1, int64(0)
	for i := range parts[1:] {
		if again := parts[i].Again + parts[i+1].Again; parts[i].over() && (at < 0 || again < least) {
			at, least = i, again
		}
	}
	return at
}

// splitLongest splits the shard with the longest part that was not begun, again and
// again, until there are n.
func splitLongest(shards []Shard, n int) []Shard {
	pieces := make([]int, len(shards))
	for i := range pieces {
		pieces[i] = 1
	}
	for range n - len(shards) {
		at, longest := -1, int64(0)
		for i := range shards {
			if rest := shards[i].rest(); rest > int64(pieces[i]) && rest/int64(pieces[i]) > longest {
				at, longest = i, rest/int64(pieces[i])
			}
		}
		if at < 0 {
			break
		}
		pieces[at]++
	}
	var parts []Shard
	for i := range shards {
		parts = append(parts, shards[i].split(pieces[i])...)
	}
	return parts
}

// over reports whether nothing of the shard is left but items to be tried again.
func (s *Shard) over() bool {
	return s.Mark == s.To && len(s.Window) == 0 && len(s.Pending) == 0
}

// untouched reports whether no item of the shard has been begun.
func (s *Shard) untouched() bool {
	return s.Mark == s.From && len(s.Window) == 0 && len(s.Pending) == 0 && !s.Ended
}

// begunTo is where the items begin that were not begun: behind the window, of which
// the last bit is that of the last item that is done. Items that wait for their next
// attempt, and those that failed, are before that.
func (s *Shard) begunTo() int64 {
	if len(s.Window) == 0 {
		return s.Mark
	}
	last := len(s.Window) - 1
	return s.Mark + 1 + int64(8*last+bits.Len8(s.Window[last]))
}

// rest is how many items were not begun.
func (s *Shard) rest() int64 {
	if s.Ended {
		return 0
	}
	return max(0, s.To-s.begunTo())
}

// join is one shard made of two neighbours, of which the first is over or the second is
// untouched.
func (s *Shard) join(next *Shard) Shard {
	both := *s
	if s.over() {
		both.Mark, both.Behind, both.Window, both.Pending = next.Mark, next.Behind, next.Window, next.Pending
	}
	if len(both.Source) == 0 || s.over() && len(next.Source) > 0 {
		both.Source = next.Source
	}
	both.To, both.Ended = next.To, s.Ended && next.Ended
	both.Done += next.Done
	both.Abandoned += next.Abandoned
	both.Again += next.Again
	both.Errors += next.Errors
	return both
}

// split shares out what was not begun among n shards. The first of them keeps all
// that was done. All know what the source has learned: that is of all its items.
func (s *Shard) split(n int) []Shard {
	if n == 1 {
		return []Shard{*s}
	}
	parts, from := make([]Shard, n), s.begunTo()
	for i := range parts {
		begin := from + partOf(s.To-from, i, n)
		parts[i] = Shard{Sweep: s.Sweep, From: begin, To: from + partOf(s.To-from, i+1, n), Mark: begin, Source: s.Source}
	}
	first := *s
	first.To = parts[0].To
	parts[0] = first
	return parts
}
