package sweeping

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// Checkpoint is the complete stored state of a run. Except for failed items, it has at most
// a few kilobytes, whatever the number of items.
type Checkpoint struct {
	Mark   int64   // all items below it are done, abandoned, absent, or in Aside
	Window []byte  // settled items after the mark, encoded by package window
	Aside  []Aside // unfinished items that the window counts as done, by index
	Counts Counts
	Again  int64  // items of Counts.Abandoned that are still to be retried
	Spent  int64  // used part of the error budget
	Busy   int    // handler calls in progress or about to start; not stored
	Ending Ending // set once the run has ended and nothing is in flight

	// Items that failed or succeeded since the last stored checkpoint. They must be stored
	// together with this checkpoint or not at all, and may be reported twice.
	Failed []Failure // items that failed, either for the first time or again
	Redone []int64   // items that failed earlier and are now done
}

// Failure is an item that failed permanently.
type Failure struct {
	Index    int64
	Attempts int
	Error    string
}

// Aside is an item that was put aside to let the window advance, because it waits for a
// retry or takes long.
type Aside struct {
	Index int64
	Tries int // failed tries
}

// MaxAside is the maximum number of items put aside. Their encoding and that of the largest
// window together stay below 4 KiB.
const MaxAside = 128

// Counts contains totals since the start of the sweep. At its end, Done + Abandoned +
// Absent equals the number of indexes.
type Counts struct {
	Done      int64
	Abandoned int64
	Failed    int64 // permanent failures of items, both first and repeated
	Exhausted int64 // failures of Failed because of exhausted attempts
	Absent    int64 // indexes without an item in the source
	Retried   int64 // failed tries that were to be repeated
}

// End is the reason why a run ended.
type End string

// Values of End.
const (
	Running  End = ""         // the run has not ended
	Finished End = "finished" // no items are left
	Stopped  End = "stopped"  // by an order, a handler, the error budget, or the source
	Released End = "released" // its context ended, or for the reason in Err: another run may continue
	Lost     End = "lost"     // the lease was lost: another run may already have taken over
)

// Ending describes how a run ended.
type Ending struct {
	End    End
	Reason string // for Stopped, unless an order stopped the run
	Err    error  `json:"-"` // for Released, if this process has no file descriptors left
}

// Orders is the answer to a checkpoint. Nil fields leave the setting unchanged.
type Orders struct {
	Stop     bool
	Rate     *float64 // items per second; pace.Unlimited and pace.Held are special values
	InFlight *int
	Budget   *int64
	Confirm  bool // save again immediately: the sweep waits for confirmation that these orders are in effect
	Soon     bool // save again soon: more orders may follow at any moment
}

// AppendAside appends items that were put aside, sorted by index, in a few bytes each.
func AppendAside(to []byte, aside []Aside) []byte {
	last := int64(0)
	for _, a := range aside {
		to = binary.AppendVarint(to, a.Index-last)
		to = binary.AppendUvarint(to, uint64(a.Tries))
		last = a.Index
	}
	return to
}

// DecodeAside decodes the result of AppendAside.
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

var errDamaged = errors.New("the list of deferred items is corrupt")

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
