package sqlstore

import (
	"sync/atomic"
	"time"
)

// Reholding records that some jobs still count against the limits from before a change of limits,
// because other transactions had locked these jobs during the change. If a transaction ends
// its job, the job no longer counts against any limit. If the transaction rolls back, the job
// must be moved to the new limits. If this process ends before it has moved the job, the job
// counts against the old limits until it ends.
type Reholding struct {
	again atomic.Int64 // time of the next try in Unix nanoseconds; 0 if no jobs are left
}

// reholdPause is the time between two tries. Each try briefly blocks all claims.
const reholdPause = time.Second

// Left records whether any jobs still count against old limits.
func (r *Reholding) Left(left bool) {
	if left {
		r.again.Store(time.Now().Add(reholdPause).UnixNano())
	} else {
		r.again.Store(0)
	}
}

// Due reports whether the next try is due. If it returns true, the caller must make the try.
// Other callers get false in the meantime.
func (r *Reholding) Due() bool {
	again := r.again.Load()
	if again == 0 || time.Now().UnixNano() < again {
		return false
	}
	return r.again.CompareAndSwap(again, time.Now().Add(reholdPause).UnixNano())
}
