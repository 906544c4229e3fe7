package batch

import (
	"context"
	"fmt"
)

// judge pauses a batch with too many failures, decides about its canary, and takes
// back what was released and must not start any more.
func (c *conducting) judge(ctx context.Context) error {
	if failed := c.Tally.Fail - c.Forgiven; !c.Paused && !c.dropped() && c.StopAfter.passed(failed, c.Total) {
		c.Paused, c.Reason = true, fmt.Sprintf("%d of %d tasks have failed", c.Tally.Fail, c.Total)
	}
	c.judgeCanary()
	if c.Out > 0 && (c.Paused || c.dropped()) {
		if err := c.recall(ctx); err != nil {
			return err
		}
	}
	if c.HeldRetry > 0 && c.dropped() {
		return c.dropRetries(ctx)
	}
	return nil
}

func (t Threshold) passed(failed, total int) bool {
	return failed > 0 && (t.Failures > 0 && failed >= t.Failures || t.Percent > 0 && float64(failed)*100 >= t.Percent*float64(total))
}

// awaitsApproval reports whether the canary has ended and the other tasks wait.
func (r *Record) awaitsApproval() bool {
	return r.Canary.Tasks > 0 && !r.Approved && !r.dropped() && r.canaryRoom() == 0 &&
		r.Out == 0 && r.Held > 0 && r.HeldRetry == 0 && len(r.Wanted) == 0
}

// canaryRoom is how many tasks may be released before the canary is approved of.
func (r *Record) canaryRoom() int { return max(0, r.Canary.Tasks-(r.Total-r.Held)) }

// judgeCanary lets the other tasks follow if enough of the first succeeded.
func (c *conducting) judgeCanary() {
	if !c.awaitsApproval() || c.Canary.Ratio == 0 || c.Paused {
		return
	}
	if ended := c.Total - c.Held; float64(c.Tally.Success) >= c.Canary.Ratio*float64(ended) {
		c.Approved = true
	} else {
		c.Paused, c.Reason = true, fmt.Sprintf("of the first %d tasks %d succeeded; %.0f %% have to", ended, c.Tally.Success, 100*c.Canary.Ratio)
	}
}

// recall takes back tasks that were released and have not started. Those that have
// end as they end.
func (c *conducting) recall(ctx context.Context) error {
	chunks, err := c.tx.Chunks(ctx, ChunkFilter{Out: true})
	if err != nil {
		return err
	}
	for i := range chunks {
		p := &chunks[i]
		if p.Kind == PassUndo && !c.Paused {
			continue
		}
		if known := c.saved[p.Number]; known != nil {
			p = known
		}
		ids, err := c.tx.Recall(ctx, p.First, p.Last())
		if err != nil {
			return err
		}
		for _, id := range ids {
			if i := int(id - p.First); p.States[i] == MarkOut {
				p = c.touch(p)
				c.move(p, i, MarkHeld)
			}
		}
		if p.Kind == PassRetry && c.dropped() {
			c.dropHeld(p)
		}
	}
	return nil
}

// dropRetries lets tasks that are not going to be retried be what they were: failed.
func (c *conducting) dropRetries(ctx context.Context) error {
	chunks, err := c.tx.Chunks(ctx, ChunkFilter{Held: true, Kind: PassRetry})
	if err != nil {
		return err
	}
	for i := range chunks {
		if c.began(chunks[i].Pass) {
			c.dropHeld(c.touch(&chunks[i]))
		}
	}
	return nil
}

func (c *conducting) dropHeld(p *Chunk) {
	for i, mark := range p.States {
		if mark != MarkHeld {
			continue
		}
		was := MarkFailed
		if p.doubtful(i) || c.predatesLoss(p) {
			was = MarkDoubt
		}
		c.move(p, i, was)
		p.end(i, was, c.now.Sub(c.CreatedAt))
	}
}
