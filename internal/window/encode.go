package window

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// MaxEncoded is the maximum length of a bitmap in bytes.
const MaxEncoded = MaxSize / 8

// Encode returns the window's state in the form to store: the mark, and a bitmap of the done
// items after the mark. Bit b of byte a represents item Mark + 1 + 8a + b. The item at the
// mark is never done, so the bitmap omits it. The last byte is never zero, so the bitmap is
// empty if the items ended in order. The bitmap is never longer than MaxEncoded.
func (w *Window) Encode() (mark int64, bitmap []byte) {
	return w.mark, w.AppendBitmap(nil)
}

// AppendBitmap appends the bitmap that Encode returns to a buffer.
func (w *Window) AppendBitmap(to []byte) []byte {
	first, start := w.mark+1, len(to)
	for i := first; i < w.high; i += wordBits {
		// The bits after High in the ring are zero, or belong to the mark itself.
		next := w.ring[word(i)]>>offset(i) | w.ring[word(i+wordBits)]<<(wordBits-offset(i))
		to = binary.LittleEndian.AppendUint64(to, next)
	}
	return to[:start+int(w.high-first+7)/8]
}

// Restore merges a state that Encode has returned, of this window or a different one.
// Afterwards, an item is done if either state records it as done. The mark therefore never
// moves backwards. Restore accepts the state of a larger window; Limit then exceeds Size until
// the mark has caught up. If Encode cannot have returned the given state, Restore returns an
// error and changes nothing.
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
