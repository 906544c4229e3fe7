package fairlead

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"time"
)

// How far a batch lets its tasks out ahead of those who run them. More is faster,
// fewer have to be recalled when it is paused.
const (
	leastAhead   = 500
	mostAhead    = 20_000
	carefulAhead = 50                     // if failures pause it, and MaxRunning does not say
	aheadSpan    = 300 * time.Millisecond // what is let out should last so long
	outAtOnce    = 10 * PartSize          // tasks that one transaction lets out

	soughtEvery = 30 * time.Second // between two looks for jobs that were removed
	prepareTime = time.Minute      // after which somebody else makes a wanted pass
)

// Conducted is what became of a look at a batch.
type Conducted struct {
	Next    time.Duration // until it should be looked at again by itself; zero: at once; negative: when there is news
	Prepare bool          // a pass is wanted, and nobody is known to make it
	Try     int           // the number of the pass then
	Ended   bool          // it has completed
}

// ConductBatch looks at a batch once: it counts the tasks that have ended, lets out
// more, and completes it when none is left. Nothing happens if others are at it.
func ConductBatch(ctx context.Context, store Conductor, id int64) (Conducted, error) {
	var c *conducting
	begun, err := store.Conduct(ctx, id, false, func(ctx context.Context, batch *Batch, tx BatchTx) error {
		c = newConducting(batch, tx)
		return c.look(ctx)
	})
	if err != nil || !begun {
		return Conducted{Next: -1}, err
	}
	return c.done, nil
}

// conducting is a transaction that acts upon a batch.
type conducting struct {
	*Batch
	tx    BatchTx
	now   time.Time
	ended int           // tasks that this look saw end
	saved map[int]*Part // number → parts that were changed
	order []int         // theirs
	jobs  []*Job        // to be enqueued
	done  Conducted
}

func newConducting(batch *Batch, tx BatchTx) *conducting {
	return &conducting{Batch: batch, tx: tx, now: tx.Now(), saved: map[int]*Part{}, done: Conducted{Next: -1}}
}

// look does all there is to do with a batch.
func (c *conducting) look(ctx context.Context) error {
	if !c.Opened || !c.EndedAt.IsZero() {
		return nil
	}
	if err := c.fold(ctx); err != nil {
		return err
	}
	return c.lookOn(ctx)
}

// lookOn is look for a batch whose ends are counted.
func (c *conducting) lookOn(ctx context.Context) error {
	if !c.EndedAt.IsZero() {
		return c.keep(ctx)
	}
	if err := c.judge(ctx); err != nil {
		return err
	}
	if err := c.letOut(ctx); err != nil {
		return err
	}
	if err := c.conclude(ctx); err != nil {
		return err
	}
	return c.keep(ctx)
}

// keep stores what was changed.
func (c *conducting) keep(ctx context.Context) error {
	parts := make([]Part, 0, len(c.order))
	for _, number := range c.order {
		parts = append(parts, *c.saved[number])
	}
	if len(parts) > 0 {
		if err := c.tx.SaveParts(ctx, parts); err != nil {
			return err
		}
	}
	if len(c.jobs) == 0 {
		return nil
	}
	return c.tx.Enqueue(ctx, c.jobs)
}

// touch notes that a part was changed, and returns it as it is by now.
func (c *conducting) touch(p *Part) *Part {
	if known := c.saved[p.Number]; known != nil {
		if known.Tasks == nil {
			known.Tasks = p.Tasks
		}
		return known
	}
	c.saved[p.Number] = p
	c.order = append(c.order, p.Number)
	return p
}

// move counts a task that goes from one state to another.
func (c *conducting) move(p *Part, i int, to Mark) {
	from := p.States[i]
	*c.Tally.Of(taskState(p.Kind, from, c.dropped()))--
	if to != MarkPassed {
		*c.Tally.Of(taskState(p.Kind, to, c.dropped()))++
	}
	for _, m := range []struct {
		mark Mark
		by   int
	}{{from, -1}, {to, 1}} {
		switch m.mark {
		case MarkHeld:
			p.Held += m.by
			*c.heldBy(p.Kind) += m.by
		case MarkOut:
			p.Out += m.by
			c.Out += m.by
		case MarkDoubt:
			if p.Kind != PassUndo {
				c.Doubtful += m.by
			}
		}
	}
	p.States[i] = to
}

// heldBy is how many tasks of passes of a kind were not let out yet.
func (b *Batch) heldBy(kind PassKind) *int {
	switch kind {
	case PassRetry:
		return &b.HeldRetry
	case PassUndo:
		return &b.HeldUndo
	}
	return &b.Held
}

// toLetOut is how many tasks are still to be let out.
func (b *Batch) toLetOut() int {
	if b.dropped() {
		return b.HeldUndo
	}
	return b.Held + b.HeldRetry + b.HeldUndo
}

// fold counts the tasks that have ended.
func (c *conducting) fold(ctx context.Context) error {
	if c.Out == 0 {
		return nil
	}
	parts, err := c.tx.Parts(ctx, PartFilter{Out: true})
	if err != nil {
		return err
	}
	seek := c.now.Sub(c.SoughtAt) >= soughtEvery
	for i := range parts {
		if err := c.foldPart(ctx, &parts[i]); err != nil {
			return err
		}
		if seek {
			if err := c.seek(ctx, &parts[i]); err != nil {
				return err
			}
		}
	}
	if seek {
		c.SoughtAt = c.now
	}
	return nil
}

func (c *conducting) foldPart(ctx context.Context, p *Part) error {
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
		c.move(p, i, markOf(end))
		p.end(i, p.States[i], end.FinishedAt.Sub(c.CreatedAt))
		p.note(i, end.Memo)
		c.ended++
	}
	return nil
}

// markOf is how a task stands whose job has ended.
func markOf(end TaskEnd) Mark {
	switch end.State {
	case Succeeded:
		return MarkDone
	case Cancelled, Skipped:
		return MarkDrop
	}
	switch end.Reason {
	case ReasonTimeout, ReasonCrash, ReasonPoison, ReasonDeadline:
		return MarkDoubt
	}
	return MarkFailed
}

// note keeps what an operation found before it applied a task.
func (p *Part) note(i int, memo json.RawMessage) {
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

// seek counts tasks as cancelled whose jobs were removed.
func (c *conducting) seek(ctx context.Context, p *Part) error {
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
			c.move(p, i, MarkDrop)
			p.end(i, MarkDrop, c.now.Sub(c.CreatedAt))
			c.ended++
		}
	}
	return nil
}

// judge pauses a batch with too many failures, decides about its canary, and takes
// back what was let out and must not start any more.
func (c *conducting) judge(ctx context.Context) error {
	if failed := c.Tally.Fail - c.Forgiven; !c.Paused && !c.dropped() && c.StopAfter.passed(failed, c.Total) {
		c.Paused, c.Reason = true, fmt.Sprintf("%d of %d tasks have failed", c.Tally.Fail, c.Total)
	}
	c.judgeCanary()
	if c.Out > 0 && (c.Paused || c.dropped()) {
		return c.recall(ctx)
	}
	return nil
}

func (t Threshold) passed(failed, total int) bool {
	return failed > 0 && (t.Failures > 0 && failed >= t.Failures || t.Percent > 0 && float64(failed)*100 >= t.Percent*float64(total))
}

// Awaiting tells whether the canary has ended and somebody has to approve of it.
func (b *Batch) Awaiting() bool {
	return b.Canary.Tasks > 0 && !b.Approved && !b.dropped() && b.canaryRoom() == 0 && b.Out == 0 && b.Held > 0
}

// canaryRoom is how many tasks may be let out before the canary is approved of.
func (b *Batch) canaryRoom() int { return max(0, b.Canary.Tasks-(b.Total-b.Held)) }

// judgeCanary lets the other tasks follow if enough of the first succeeded.
func (c *conducting) judgeCanary() {
	if !c.Awaiting() || c.Canary.Ratio == 0 || c.Paused {
		return
	}
	if ended := c.Total - c.Held; float64(c.Tally.Success) >= c.Canary.Ratio*float64(ended) {
		c.Approved = true
	} else {
		c.Paused, c.Reason = true, fmt.Sprintf("of the first %d tasks %d succeeded; %.0f %% have to", ended, c.Tally.Success, 100*c.Canary.Ratio)
	}
}

// recall takes back tasks that were let out and have not started. Those that have
// end as they end.
func (c *conducting) recall(ctx context.Context) error {
	parts, err := c.tx.Parts(ctx, PartFilter{Out: true})
	if err != nil {
		return err
	}
	for i := range parts {
		p := &parts[i]
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
	}
	return nil
}

// letOut makes jobs of tasks, in order, as many as there may be.
func (c *conducting) letOut(ctx context.Context) error {
	room := c.room()
	if room == 0 {
		return nil
	}
	filter := PartFilter{Held: true, Tasks: true, Limit: room/PartSize + 2 + len(c.Passes)} // some are for completions
	if c.dropped() {
		filter.Kind = PassUndo
	}
	parts, err := c.tx.Parts(ctx, filter)
	if err != nil {
		return err
	}
	before := len(c.jobs)
	for i := range parts {
		if room == 0 || !c.began(parts[i].Pass) || parts[i].Kind == PassThen {
			continue
		}
		p := c.touch(&parts[i])
		for i := 0; i < p.Size && room > 0; i++ {
			if p.States[i] == MarkHeld {
				c.move(p, i, MarkOut)
				c.jobs = append(c.jobs, c.job(p, i))
				room--
			}
		}
	}
	if n := len(c.jobs) - before; n > 0 {
		if c.StartedAt.IsZero() {
			c.StartedAt = c.now
		}
		c.Saved = max(0, c.allowance()-float64(n))
		c.OutAt = c.now
		if n == outAtOnce {
			c.done.Next = 0
		}
	}
	return nil
}

// room is how many tasks may be let out now.
func (c *conducting) room() int {
	if c.Paused || c.toLetOut() == 0 {
		return 0
	}
	bound := c.MaxRunning
	if bound == 0 {
		bound = c.ahead()
	}
	if c.HeldUndo > 0 && c.Passes[len(c.Passes)-1].Serial {
		bound = 1
	}
	room := bound - c.Out
	if c.Canary.Tasks > 0 && !c.Approved && !c.dropped() {
		room = min(room, c.canaryRoom())
	}
	if c.Rate > 0 {
		allowed := c.allowance()
		room = min(room, int(allowed))
		c.done.Next = time.Duration((1 - (allowed - math.Floor(allowed))) / c.Rate * float64(time.Second))
	}
	return min(max(room, 0), outAtOnce)
}

// ahead adapts how many tasks are let out to how fast they are done.
func (c *conducting) ahead() int {
	if c.StopAfter != (Threshold{}) {
		return carefulAhead
	}
	if c.Ahead == 0 {
		c.Ahead = leastAhead
	}
	if span := c.now.Sub(c.OutAt); c.ended > 0 && span > 0 {
		wanted := int(float64(c.ended) * float64(aheadSpan) / float64(span))
		c.Ahead = min(max(wanted, c.Ahead*3/4, leastAhead), mostAhead, 4*c.Ahead)
	}
	return c.Ahead
}

// allowance is how many tasks the rate allows to let out. It never saves more than
// a tenth of a second's, but always a whole task.
func (c *conducting) allowance() float64 {
	if c.Rate == 0 {
		return 0
	}
	if c.OutAt.IsZero() {
		return 1
	}
	return min(c.Saved+c.now.Sub(c.OutAt).Seconds()*c.Rate, max(1, c.Rate/10))
}

// conclude completes a batch of which no task is left.
func (c *conducting) conclude(ctx context.Context) error {
	if c.Undoing && len(c.Wanted) == 0 && c.Out == 0 && c.Tally.Success+c.Doubtful > 0 {
		// Tasks that were running when it was rolled back were applied after all.
		c.Wanted = append(c.Wanted, Wanted{Kind: PassUndo, Serial: c.Passes[len(c.Passes)-1].Serial})
	}
	if len(c.Wanted) > 0 {
		if c.done.Prepare = c.now.Sub(c.PreparedAt) >= prepareTime; c.done.Prepare {
			c.PreparedAt = c.now
			c.Tries++
			c.done.Try = c.Tries
		}
		return nil
	}
	if c.Tally.Open() > 0 {
		return nil
	}
	c.Completions++
	c.EndedAt, c.done.Ended = c.now, true
	return c.then(ctx)
}
