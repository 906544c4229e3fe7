package batch

import (
	"context"
	"encoding/json"
	"time"

	"github.com/fairlead-io/fairlead"
)

// soughtEvery is between two looks for jobs that are missing.
const soughtEvery = 30 * time.Second

// fold counts the tasks that have ended.
func (c *conducting) fold(ctx context.Context) error {
	if err := c.notice(ctx); err != nil {
		return err
	}
	if c.Out == 0 {
		return nil
	}
	chunks, err := c.tx.Chunks(ctx, ChunkFilter{Out: true})
	if err != nil {
		return err
	}
	seek := c.now.Sub(c.SoughtAt) >= soughtEvery
	for i := range chunks {
		if err := c.foldChunk(ctx, &chunks[i]); err != nil {
			return err
		}
		if seek {
			if err := c.seek(ctx, &chunks[i]); err != nil {
				return err
			}
		}
	}
	if c.ended > 0 {
		c.MovedAt = c.now
	}
	if seek {
		c.SoughtAt = c.now
	}
	return c.see(ctx, chunks)
}

func (c *conducting) foldChunk(ctx context.Context, p *Chunk) error {
	ends, err := c.tx.Ends(ctx, p.First, p.Last())
	if err != nil {
		return err
	}
	for _, end := range ends {
		i := int(end.ID - p.First)
		if p.States[i] != MarkOut {
			continue
		}
		p = c.touch(p)
		mark := markOf(end)
		unstarted := mark == MarkDrop
		if unstarted && p.Kind == PassRetry {
			mark = MarkFailed // as before the retry, which never started
		}
		if mark != MarkDone && p.doubtful(i) {
			mark = MarkDoubt
		}
		if mark, err = c.afterLoss(ctx, p, end, mark); err != nil {
			return err
		}
		c.move(p, i, mark)
		p.end(i, p.States[i], end.FinishedAt.Sub(c.CreatedAt))
		p.note(i, end.Memo)
		if mark != MarkDone && !unstarted && len(end.Memo) == 0 && !p.lost(i) {
			p.Unremembered = append(p.Unremembered, i)
		}
		c.ended++
	}
	return nil
}

// markOf is how a task stands whose job has ended.
func markOf(end TaskEnd) Mark {
	switch end.State {
	case fairlead.Succeeded:
		return MarkDone
	case fairlead.Cancelled, fairlead.Skipped:
		if end.Attempt > 0 || end.Released || len(end.Memo) > 0 {
			return MarkHalted
		}
		return MarkDrop
	}
	switch end.Reason {
	case fairlead.ReasonTimeout, fairlead.ReasonCrash, fairlead.ReasonPoison, fairlead.ReasonDeadline:
		return MarkDoubt
	}
	if end.Attempt > 1 || end.Released {
		return MarkDoubt // an ordinary failure is final: so an earlier run timed out, crashed, lost its lease or was released
	}
	return MarkFailed
}

// note keeps what an operation found before it applied a task.
func (p *Chunk) note(i int, memo json.RawMessage) {
	if len(memo) == 0 || p.Kind == PassUndo {
		return
	}
	var kept taskMemo
	if json.Unmarshal(memo, &kept) != nil || kept.Before == nil {
		return // the handler's own
	}
	if p.Before == nil {
		p.Before = map[int]json.RawMessage{}
	}
	p.Before[i] = kept.Before
}

// seek counts tasks whose jobs are missing. None is removed before it is counted, so
// there is no evidence of what became of them: each may have been applied, and counts
// as failed.
func (c *conducting) seek(ctx context.Context, p *Chunk) error {
	known, err := c.tx.Known(ctx, p.First, p.Last())
	if err != nil {
		return err
	}
	there := make([]bool, p.Size)
	for _, id := range known {
		there[id-p.First] = true
	}
	for i := range there {
		if !there[i] && p.States[i] == MarkOut {
			p = c.touch(p)
			c.move(p, i, MarkDoubt)
			p.end(i, MarkDoubt, c.now.Sub(c.CreatedAt))
			c.ended++
		}
	}
	return nil
}
