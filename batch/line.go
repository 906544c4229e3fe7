package batch

import (
	"slices"
	"time"
)

// Line represents a batch's released tasks by their StartBy times, in release order. Tasks
// do not end in exactly this order, so a Line is only an estimate. It is compact, and
// accurate enough to let batches take turns.
type Line []Stretch

// Stretch is a series of tasks whose StartBy times are one step apart.
type Stretch struct {
	From  time.Time // instant of the first task
	Tasks int       // number of tasks
}

const (
	longestLine = 32 // stretches
	step        = time.Microsecond
	joined      = 50 * time.Millisecond // tasks that are released so soon after others stand right behind them
)

// end is the instant behind the last one.
func (s Stretch) end() time.Time { return s.From.Add(time.Duration(s.Tasks) * step) }

// add puts a task at the end that is released at an instant, and returns the one that it
// gets as StartBy.
func (l *Line) add(at time.Time) time.Time {
	n := len(*l)
	if n == 0 {
		*l = Line{{at, 1}}
		return at
	}
	last := &(*l)[n-1]
	next := last.end()
	switch {
	case at.Sub(next) < joined:
		last.Tasks++
		return next
	case n == longestLine:
		last.Tasks++
	default:
		*l = append(*l, Stretch{at, 1})
	}
	return at
}

// behind is the line without its first tasks.
func (l Line) behind(tasks int) Line {
	for i, s := range l {
		if tasks < s.Tasks {
			rest := slices.Clone(l[i:])
			rest[0] = Stretch{s.From.Add(time.Duration(tasks) * step), s.Tasks - tasks}
			return rest
		}
		tasks -= s.Tasks
	}
	return nil
}

// first is the instant of the first task.
func (l Line) first() (time.Time, bool) {
	if len(l) == 0 {
		return time.Time{}, false
	}
	return l[0].From, true
}

// dropFirst removes the first task: it has ended.
func (l *Line) dropFirst() {
	if len(*l) == 0 {
		return
	}
	first := &(*l)[0]
	if first.Tasks--; first.Tasks == 0 {
		*l = (*l)[1:]
		return
	}
	first.From = first.From.Add(step)
}

// dropLast removes the last task: it was recalled.
func (l *Line) dropLast() {
	if len(*l) == 0 {
		return
	}
	last := &(*l)[len(*l)-1]
	if last.Tasks--; last.Tasks == 0 {
		*l = (*l)[:len(*l)-1]
	}
}
