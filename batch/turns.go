package batch

import (
	"context"
	"time"
)

// Turns holds what a process knows about the open batches in a cluster. It lets the tasks of
// several batches take turns, however large each batch is. A Turns is not safe for
// concurrent use.
//
// Ready jobs with the same priority start in StartBy order. When a batch with m released
// tasks releases its next task, the new task gets the StartBy of the task that another batch
// released after its own first m tasks. The two tasks therefore start next to each other,
// rather than the new one starting after everything released earlier. If no other batch has
// released more tasks, the new task goes to the end.
type Turns struct {
	lines map[int64]openBatch // by batch
}

// openBatch is the state of an open batch on which the turns of other batches depend.
type openBatch struct {
	queue    string
	priority int
	line     Line
	stuckAt  time.Time // when it no longer counts, unless tasks end before
}

// stuckAfter is how long no task of a batch ends, beyond what one attempt may take, until
// others do not take turns with it: its tasks may wait for something that takes hours.
const stuckAfter = 10 * time.Minute

// KnowOpen replaces the known batches with open.
func (t *Turns) KnowOpen(open []Record) {
	t.lines = make(map[int64]openBatch, len(open))
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
		t.lines = map[int64]openBatch{}
	}
	t.lines[r.ID] = openBatch{r.Queue, r.Priority, r.Line, r.MovedAt.Add(r.Timeout + stuckAfter)}
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
