package window

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// MaxEncoded is the maximum length of a bitmap in bytes.
const MaxEncoded = MaxSize / 8

// Encode returns the state of the window to store: the mark, and the bitmap of done items
// after it. Bit b of byte a is the item Mark + 1 + 8a + b; the item at the mark is never
// done. The last byte is never zero, so a window whose items ended in order has an empty
// bitmap, and no bitmap is longer than MaxEncoded.
func (w *Window) Encode() (mark int64, bitmap []byte) {
	return w.mark, w.AppendBitmap(nil)
}

// AppendBitmap appends the bitmap of Encode to a buffer.
func (w *Window) AppendBitmap(to []byte) []byte {
	first, start := w.mark+1, len(to)
	for i := first; i < w.high; i += wordBits {
		// The bits after High in the ring are zero, or belong to the mark itself.
		next := w.ring[word(i)]>>offset(i) | w.ring[word(i+wordBits)]<<(wordBits-offset(i))
		to = binary.LittleEndian.AppendUint64(to, next)
	}
	return to[:start+int(w.high-first+7)/8]
}

// Restore merges the result of Encode, from this window or another: an item is done if
// either records it as done. The mark therefore never moves backwards. The state of a
// larger window is accepted: Limit then exceeds Size until the mark has caught up. If the
// input cannot have come from Encode, Restore returns an error and changes nothing.
func (w *Window) Restore(mark int64, bitmap []byte) error {
	if !legal(mark) {
		return fmt.Errorf("restore window: mark %d is beyond the largest index %d", mark, int64(MaxIndex))
	}
	if len(bitmap) > MaxEncoded {
		return fmt.Errorf("restore window: the bitmap has %d bytes, at most %d are possible", len(bitmap), MaxEncoded)
	}
	if len(bitmap) > 0 {
		last := bitmap[len(bitmap)-1]
		if last == 0 {
			return fmt.Errorf("restore window: the bitmap's last byte is zero: it was truncated or padded")
		}
		if span := len(bitmap)*8 - bits.LeadingZeros8(last) + 1; span > MaxSize {
			return fmt.Errorf("restore window: the bitmap spans %d items, at most %d are possible", span, MaxSize)
		}
	}
	w.Skip(mark)
	for at, done := range bitmap {
		for ; done != 0; done &= done - 1 {
			w.restoreDone(mark + 1 + int64(at*8+bits.TrailingZeros8(done)))
		}
	}
	w.advance()
	return nil
}

// restoreDone works like Done for an item that may be beyond Limit: within MaxSize of the
// mark there is always room in the ring.
func (w *Window) restoreDone(i int64) {
	if i < w.mark {
		return
	}
	w.ring[word(i)] |= bit(i)
	w.high = max(w.high, i+1)
}
