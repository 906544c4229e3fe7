package batch

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
)

const (
	chunksPerPass = 200_000 // numbers of chunks that a pass has: more than it can have chunks
	chunksAtOnce  = 10      // that one transaction stores
	chunksRead    = 50      // that are read at once
	chunksWalked  = 4       // that are read at once for a caller: each may have some megabytes
)

// MaxTasks is the maximum number of tasks in a batch.
const MaxTasks = 1_000_000

// Prepare prepares the pass that the batch requests. try is the number that Conduct
// returned. Prepare runs several transactions. If it does not finish, a later try starts
// over, and abandoned tries are removed.
func Prepare(ctx context.Context, store Store, id int64, try int) error {
	record, err := one(ctx, store, id)
	if err != nil || len(record.Wanted) == 0 {
		return err
	}
	p := &preparing{store: store, batch: &record.Batch, want: record.Wanted[0], try: try}
	if err := p.choose(ctx); err != nil {
		return err
	}
	if err := p.write(ctx); err != nil {
		return err
	}
	return p.begin(ctx)
}

func one(ctx context.Context, store Store, id int64) (Record, error) {
	found, err := store.Batches(ctx, Filter{IDs: []int64{id}})
	if err != nil {
		return Record{}, err
	}
	if len(found) == 0 {
		return Record{}, fmt.Errorf("batch %d: %w", id, fairlead.ErrNotFound)
	}
	return found[0], nil
}

// preparing is a pass in the making.
type preparing struct {
	store  Store
	batch  *Batch
	want   Wanted
	try    int
	chosen []choice
	read   map[int]*Chunk // chunks with their tasks, as they were read last
}

// choice is a task that takes part.
type choice struct {
	chunk int // its number
	index int
	ended int64
	doubt bool // it failed, and may have been applied
	lost  bool // it is doubtful: see Task.Doubtful
}

// choose finds the tasks that take part, in the order in which they do.
func (p *preparing) choose(ctx context.Context) error {
	var wanted map[int64]bool
	if p.want.Tasks != nil {
		wanted = map[int64]bool{}
		for _, id := range p.want.Tasks {
			wanted[id] = true
		}
	}
	err := p.walk(ctx, 0, wanted != nil, func(chunk *Chunk) (bool, error) {
		for i, mark := range chunk.States {
			if p.want.takes(chunk.Kind, mark) && (wanted == nil || wanted[chunk.TaskID(i)]) {
				p.chosen = append(p.chosen, choice{chunk.Number, i, chunk.Ended[i], mark == MarkDoubt, chunk.lost(i)})
			}
		}
		return true, nil
	})
	if p.want.Kind == PassUndo { // what was done last is undone first
		slices.SortStableFunc(p.chosen, func(a, b choice) int {
			return cmp.Or(cmp.Compare(b.ended, a.ended), cmp.Compare(b.chunk, a.chunk), cmp.Compare(b.index, a.index))
		})
	}
	return err
}

// takes reports whether a task takes part that stands like this.
func (w *Wanted) takes(kind PassKind, mark Mark) bool {
	switch {
	case kind == PassThen:
		return false
	case w.Kind == PassRetry:
		return kind != PassUndo && (mark == MarkFailed || mark == MarkDoubt)
	case kind == PassUndo: // it is resumed
		return mark == MarkFailed || mark == MarkDoubt || mark == MarkDrop || mark == MarkHalted
	}
	return mark == MarkDone || mark == MarkDoubt || mark == MarkHalted || w.Failed && mark == MarkFailed
}

// walk calls do with the chunks behind a number of passes that have begun, until it
// returns false.
func (p *preparing) walk(ctx context.Context, after int, tasks bool, do func(*Chunk) (bool, error)) error {
	filter := ChunkFilter{After: after, Tasks: tasks}
	for limit := 1; ; limit = min(2*limit, chunksWalked) { // often the first is all that is needed
		filter.Limit = limit
		chunks, err := p.store.Chunks(ctx, p.batch.ID, filter)
		if err != nil {
			return err
		}
		for i := range chunks {
			if !p.batch.began(chunks[i].Pass) {
				continue
			}
			if more, err := do(&chunks[i]); err != nil || !more {
				return err
			}
		}
		if len(chunks) < limit {
			return nil
		}
		filter.After = chunks[len(chunks)-1].Number
	}
}

// write stores the chunks of the pass.
func (p *preparing) write(ctx context.Context) error {
	w := newChunkWriter(p.store.AddChunks, p.batch.ID, p.try, p.want.Kind)
	for _, c := range p.chosen {
		chunk, err := p.chunk(ctx, c.chunk)
		if err != nil {
			return err
		}
		task := ChunkTask{Of: chunk.TaskID(c.index), Change: chunk.Tasks[c.index].Change}
		task.Before, task.Unremembered = chunk.before(c.index), chunk.unremembered(c.index)
		if err := w.add(ctx, task, c.doubt, c.lost); err != nil {
			return err
		}
	}
	return w.close(ctx, p.batch)
}

// chunk reads a chunk with its tasks, unless it is at hand.
func (p *preparing) chunk(ctx context.Context, number int) (*Chunk, error) {
	if chunk := p.read[number]; chunk != nil {
		return chunk, nil
	}
	chunks, err := p.store.Chunks(ctx, p.batch.ID, ChunkFilter{Numbers: []int{number}, Tasks: true})
	if err != nil {
		return nil, err
	}
	if len(chunks) != 1 {
		return nil, fmt.Errorf("chunk %d of batch %d: %w", number, p.batch.ID, fairlead.ErrNotFound)
	}
	if p.read == nil || len(p.read) >= chunksRead {
		p.read = map[int]*Chunk{}
	}
	p.read[number] = &chunks[0]
	return &chunks[0], nil
}

// begin makes the pass count, unless another try was faster or it is not wanted any
// more, and removes what other tries left behind.
func (p *preparing) begin(ctx context.Context) error {
	won := false
	_, err := p.store.Conduct(ctx, p.batch.ID, true, func(ctx context.Context, batch *Record, tx Tx) error {
		won = len(batch.Wanted) > 0 && batch.Wanted[0].Number == p.want.Number
		if !won {
			return nil
		}
		c := newConducting(batch, tx)
		if err := c.pass(ctx, p); err != nil {
			return err
		}
		return c.keep(ctx)
	})
	if err != nil {
		return err
	}
	if !won {
		return p.store.DropChunks(ctx, p.batch.ID, p.try)
	}
	for try := 1; try < p.try; try++ {
		if !p.batch.began(try) {
			if err := p.store.DropChunks(ctx, p.batch.ID, try); err != nil {
				return err
			}
		}
	}
	return nil
}

// pass lets tasks go on in a new pass.
func (c *conducting) pass(ctx context.Context, p *preparing) error {
	byChunk := map[int][]int{}
	for _, choice := range p.chosen {
		byChunk[choice.chunk] = append(byChunk[choice.chunk], choice.index)
	}
	numbers := make([]int, 0, len(byChunk))
	for number := range byChunk {
		numbers = append(numbers, number)
	}
	slices.Sort(numbers)
	taken := 0
	for some := range slices.Chunk(numbers, chunksRead) {
		chunks, err := c.tx.Chunks(ctx, ChunkFilter{Numbers: some})
		if err != nil {
			return err
		}
		for i := range chunks {
			chunk := c.touch(&chunks[i])
			for _, index := range byChunk[chunk.Number] {
				if !p.want.takes(chunk.Kind, chunk.States[index]) {
					return fmt.Errorf("task %d of chunk %d of batch %d changed while a pass was being prepared: %w", index, chunk.Number, c.ID, fairlead.ErrConflict)
				}
				c.move(chunk, index, MarkPassed)
				taken++
			}
		}
	}
	c.Wanted = c.Wanted[1:]
	c.PreparedAt = time.Time{} // the next may be made at once
	c.Forgiven = min(c.Forgiven, c.Tally.Fail)
	if taken == 0 {
		return nil
	}
	*c.Tally.Of(taskState(p.want.Kind, MarkHeld, false)) += taken
	*c.heldBy(p.want.Kind) += taken
	c.Passes = append(c.Passes, Pass{Number: p.try, Kind: p.want.Kind, Tasks: taken, Serial: p.want.Serial})
	return nil
}
