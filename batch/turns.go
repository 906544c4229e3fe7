package batch

import (
	"context"
	"time"
)

// Turns is what a process knows of the open batches of a cluster, so that the tasks of
// several batches take turns, whatever their size. It has one user at a time.
//
// Ready jobs of the same priority go by StartBy. A batch that has m tasks out gives the
// next one the instant of the task of another batch before which m are out: so it stands
// beside that, and not behind all that were released before. With as many out as any other
// batch it stands at the end.
type Turns struct {
	lines map[int64]standing // by batch
}

// standing is what the turns of other batches depend on.
type standing struct {
	queue    string
	priority int
	line     Line
	stuckAt  time.Time // when it no longer counts, unless tasks end before
}

// stuckAfter is how long no task of a batch ends, beyond what one attempt may take, until
// others do not take turns with it: its tasks may wait for something that takes hours.
const stuckAfter = 10 * time.Minute

// KnowOpen replaces what is known by open batches as they were just read.
func (t *Turns) KnowOpen(open []Record) {
	t.lines = make(map[int64]standing, len(open))
	for i := range open {
		t.know(&open[i])
	}
}

// know notes how a batch stands now.
func (t *Turns) know(r *Record) {
	if len(r.Line) == 0 {
		delete(t.lines, r.ID)
		return
	}
	if t.lines == nil {
		t.lines = map[int64]standing{}
	}
	t.lines[r.ID] = standing{r.Queue, r.Priority, r.Line, r.MovedAt.Add(r.Timeout + stuckAfter)}
}

// beside is the line from the place on where the next task of a batch belongs: of those of
// other batches that with the earliest instant there. It is empty if the batch has as many
// tasks out as any other.
func (t *Turns) beside(r *Record, now time.Time) Line {
	var first Line
	for id, other := range t.lines {
		if id == r.ID || other.queue != r.Queue || other.priority != r.Priority || now.After(other.stuckAt) {
			continue
		}
		line := other.line.behind(r.Out)
		if len(line) > 0 && (len(first) == 0 || line[0].From.Before(first[0].From)) {
			first = line
		}
	}
	return first
}

// turnsRead is how many open batches a process reads that knows none. Of each its running tasks are counted.
const turnsRead = 32

// readTurns reads the newest open batches.
func readTurns(ctx context.Context, store Store) (*Turns, error) {
	open, err := store.Batches(ctx, Filter{Open: true, Limit: turnsRead})
	turns := &Turns{}
	turns.KnowOpen(open)
	return turns, err
}
