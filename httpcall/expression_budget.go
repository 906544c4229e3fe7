package httpcall

import "errors"

// Bounds of what applying an expression to one answer may cost. An answer has at most
// 64 KiB, which ordinary expressions look at a few times.
const (
	maxWork = 8 << 20 // bytes and values that are looked at, for a regular expression times its states
	maxMade = 1 << 20 // bytes of texts and lists that are made
)

var errTooMuch = errors.New("it takes too much time or memory")

// budget is what an evaluation may still cost.
type budget struct{ work, made int }

// spend takes work that is about to be done.
func (b *budget) spend(work int) error {
	if work < 0 || work > b.work {
		b.work = 0
		return errTooMuch
	}
	b.work -= work
	return nil
}

// take takes bytes that are about to be made, which is work as well.
func (b *budget) take(bytes int) error {
	if bytes < 0 || bytes > b.made {
		b.made = 0
		return errTooMuch
	}
	b.made -= bytes
	return b.spend(bytes)
}
