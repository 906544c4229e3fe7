package sweeping

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// Checkpoint is a run's complete stored state. Apart from failed items, it takes a few
// kilobytes at most, however many items there are.
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

// Failure records an item that failed permanently.
type Failure struct {
	Index    int64
	Attempts int
	Error    string
}

// Aside is an item that was put aside to let the window advance, because the item waits for
// a retry or takes a long time.
type Aside struct {
	Index int64
	Tries int // failed tries
}

// MaxAside is the maximum number of items that are put aside. Encoded, these items and the
// largest window together take less than 4 KiB.
const MaxAside = 128

// Counts holds totals since the start of the sweep. When the sweep ends, Done + Abandoned +
// Absent equals the number of indexes.
type Counts struct {
	Done      int64
	Abandoned int64
	Failed    int64 // permanent failures of items, both first and repeated
	Exhausted int64 // failures of Failed because of exhausted attempts
	Absent    int64 // indexes without an item in the source
	Retried   int64 // failed tries that were to be repeated
}

// End is the way in which a run ended.
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

// Orders is the response to a checkpoint. A nil field leaves its setting unchanged.
type Orders struct {
	Stop     bool
	Rate     *float64 // items per second; pace.Unlimited and pace.Held are special values
	InFlight *int
	Budget   *int64
	Confirm  bool // save again immediately: the sweep waits for confirmation that these orders are in effect
	Soon     bool // save again soon: more orders may follow at any moment
}

// AppendAside appends the encoding of aside, which must be sorted by index. Each item takes
// only a few bytes.
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
