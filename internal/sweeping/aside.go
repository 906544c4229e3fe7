package sweeping

import (
	"cmp"
	"container/heap"
	"slices"
	"time"
)

// aside is the items that failed and wait for their next try, and those that
// were moved out of the window's way. The items outside the window are bounded
// by MaxAside, those in it by the window.
type aside struct {
	all     map[int64]*waiting
	due     dueHeap
	outside int
	kept    int // bytes of data that need not be read again
}

// maxKept bounds the memory for data of waiting items. What exceeds it is read
// from the source again.
const maxKept = 4 << 20

// waiting is an item of aside.
type waiting struct {
	index    int64
	tries    int // that failed
	due      time.Time
	data     []byte
	kept     bool // data is what the source has
	inWindow bool // there was no place outside: it is not done in the window, which stalls in time
	running  bool
	redo     bool // it failed before: neither the window nor the list of a checkpoint knows of it
}

// outside reports whether a checkpoint has to list the item.
func (w *waiting) outside() bool { return !w.inWindow && !w.redo }

func newAside() aside { return aside{all: map[int64]*waiting{}} }

// add puts an item aside. The caller says whether it is in the window, and
// whether it is running.
func (a *aside) add(w *waiting) {
	a.all[w.index] = w
	if w.outside() {
		a.outside++
	}
	if !w.running {
		heap.Push(&a.due, w)
	}
}

// remove is for an item that is settled, and so is not among those due.
func (a *aside) remove(w *waiting) {
	a.forget(w)
	delete(a.all, w.index)
	if w.outside() {
		a.outside--
	}
}

// again makes a running item wait for its next try.
func (a *aside) again(w *waiting) {
	w.running = false
	heap.Push(&a.due, w)
}

// keep remembers data if there is room.
func (a *aside) keep(w *waiting, data []byte) {
	if a.kept+len(data) <= maxKept {
		w.data, w.kept = data, true
		a.kept += len(data)
	}
}

func (a *aside) forget(w *waiting) {
	a.kept -= len(w.data)
	w.data, w.kept = nil, false
}

// next is when the next item is due. It is zero if none waits.
func (a *aside) next() time.Time {
	if len(a.due) == 0 {
		return time.Time{}
	}
	return a.due[0].due
}

// take takes the first item that is due by now, to be run.
func (a *aside) take(now time.Time) *waiting {
	if len(a.due) == 0 || a.due[0].due.After(now) {
		return nil
	}
	w := heap.Pop(&a.due).(*waiting)
	w.running = true
	return w
}

// list is what a checkpoint keeps: the items outside the window.
func (a *aside) list() []Aside {
	if a.outside == 0 {
		return nil
	}
	list := make([]Aside, 0, a.outside)
	for _, w := range a.all {
		if w.outside() {
			list = append(list, Aside{Index: w.index, Tries: w.tries})
		}
	}
	slices.SortFunc(list, byIndex)
	return list
}

// dueHeap has the item that is due first at its top; of those due together the
// one with the lowest index.
type dueHeap []*waiting

func (h dueHeap) Len() int { return len(h) }
func (h dueHeap) Less(i, j int) bool {
	return cmp.Or(h[i].due.Compare(h[j].due), cmp.Compare(h[i].index, h[j].index)) < 0
}
func (h dueHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push is for package heap.
func (h *dueHeap) Push(x any) { *h = append(*h, x.(*waiting)) }

// Pop is for package heap.
func (h *dueHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return last
}
