package sweeping

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/fairlead-io/fairlead/internal/window"
)

// pending is the stored form of items that were put aside.
type pending struct {
	Aside []byte `json:"aside"`
}

// EncodePending returns the stored form of the items in aside, which must be sorted by
// index. It returns nil if aside is empty.
func EncodePending(aside []Aside) (json.RawMessage, error) {
	if len(aside) == 0 {
		return nil, nil
	}
	return json.Marshal(pending{Aside: AppendAside(nil, aside)})
}

// DecodePending decodes the result of EncodePending.
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

// Behind returns the distance between mark and the first item in aside, or 0 if no item in
// aside comes before mark. All items before that item are done or abandoned. aside must be
// sorted.
func Behind(mark int64, aside []Aside) int64 {
	if len(aside) == 0 {
		return 0
	}
	return max(0, mark-aside[0].Index)
}

// Verify returns an error if a run over the indexes [from, to) cannot have reached this
// mark, window and set of items put aside. Such a state is invalid, and no later run could
// continue from it. If to is 0, the end is not known yet.
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
