package sqlstore

import (
	"sync/atomic"
	"time"
)

// Reholding remembers that jobs still count against the limits that there were before the rules
// changed, because other transactions held them then. A job that its transaction ends is gone from
// all counts; one whose transaction rolled back has to be moved to the new limits. If this process
// ends before, such a job counts against the old limits until it ends.
type Reholding struct {
	again atomic.Int64 // when to try, in Unix nanoseconds; zero: nothing is left
}

// reholdPause is the time between two tries: each keeps all claims waiting for a moment.
const reholdPause = time.Second

// Left notes whether jobs are left.
func (r *Reholding) Left(left bool) {
	if left {
		r.again.Store(time.Now().Add(reholdPause).UnixNano())
	} else {
		r.again.Store(0)
	}
}

// Due reports whether it is time to try again. The caller tries; other callers get false
// meanwhile.
func (r *Reholding) Due() bool {
	again := r.again.Load()
	if again == 0 || time.Now().UnixNano() < again {
		return false
	}
	return r.again.CompareAndSwap(again, time.Now().Add(reholdPause).UnixNano())
}
