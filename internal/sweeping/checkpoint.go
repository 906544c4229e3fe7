package sweeping

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// Checkpoint is all there is to keep of a run: in at most a few kilobytes, whatever
// the number of items, but for those that failed.
type Checkpoint struct {
	Mark   int64   // all items below it are done, given up, absent, or among Aside
	Window []byte  // which of those behind the mark are, as package window encodes it
	Aside  []Aside // items that are still to do though the window counts them, by index
	Counts Counts
	Again  int64  // of Counts.Abandoned: items that are still to be tried again
	Spent  int64  // of the error budget
	Busy   int    // calls of the handler that are under way or about to begin; it is not kept
	Ending Ending // once the run has ended: nothing is in flight any more

	// What has become of items since the last checkpoint that was kept: it is to be kept
	// with this one or not at all, and may be reported twice.
	Failed []Failure // failed, for the first time or again
	Redone []int64   // failed before, and are done now
}

// Failure is an item that failed for good.
type Failure struct {
	Index    int64
	Attempts int
	Error    string
}

// Aside is an item that was put aside so that the window can go on: to be tried
// again, or taking long.
type Aside struct {
	Index int64
	Tries int // that failed
}

// MaxAside is how many items can be put aside. Their encoding and that of the
// largest window stay below 4 KiB together.
const MaxAside = 128

// Counts are sums since the sweep began. Once all is done, Done + Abandoned +
// Absent is the number of indexes.
type Counts struct {
	Done      int64
	Abandoned int64
	Failed    int64 // how often an item failed for good, for the first time or again
	Exhausted int64 // of Failed: because its attempts were used up
	Absent    int64 // indexes for which the source has no item
	Retried   int64 // tries that failed and were to be repeated
}

// End is why a run ended.
type End string

// The ends.
const (
	Running  End = ""         // it has not
	Finished End = "finished" // nothing is left to do
	Stopped  End = "stopped"  // by an order, a handler, the error budget, or the source
	Released End = "released" // its context ended, or Err says why: another run may go on
	Lost     End = "lost"     // its lease: another run may have gone on already
)

// Ending is how a run ended.
type Ending struct {
	End    End
	Reason string // of Stopped, unless an order said so
	Err    error  `json:"-"` // of Released, if this process has no file descriptors left
}

// Orders are what a checkpoint brings back. What is nil stays.
type Orders struct {
	Stop     bool
	Rate     *float64 // items per second; pace.Unlimited and pace.Held are two of them
	InFlight *int
	Budget   *int64
	Confirm  bool // save again at once: the sweep waits to hear that these are followed
	Soon     bool // save again soon: other orders may come any moment
}

// AppendAside appends items that were put aside, which are in order, as a few
// bytes each.
func AppendAside(to []byte, aside []Aside) []byte {
	last := int64(0)
	for _, a := range aside {
		to = binary.AppendVarint(to, a.Index-last)
		to = binary.AppendUvarint(to, uint64(a.Tries))
		last = a.Index
	}
	return to
}

// DecodeAside reads what AppendAside wrote.
func DecodeAside(from []byte) ([]Aside, error) {
	var aside []Aside
	for last := int64(0); len(from) > 0; {
		step, n := binary.Varint(from)
		if n <= 0 {
			return nil, errDamaged
		}
		tries, m := binary.Uvarint(from[n:])
		if m <= 0 || tries > 1<<31 {
			return nil, errDamaged
		}
		last += step
		aside, from = append(aside, Aside{Index: last, Tries: int(tries)}), from[n+m:]
	}
	if !slices.IsSortedFunc(aside, byIndex) {
		return nil, errDamaged
	}
	return aside, nil
}

var errDamaged = errors.New("the list of deferred items is damaged")

func byIndex(a, b Aside) int {
	switch {
	case a.Index < b.Index:
		return -1
	case a.Index > b.Index:
		return 1
	}
	return 0
}

func (e Ending) String() string {
	if e.Reason == "" {
		return string(e.End)
	}
	return fmt.Sprintf("%s: %s", e.End, e.Reason)
}
