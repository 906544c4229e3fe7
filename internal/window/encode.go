package window

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// MaxEncoded is the length of the longest bitmap.
const MaxEncoded = MaxSize / 8

// Encode returns what there is to keep of the window: the mark, and the bitmap
// of what is done behind it. Bit b of byte a is the item Mark + 1 + 8a + b; the
// item at the mark is never done. The last byte is never zero, so a window
// without disorder has an empty bitmap, and none is longer than MaxEncoded.
func (w *Window) Encode() (mark int64, bitmap []byte) {
	return w.mark, w.AppendBitmap(nil)
}

// AppendBitmap appends the bitmap of Encode to a buffer.
func (w *Window) AppendBitmap(to []byte) []byte {
	first, start := w.mark+1, len(to)
	for i := first; i < w.high; i += wordBits {
		// What follows High in the ring is clear, or it is the mark's own bit.
		next := w.ring[word(i)]>>offset(i) | w.ring[word(i+wordBits)]<<(wordBits-offset(i))
		to = binary.LittleEndian.AppendUint64(to, next)
	}
	return to[:start+int(w.high-first+7)/8]
}

// Restore joins what Encode returned, of this window or another: what either
// knows as done is done. So the mark never moves backwards. A window that was
// larger fits: Limit is then beyond Size until the mark has followed. It fails,
// and changes nothing, if that cannot have come from Encode.
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

// restoreDone is Done for an item that may be beyond Limit: within MaxSize of the
// mark there is always room in the ring.
func (w *Window) restoreDone(i int64) {
	if i < w.mark {
		return
	}
	w.ring[word(i)] |= bit(i)
	w.high = max(w.high, i+1)
}
