package batch

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
)

// How far a batch lets its tasks out ahead of those who run them. More is faster,
// fewer have to be recalled when it is paused.
const (
	leastAhead   = 500
	mostAhead    = 20_000
	carefulAhead = 50                     // if failures pause it, and MaxRunning does not say
	aheadSpan    = 300 * time.Millisecond // what is released should last so long

	// What one transaction releases.
	outAtOnce = 4 * ChunkSize
	outBytes  = 16 << 20 // of args

	leastPause = 10 * time.Millisecond // between two looks because of the rate
)

// toRelease is how many tasks are still to be released.
func (r *Record) toRelease() int {
	if r.dropped() {
		return r.HeldUndo
	}
	return r.Held + r.HeldRetry + r.HeldUndo
}

// release makes jobs of tasks, as many as there may be. What was asked for goes
// first.
func (c *conducting) release(ctx context.Context) error {
	room := c.room()
	kinds := []PassKind{PassUndo, PassRetry, PassForward}
	if c.dropped() {
		kinds = kinds[:1]
	}
	if c.turns != nil {
		c.beside = c.turns.beside(c.Record, c.now)
	}
	if c.Out == 0 {
		c.MovedAt = c.now
	}
	n := 0
	for _, kind := range kinds {
		some := min(room-n, *c.heldBy(kind))
		if kind == PassForward && c.Canary.Tasks > 0 && !c.Approved {
			some = min(some, c.canaryRoom())
		}
		let, err := c.releaseOf(ctx, kind, some)
		if err != nil {
			return err
		}
		n += let
	}
	if n == 0 {
		return nil
	}
	if c.StartedAt.IsZero() {
		c.StartedAt = c.now
	}
	c.Saved = max(0, c.allowance()-float64(n))
	c.OutAt = c.now
	if n == outAtOnce || c.bytes >= outBytes {
		c.done.Next = 0
	}
	return nil
}

// releaseOf releases some tasks of passes of a kind, in order, and returns how many.
// Chunks of tries that were given up may lie between the others.
func (c *conducting) releaseOf(ctx context.Context, kind PassKind, most int) (int, error) {
	n := 0
	filter := ChunkFilter{Held: true, Kind: kind, Limit: max(0, most)/ChunkSize + 2}
	for n < most && c.bytes < outBytes {
		chunks, err := c.heldChunks(ctx, filter)
		if err != nil {
			return n, err
		}
		for i := range chunks {
			if !c.began(chunks[i].Pass) {
				continue
			}
			if c.serial(chunks[i].Pass) {
				if c.OutUndo > 0 {
					return n, nil
				}
				most = min(most, n+1)
			}
			n += c.releaseChunk(c.touch(&chunks[i]), most-n)
		}
		if len(chunks) < filter.Limit {
			break
		}
		filter.After = chunks[len(chunks)-1].Number
	}
	return n, nil
}

// heldChunks returns chunks with tasks to release, and what these have to do unless
// their jobs are ready.
func (c *conducting) heldChunks(ctx context.Context, filter ChunkFilter) ([]Chunk, error) {
	filter.Tasks = c.outlook == nil || len(c.outlook.jobs) == 0
	chunks, err := c.tx.Chunks(ctx, filter)
	if err != nil || filter.Tasks {
		return chunks, err
	}
	if filter.Kind == PassForward && filter.After == 0 && len(chunks) > 0 {
		c.outlook.passBelow(chunks[0].Number)
	}
	var missing []int
	for i := range chunks {
		if c.outlook.ready(chunks[i].Number) == nil {
			missing = append(missing, chunks[i].Number)
		}
	}
	if len(missing) == 0 {
		return chunks, nil
	}
	whole, err := c.tx.Chunks(ctx, ChunkFilter{Numbers: missing, Tasks: true})
	for i := range whole {
		at := slices.IndexFunc(chunks, func(p Chunk) bool { return p.Number == whole[i].Number })
		chunks[at] = whole[i]
	}
	return chunks, err
}

// serial reports whether each task of a pass waits for the one before.
func (b *Batch) serial(pass int) bool {
	return slices.ContainsFunc(b.Passes, func(p Pass) bool { return p.Number == pass && p.Serial })
}

// releaseChunk releases some tasks of a chunk, in order, and returns how many.
func (c *conducting) releaseChunk(p *Chunk, most int) int {
	n, ready := 0, c.outlook.ready(p.Number)
	for i := 0; i < p.Size && n < most && c.bytes < outBytes; i++ {
		if p.States[i] == MarkHeld {
			var job *fairlead.Job
			if ready != nil {
				job = ready[i]
			} else {
				job = c.job(p, i)
			}
			job.StartBy = c.takeTurn()
			c.move(p, i, MarkOut)
			c.jobs = append(c.jobs, job)
			c.bytes += len(job.Args)
			n++
		}
	}
	return n
}

// takeTurn puts another task in the line, and returns by when it is to start. That is so
// long ago that no task of this look has an instant to come: it would count as missed.
func (c *conducting) takeTurn() time.Time {
	at, ok := c.beside.first()
	if latest := c.now.Add(-outAtOnce * step); !ok || at.After(latest) {
		at = latest
	}
	c.beside.dropFirst()
	return c.Line.add(at)
}

// room is how many tasks may be released now.
func (c *conducting) room() int {
	if c.Paused || c.toRelease() == 0 {
		return 0
	}
	bound := c.MaxRunning
	if bound == 0 {
		bound = c.ahead()
	}
	room := max(0, bound-c.Out)
	if c.Rate > 0 {
		allowed := c.allowance()
		if float64(room) > allowed {
			next := (1 - (allowed - math.Floor(allowed))) / c.Rate
			c.done.Next = max(time.Duration(next*float64(time.Second)), leastPause)
		}
		room = min(room, int(allowed))
	}
	return min(room, outAtOnce)
}

// ahead adapts how many tasks are released to how fast they are done.
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

// allowance is how many tasks the rate allows to release. It never saves more than
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
