package sqlstore

import (
	"cmp"
	"context"
	"slices"

	"github.com/fairlead-io/fairlead/batch"
)

// taskRange is a range of task IDs.
type taskRange struct{ first, last int64 }

func rangeOf(c *batch.Chunk) taskRange { return taskRange{c.First, c.Last()} }

// TaskSpan is a range of task IDs whose ends a transaction reads.
type TaskSpan struct {
	First, Last int64
	Out         []int64 // tasks without a counted end; nil selects the whole range
}

// expect records chunks whose ends the caller will probably read next, one chunk after the
// other. The first read then reads the ends of all of them.
func (t *batchTx) expect(chunks []batch.Chunk) {
	t.expected = make([]batch.Chunk, len(chunks))
	for i, c := range chunks {
		c.States, c.Tasks = slices.Clone(c.States), nil // the caller changes its own
		t.expected[i] = c
	}
}

// Ends implements batch.Tx.
func (t *batchTx) Ends(ctx context.Context, first, last int64) ([]batch.TaskEnd, error) {
	asked := taskRange{first, last}
	if slices.ContainsFunc(t.expected, func(c batch.Chunk) bool { return rangeOf(&c) == asked }) {
		if err := t.readAhead(ctx); err != nil {
			return nil, t.fail("ends", err)
		}
	}
	if ends, read := t.ends[asked]; read {
		delete(t.ends, asked) // a caller that reads them again wants the current ones
		return ends, nil
	}
	ends, err := t.readEnds(ctx, []TaskSpan{{First: first, Last: last}})
	return ends, t.fail("ends", err)
}

// readAhead reads the ends of all expected chunks.
func (t *batchTx) readAhead(ctx context.Context) error {
	spans := make([]TaskSpan, len(t.expected))
	for i := range t.expected {
		c := &t.expected[i]
		spans[i] = TaskSpan{First: c.First, Last: c.Last(), Out: make([]int64, 0, c.Out)}
		for k, mark := range c.States {
			if mark == batch.MarkOut {
				spans[i].Out = append(spans[i].Out, c.First+int64(k))
			}
		}
	}
	found, err := t.readEnds(ctx, spans)
	if err != nil {
		return err
	}
	t.ends = make(map[taskRange][]batch.TaskEnd, len(spans))
	for i := range spans {
		from, _ := slices.BinarySearchFunc(found, spans[i].First, compareEnd)
		to, _ := slices.BinarySearchFunc(found, spans[i].Last+1, compareEnd)
		t.ends[taskRange{spans[i].First, spans[i].Last}] = found[from:to:to]
	}
	t.expected = nil
	return nil
}

// readEnds returns the ends of jobs, ordered by ID.
func (t *batchTx) readEnds(ctx context.Context, spans []TaskSpan) ([]batch.TaskEnd, error) {
	var rows EndRows
	t.store.dialect.QueueEnds(t.db, spans, &rows)
	if err := t.db.Flush(ctx); err != nil {
		return nil, err
	}
	return rows.sorted(), nil
}

func compareEnd(end batch.TaskEnd, id int64) int { return cmp.Compare(end.ID, id) }
