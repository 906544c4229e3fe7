package batch

import (
	"context"
	"encoding/json"
	"slices"
)

// Loss marks a moment at which a database may have lost its most recent commits. Every fence
// and job ID issued since then is larger than the value recorded here.
type Loss struct {
	Fence int64 `json:"fence"` // smaller than every fence issued since
	Job   int64 `json:"job"`   // smaller than every job ID issued since
}

// notice records the losses that the batch was open at. What ended before a loss is as it
// was seen, and what was stored after it cannot have run before.
func (c *conducting) notice(ctx context.Context) error {
	losses := c.tx.Losses()
	if len(losses) == 0 || losses[len(losses)-1].Fence <= c.LossSeen {
		return nil
	}
	first, err := c.tx.Chunks(ctx, ChunkFilter{Limit: 1})
	if err != nil {
		return err
	}
	for _, loss := range losses {
		if loss.Fence <= c.LossSeen {
			continue
		}
		c.LossSeen = loss.Fence
		if c.EndedAt.IsZero() && len(first) > 0 && first[0].First <= loss.Job {
			c.Losses, c.Combed = append(c.Losses, loss), 0
		}
	}
	return nil
}

// predatesLoss reports whether tasks of a chunk may have run in commits that were lost: the
// chunk was stored before a loss.
func (l *Ledger) predatesLoss(p *Chunk) bool {
	return slices.ContainsFunc(l.Losses, func(loss Loss) bool { return p.First <= loss.Job })
}

// ranAfterLoss reports whether a run of a task with a fence came after a loss, in which
// another run of the task may have been lost.
func (l *Ledger) ranAfterLoss(p *Chunk, fence int64) bool {
	return slices.ContainsFunc(l.Losses, func(loss Loss) bool { return p.First <= loss.Job && fence > loss.Fence })
}

// withTasks returns a chunk with its tasks.
func (c *conducting) withTasks(ctx context.Context, p *Chunk) (*Chunk, error) {
	if p.Tasks != nil {
		return p, nil
	}
	chunks, err := c.tx.Chunks(ctx, ChunkFilter{Numbers: []int{p.Number}, Tasks: true})
	if err == nil && len(chunks) == 1 {
		p.Tasks = chunks[0].Tasks
	}
	return p, err
}

// afterLoss is the mark of a task that may have run in commits that were lost. It notes
// the task as doubtful if what was there before it is not certain: no caller said it, and
// the run that read it came after the loss.
func (c *conducting) afterLoss(ctx context.Context, p *Chunk, end TaskEnd, mark Mark) (Mark, error) {
	if p.Kind == PassUndo || !c.predatesLoss(p) {
		return mark, nil
	}
	p, err := c.withTasks(ctx, p)
	if err != nil {
		return mark, err
	}
	i := int(end.ID - p.First)
	again := c.ranAfterLoss(p, end.Fence)
	known := p.Tasks[i].Before != nil
	var kept taskMemo
	if len(end.Memo) == 0 || json.Unmarshal(end.Memo, &kept) != nil {
		kept = taskMemo{}
	}
	switch {
	case known:
	case kept.Before != nil:
		if kept.Fence == 0 { // a node of an earlier version did not record it
			kept.Fence = end.Fence
		}
		if c.ranAfterLoss(p, kept.Fence) {
			c.doubt(p, i)
		}
	case mark == MarkDrop, mark != MarkDone && again:
		c.doubt(p, i)
	}
	switch {
	case mark == MarkDrop && known:
		return MarkHalted, nil
	case mark == MarkFailed && again:
		return MarkDoubt, nil
	}
	return mark, nil
}

// doubt notes that a task is doubtful.
func (c *conducting) doubt(p *Chunk, i int) {
	if !p.lost(i) {
		p.Lost = append(p.Lost, i)
		c.Doubtful++
	}
}

// lost reports whether a task is doubtful: see Task.Doubtful.
func (m *Marks) lost(i int) bool { return slices.Contains(m.Lost, i) }

// allCombed is Ledger.Combed when there is nothing left to comb.
const allCombed = 1 << 30

// comb goes over the tasks that are never going to be released, some chunks at a time, and
// reports whether it has seen all. They may have been released and have run in commits
// that were lost. If it is known what was there before one of them, a rollback puts that
// back; otherwise the task is doubtful.
func (c *conducting) comb(ctx context.Context) (bool, error) {
	if len(c.Losses) == 0 || !c.dropped() || c.Held == 0 || c.Combed == allCombed {
		return true, nil
	}
	chunks, err := c.tx.Chunks(ctx, ChunkFilter{Held: true, Kind: PassForward, After: c.Combed, Tasks: true, Limit: chunksRead})
	if err != nil {
		return false, err
	}
	for i := range chunks {
		c.Combed = chunks[i].Number
		if c.began(chunks[i].Pass) && c.predatesLoss(&chunks[i]) {
			c.combChunk(c.touch(&chunks[i]))
		}
	}
	if len(chunks) < chunksRead {
		c.Combed = allCombed
		return true, nil
	}
	c.done.Next = 0
	return false, nil
}

func (c *conducting) combChunk(p *Chunk) {
	for i, mark := range p.States {
		switch {
		case mark != MarkHeld:
		case p.Tasks[i].Before == nil:
			c.doubt(p, i)
		default:
			c.move(p, i, MarkHalted)
			p.end(i, MarkHalted, c.now.Sub(c.CreatedAt))
		}
	}
}
