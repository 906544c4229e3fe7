package postgres

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// expect notes chunks whose ends are probably asked for next, one chunk after the
// other: the first question then reads them all.
func (c *batchTx) expect(chunks []batch.Chunk) {
	c.chunks = make([]batch.Chunk, len(chunks))
	for i, p := range chunks {
		p.States, p.Tasks = slices.Clone(p.States), nil // the caller changes its own
		c.chunks[i] = p
	}
}

// Ends implements batch.Tx.
func (c *batchTx) Ends(ctx context.Context, first, last int64) ([]batch.TaskEnd, error) {
	asked := idRange{first, last}
	if !c.readAhead(asked) {
		look := endsLook{spans: []idRange{asked}}
		if err := c.ask(ctx, look.calls(c.Store)...); err != nil {
			return nil, fmt.Errorf("ends: %w", err)
		}
		return look.sorted(), nil
	}
	if err := c.lookAhead(ctx); err != nil {
		return nil, fmt.Errorf("ends: %w", err)
	}
	ends := c.ends[asked]
	delete(c.ends, asked) // a caller that asks again wants to know what is new
	return ends, nil
}

// readAhead reports whether the ends of a range were read already, or are read next
// with those of other chunks.
func (c *batchTx) readAhead(asked idRange) bool {
	if _, read := c.ends[asked]; read {
		return true
	}
	return slices.ContainsFunc(c.chunks, func(p batch.Chunk) bool { return spanOf(&p) == asked })
}

func spanOf(p *batch.Chunk) idRange { return idRange{p.First, p.Last()} }

// lookAhead reads the ends of all chunks that are expected. Of a chunk most of which
// has ended long ago, only those are looked for that are news.
func (c *batchTx) lookAhead(ctx context.Context) error {
	if c.chunks == nil {
		return nil
	}
	var look endsLook
	for i := range c.chunks {
		look.add(&c.chunks[i])
	}
	if err := c.ask(ctx, look.calls(c.Store)...); err != nil {
		return err
	}
	found := look.sorted()
	c.ends = make(map[idRange][]batch.TaskEnd, len(c.chunks))
	for i := range c.chunks {
		of := spanOf(&c.chunks[i])
		from, _ := slices.BinarySearchFunc(found, of.first, compareEnd)
		to, _ := slices.BinarySearchFunc(found, of.last+1, compareEnd)
		c.ends[of] = found[from:to:to]
	}
	c.chunks = nil
	return nil
}

func compareEnd(end batch.TaskEnd, id int64) int { return cmp.Compare(end.ID, id) }

// endsLook reads which jobs have ended.
type endsLook struct {
	spans []idRange
	ids   []int64

	ends  []batch.TaskEnd
	memos map[int64][]byte

	released map[int64]bool
}

// add looks for the ends of a chunk.
func (l *endsLook) add(p *batch.Chunk) {
	if 2*p.Out >= p.Size {
		l.spans = append(l.spans, spanOf(p))
		return
	}
	for i, mark := range p.States {
		if mark == batch.MarkOut {
			l.ids = append(l.ids, p.First+int64(i))
		}
	}
}

// calls read ends before memos, which are written with them or earlier.
func (l *endsLook) calls(s *Store) []call {
	l.memos, l.released = map[int64][]byte{}, map[int64]bool{}
	var calls []call
	if len(l.spans) > 0 {
		firsts, lasts := make([]int64, len(l.spans)), make([]int64, len(l.spans))
		for i, of := range l.spans {
			firsts[i], lasts[i] = of.first, of.last
		}
		calls = append(calls,
			call{sql: s.sql.EndsBetween, args: []any{firsts, lasts}, each: l.addEnd},
			call{sql: s.sql.MemosBetween, args: []any{firsts, lasts}, each: l.addMemo})
	}
	if len(l.ids) > 0 {
		calls = append(calls,
			call{sql: s.sql.EndsOf, args: []any{l.ids}, each: l.addEnd},
			call{sql: s.sql.MemosOf, args: []any{l.ids}, each: l.addMemo})
	}
	return calls
}

func (l *endsLook) addEnd(row sqlstore.Scanner) error {
	var end batch.TaskEnd
	var outcome int
	var reason *string
	var finished int64
	err := row.Scan(&end.ID, &end.Fence, &outcome, &end.Attempt, &end.Failures, &end.Crashes, &reason, &finished)
	end.State, end.FinishedAt = sqlstore.StateOf(outcome), sqlstore.Time(finished)
	if reason != nil {
		end.Reason = fairlead.Reason(*reason)
	}
	l.ends = append(l.ends, end)
	return err
}

func (l *endsLook) addMemo(row sqlstore.Scanner) error {
	var id int64
	var memo []byte
	var released bool
	err := row.Scan(&id, &memo, &released)
	l.memos[id], l.released[id] = memo, released
	return err
}

// sorted are the ends that were found, in order.
func (l *endsLook) sorted() []batch.TaskEnd {
	for i := range l.ends {
		l.ends[i].Memo, l.ends[i].Released = l.memos[l.ends[i].ID], l.released[l.ends[i].ID]
	}
	slices.SortFunc(l.ends, func(a, b batch.TaskEnd) int { return compareEnd(a, b.ID) })
	return l.ends
}

// Known implements batch.Tx.
func (c *batchTx) Known(ctx context.Context, first, last int64) ([]int64, error) {
	var ids []int64
	if err := c.ask(ctx, idsCall(&ids, c.sql.KnownJobs, first, last)); err != nil {
		return nil, fmt.Errorf("read known jobs: %w", err)
	}
	return ids, nil
}

// Running implements batch.Tx.
func (c *batchTx) Running(ctx context.Context, first, last int64) (running int, err error) {
	err = c.ask(ctx, call{
		sql: c.sql.RunningBetween, args: []any{first, last},
		each: func(row sqlstore.Scanner) error { return row.Scan(&running) },
	})
	if err != nil {
		return 0, fmt.Errorf("read running jobs: %w", err)
	}
	return running, nil
}

// Recall implements batch.Tx.
func (c *batchTx) Recall(ctx context.Context, first, last int64) ([]int64, error) {
	var ids []int64
	if err := c.ask(ctx, idsCall(&ids, c.sql.Recall, first, last)); err != nil {
		return nil, fmt.Errorf("recall: %w", err)
	}
	if len(ids) > 0 {
		c.writes = append(c.writes,
			call{sql: c.sql.LeaveGates, args: []any{ids, string(deleted)}, each: readGates(&c.gates)},
			call{sql: c.sql.Forget, args: []any{ids, ""}})
	}
	return ids, nil
}
