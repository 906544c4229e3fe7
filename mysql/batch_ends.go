package mysql

import (
	"cmp"
	"context"
	"database/sql"
	"slices"

	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// expect notes chunks whose ends are probably asked for next, one chunk after the
// other: the first question then reads them all.
func (c *lockedBatch) expect(chunks []batch.Chunk) {
	c.chunks = make([]batch.Chunk, len(chunks))
	for i, p := range chunks {
		p.States, p.Tasks = slices.Clone(p.States), nil // the caller changes its own
		c.chunks[i] = p
	}
}

// endsOf are the jobs of a range that have ended.
func (c *lockedBatch) endsOf(ctx context.Context, asked idRange) ([]batch.TaskEnd, error) {
	if slices.ContainsFunc(c.chunks, func(p batch.Chunk) bool { return spanOf(&p) == asked }) {
		if err := c.lookAhead(ctx); err != nil {
			return nil, err
		}
	}
	if ends, read := c.ends[asked]; read {
		delete(c.ends, asked) // who asks again wants to know what is new
		return ends, nil
	}
	return c.readEnds(ctx, []idRange{asked})
}

func spanOf(p *batch.Chunk) idRange { return idRange{p.First, p.Last()} }

// lookAhead reads the ends of all chunks that are expected: those that are news, as
// most of a chunk may have ended long ago.
func (c *lockedBatch) lookAhead(ctx context.Context) error {
	var out []int64
	for _, p := range c.chunks {
		for i, mark := range p.States {
			if mark == batch.MarkOut {
				out = append(out, p.First+int64(i))
			}
		}
	}
	slices.Sort(out)
	found, err := c.readEnds(ctx, slices.Collect(spans(out)))
	if err != nil {
		return err
	}
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

// endRanges is how many ranges of ids one statement asks for.
const endRanges = 500

// readEnds reads ends, in order. Memos come after them: they are written with them
// or earlier.
func (c *lockedBatch) readEnds(ctx context.Context, ranges []idRange) (ends []batch.TaskEnd, err error) {
	memos, released := map[int64][]byte{}, map[int64]bool{}
	for chunk := range slices.Chunk(ranges, endRanges) {
		among := within(chunk)
		err := c.each(ctx, func(row *sql.Rows) error {
			var end batch.TaskEnd
			var outcome int
			var finished int64
			err := row.Scan(&end.ID, &end.Fence, &outcome, &end.Attempt, &end.Failures, &end.Crashes, &end.Reason, &finished)
			end.State, end.FinishedAt = sqlstore.StateOf(outcome), sqlstore.Time(finished)
			ends = append(ends, end)
			return err
		}, fill(c.sql.Ends, "among", among))
		if err != nil {
			return nil, err
		}
		err = c.each(ctx, func(row *sql.Rows) error {
			var id int64
			var memo []byte
			var begun bool
			err := row.Scan(&id, &memo, &begun)
			memos[id], released[id] = memo, begun
			return err
		}, fill(c.sql.Memos, "among", among))
		if err != nil {
			return nil, err
		}
	}
	for i := range ends {
		ends[i].Memo, ends[i].Released = memos[ends[i].ID], released[ends[i].ID]
	}
	slices.SortFunc(ends, func(a, b batch.TaskEnd) int { return compareEnd(a, b.ID) })
	return ends, nil
}
