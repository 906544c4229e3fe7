package sweeping

import (
	"cmp"
	"container/heap"
	"slices"
	"time"
)

// aside contains the items that failed and wait for their next try, and items moved out of
// the window to let it advance. The number of items outside the window is limited by
// MaxAside, the number of those in it by the window.
type aside struct {
	all     map[int64]*waiting
	due     dueHeap
	outside int
	kept    int // bytes of data that need not be read again
}

// maxKept limits the memory for data of waiting items. Data beyond the limit is read from
// the source again.
const maxKept = 4 << 20

// waiting is an item of aside.
type waiting struct {
	index    int64
	tries    int // failed tries
	due      time.Time
	data     []byte
	kept     bool // data contains the source's data
	inWindow bool // there was no room outside: the item is not done in the window, which eventually stalls
	running  bool
	redo     bool // failed in an earlier run: not part of the window or a checkpoint's list
}

// outside reports whether a checkpoint must list the item.
func (w *waiting) outside() bool { return !w.inWindow && !w.redo }

func newAside() aside { return aside{all: map[int64]*waiting{}} }

// add puts an item aside. The caller sets inWindow and running.
func (a *aside) add(w *waiting) {
	a.all[w.index] = w
	if w.outside() {
		a.outside++
	}
	if !w.running {
		heap.Push(&a.due, w)
	}
}

// remove removes a settled item, which is therefore not among the due items.
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

// keep stores data if there is room.
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

// next returns the time at which the next item is due, or the zero time if no item waits.
func (a *aside) next() time.Time {
	if len(a.due) == 0 {
		return time.Time{}
	}
	return a.due[0].due
}

// take removes the first item due by now from the heap and marks it as running.
func (a *aside) take(now time.Time) *waiting {
	if len(a.due) == 0 || a.due[0].due.After(now) {
		return nil
	}
	w := heap.Pop(&a.due).(*waiting)
	w.running = true
	return w
}

// list returns the items outside the window, which a checkpoint stores.
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

// dueHeap is a heap ordered by due time, then by index.
type dueHeap []*waiting

func (h dueHeap) Len() int { return len(h) }
func (h dueHeap) Less(i, j int) bool {
	return cmp.Or(h[i].due.Compare(h[j].due), cmp.Compare(h[i].index, h[j].index)) < 0
}
func (h dueHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push implements heap.Interface.
func (h *dueHeap) Push(x any) { *h = append(*h, x.(*waiting)) }

// Pop implements heap.Interface.
func (h *dueHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return last
}
