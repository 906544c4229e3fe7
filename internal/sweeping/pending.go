package sweeping

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/fairlead-io/fairlead/internal/window"
)

// pending is what a shard stores of items that were put aside.
type pending struct {
	Aside []byte `json:"aside"`
}

// EncodePending is items that were put aside, which are in order, as they are stored:
// nothing if there are none.
func EncodePending(aside []Aside) (json.RawMessage, error) {
	if len(aside) == 0 {
		return nil, nil
	}
	return json.Marshal(pending{Aside: AppendAside(nil, aside)})
}

// DecodePending reads what EncodePending wrote.
func DecodePending(stored json.RawMessage) ([]Aside, error) {
	if len(stored) == 0 {
		return nil, nil
	}
	var p pending
	if err := json.Unmarshal(stored, &p); err != nil {
		return nil, err
	}
	return DecodeAside(p.Aside)
}

// Behind is how far the first item that was put aside, which are in order, is behind a
// mark: what is before it is done or abandoned. It is zero if none is before the mark.
func Behind(mark int64, aside []Aside) int64 {
	if len(aside) == 0 {
		return 0
	}
	return max(0, mark-aside[0].Index)
}

// Verify fails if no run over the indexes [from, to) can have come to such a mark and
// window with these items put aside, so that no later run could go on from there. A
// to of zero is not known yet.
func Verify(from, to, mark int64, bitmap []byte, aside []Aside) error {
	if to == 0 {
		to = math.MaxInt64
	}
	if mark < from || mark > to {
		return fmt.Errorf("the mark %d is not between %d and %d", mark, from, to)
	}
	if mark > window.MaxIndex || mark < -window.MaxIndex {
		return fmt.Errorf("the mark %d is beyond the largest index", mark)
	}
	w := window.New(window.MaxSize, mark)
	if err := w.Restore(mark, bitmap); err != nil {
		return err
	}
	if w.High() > to {
		return fmt.Errorf("the window goes beyond %d", to)
	}
	if len(aside) > MaxAside {
		return fmt.Errorf("%d items are deferred, but at most %d can be", len(aside), MaxAside)
	}
	for i, a := range aside {
		if a.Index < from || !w.IsDone(a.Index) || i > 0 && aside[i-1].Index == a.Index {
			return fmt.Errorf("deferred item %d does not match the window", a.Index)
		}
	}
	return nil
}
