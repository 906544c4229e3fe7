// Package window records which items of a long sequence are done, while items end in any
// order, in constant space.
//
// A [Window] is a ring of bits above a mark. Everything below the mark is done. From the
// mark on, each item within the width of the window may be done or not. When the item at
// the mark is done, the mark moves to the next item that is not. This is all the state that
// a billion items require.
package window

import (
	"fmt"
	"math/bits"
)

// MaxSize is the maximum number of items in a window. The bitmap of a window of this size has
// 2 KiB.
const MaxSize = 16_384

// MaxIndex is the largest item index, and -MaxIndex is the smallest. They are far enough from
// the limits of int64 that adding a size to an index never overflows.
const MaxIndex = 1 << 62

const (
	wordBits = 64
	words    = MaxSize / wordBits
)

// Window records which items are done: all items below a mark, and those above the mark
// whose bits are set. It is not safe for concurrent use.
//
// The bits are stored in a ring. The ring always has MaxSize bits, so that the state of a
// larger window can be restored. Even MaxSize bits are small.
type Window struct {
	ring [words]uint64 // item i has bit i modulo MaxSize; all bits outside [mark, high) are zero
	size int64
	mark int64
	high int64
}

// New returns a window with the given size, in which all items below mark are done. It panics
// if size is not between 1 and MaxSize or mark is not between -MaxIndex and MaxIndex, because
// that is a programming error.
func New(size int, mark int64) *Window {
	if size < 1 || size > MaxSize {
		panic(fmt.Sprintf("window: size is %d; it must be between 1 and %d", size, MaxSize))
	}
	if !legal(mark) {
		panic(fmt.Sprintf("window: mark is %d; it must be between -%d and %d", mark, int64(MaxIndex), int64(MaxIndex)))
	}
	return &Window{size: int64(size), mark: mark, high: mark}
}

func legal(index int64) bool { return index >= -MaxIndex && index <= MaxIndex }

// Size returns the window's size: the number of items, starting at the mark, that may be
// handed out.
func (w *Window) Size() int { return int(w.size) }

// Mark returns the first item that is not done. The mark never moves backwards.
func (w *Window) Mark() int64 { return w.mark }

// High returns the index after the last done item.
func (w *Window) High() int64 { return w.high }

// Limit returns the first item that does not fit in the window.
func (w *Window) Limit() int64 { return max(w.mark+w.size, w.high) }

// Fits reports whether item i may be handed out or is already done.
func (w *Window) Fits(i int64) bool { return i < w.Limit() }

// Free returns how many items after the last done item fit in the window.
func (w *Window) Free() int64 { return w.Limit() - w.high }

// IsDone reports whether item i is done.
func (w *Window) IsDone(i int64) bool {
	switch {
	case i < w.mark:
		return true
	case i >= w.high:
		return false
	}
	return w.ring[word(i)]&bit(i) != 0
}

// Done marks item i as done. It returns false if the item was done before. It panics if the
// item does not fit, because that is a programming error.
func (w *Window) Done(i int64) bool {
	if i < w.mark {
		return false
	}
	w.mustFit(i)
	if w.ring[word(i)]&bit(i) != 0 {
		return false
	}
	w.ring[word(i)] |= bit(i)
	w.high = max(w.high, i+1)
	if i == w.mark {
		w.advance()
	}
	return true
}

// DoneRange marks all items in [from, to) as done, 64 at a time. It panics if an item does not
// fit.
func (w *Window) DoneRange(from, to int64) {
	from = max(from, w.mark)
	if from >= to {
		return
	}
	w.mustFit(to - 1)
	for i := from; i < to; {
		end := min(to, nextWord(i))
		w.ring[word(i)] |= span(i, end)
		i = end
	}
	w.high = max(w.high, to)
	if from == w.mark {
		w.advance()
	}
}

// Skip moves the mark forward to the given item, at any distance. All items below it must be
// done or not exist. If the item is behind the current mark, Skip does nothing.
func (w *Window) Skip(mark int64) {
	if mark <= w.mark {
		return
	}
	if mark >= w.high {
		w.clear(w.mark, w.high)
		w.mark, w.high = mark, mark
		return
	}
	w.clear(w.mark, mark)
	w.mark = mark
	w.advance()
}

// Pending calls yield for each unfinished item in [Mark, High), in order, until yield returns
// false. yield may mark the item as done.
func (w *Window) Pending(yield func(int64) bool) {
	for i := w.mark; ; i++ {
		i, _ = w.Gap(i)
		if i >= w.high || !yield(i) {
			return
		}
	}
}

// Gap returns the first range [start, end) of unfinished items at or after from. No item at or
// after High is done, so a gap that starts there ends at Limit. If no unfinished item that
// fits is left, start and end are both at least Limit.
func (w *Window) Gap(from int64) (start, end int64) {
	start = max(from, w.mark)
	for start < w.high {
		done := w.ring[word(start)] >> offset(start)
		n := bits.TrailingZeros64(^done)
		if offset(start)+n < wordBits {
			start += int64(n)
			break
		}
		start = nextWord(start)
	}
	if start >= w.high {
		return start, max(start, w.Limit())
	}
	for end = start; ; {
		done := w.ring[word(end)] >> offset(end)
		if done != 0 {
			return start, end + int64(bits.TrailingZeros64(done))
		}
		end = nextWord(end) // ends at the item before High at the latest, which is done
	}
}

// advance moves the mark over done items and clears their bits for later items. Each bit is
// cleared once, so the cost of a move is covered by the calls of Done.
func (w *Window) advance() {
	for w.mark < w.high {
		at := word(w.mark)
		n := bits.TrailingZeros64(^(w.ring[at] >> offset(w.mark)))
		if n == 0 {
			return
		}
		n = min(n, wordBits-offset(w.mark))
		w.ring[at] &^= span(w.mark, w.mark+int64(n))
		w.mark += int64(n)
	}
}

func (w *Window) clear(from, to int64) {
	for i := from; i < to; {
		end := min(to, nextWord(i))
		w.ring[word(i)] &^= span(i, end)
		i = end
	}
}

func (w *Window) mustFit(i int64) {
	if !w.Fits(i) {
		panic(fmt.Sprintf("window: item %d does not fit between %d and %d", i, w.mark, w.Limit()))
	}
}

// Indexes may be negative: shifts and masks round down, unlike division.
func word(i int64) int   { return int(i>>6) & (words - 1) }
func offset(i int64) int { return int(i & (wordBits - 1)) }
func bit(i int64) uint64 { return 1 << offset(i) }

// nextWord returns the first item after i that belongs to another word.
func nextWord(i int64) int64 { return (i | (wordBits - 1)) + 1 }

// span returns the bits of [from, to), a non-empty range within one word.
func span(from, to int64) uint64 {
	return ^uint64(0) >> (wordBits - int(to-from)) << offset(from)
}
