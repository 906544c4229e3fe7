package sqlstore

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// IDs hands out job ids from blocks, so that most enqueues need no round trip for them.
// Ids of a block that is lost with the process are never used.
type IDs struct {
	// Size is how many ids a block has.
	Size int64
	// Alloc reserves n blocks, committed before it returns, and returns the first id of
	// each.
	Alloc func(ctx context.Context, n int) ([]int64, error)

	lock       Lock
	next, last int64     // of the current block; empty if next > last or both are zero
	taken      time.Time // not later than when the current block was reserved
	dropped    atomic.Bool
	highest    atomic.Int64
}

// Drop drops the reserved ids, because the database may have lost that it gave them
// out. It does not take back ids that a call has received: the statement that stores
// them has to name the server that they come from.
func (i *IDs) Drop() { i.dropped.Store(true) }

// Highest returns the largest id that was ever reserved here, zero before the first.
func (i *IDs) Highest() int64 { return i.highest.Load() }

// begin takes the lock, and drops reserved ids if Drop was called.
func (i *IDs) begin(ctx context.Context) error {
	if err := i.lock.Acquire(ctx); err != nil {
		return err
	}
	if i.dropped.Swap(false) {
		i.next, i.last = 0, 0
	}
	return nil
}

// alloc reserves blocks and records the highest id.
func (i *IDs) alloc(ctx context.Context, n int) ([]int64, error) {
	blocks, err := i.Alloc(ctx, n)
	for _, first := range blocks {
		i.highest.Store(max(i.highest.Load(), first+i.Size-1))
	}
	return blocks, err
}

// idsHeld is how long ids of a block are given out. Lists by creation time rely on it: see
// createdSlack.
const idsHeld = time.Minute

// left returns how many ids the current block still has. The rest of a block that was
// reserved too long ago is never used.
func (i *IDs) left() int64 {
	now := time.Now()
	// The monotonic clock stands still while a machine is suspended.
	if i.next > 0 && (now.Sub(i.taken) > idsHeld || now.Round(0).Sub(i.taken.Round(0)) > idsHeld) {
		i.next, i.last = 0, 0
	}
	if i.next == 0 {
		return 0
	}
	return i.last - i.next + 1
}

// Fill sets every element of ids to a new id, in ascending order within the call.
func (i *IDs) Fill(ctx context.Context, ids []int64) error {
	if err := i.begin(ctx); err != nil {
		return err
	}
	defer i.lock.Release()
	var blocks []int64
	began := time.Now()
	if missing := int64(len(ids)) - i.left(); missing > 0 {
		var err error
		if blocks, err = i.alloc(ctx, int((missing+i.Size-1)/i.Size)); err != nil {
			return err
		}
	}
	for n := range ids {
		if i.next == 0 || i.next > i.last {
			i.next, i.last, i.taken = blocks[0], blocks[0]+i.Size-1, began
			blocks = blocks[1:]
		}
		ids[n] = i.next
		i.next++
	}
	return nil
}

// Run reserves n consecutive ids, at most Size of them, and returns the first. They are
// larger than all ids given before: the rest of a block that is too short for them is
// never used.
func (i *IDs) Run(ctx context.Context, n int) (int64, error) {
	size := int64(n)
	if size > i.Size {
		return 0, fmt.Errorf("%d consecutive ids were requested; a block has %d", n, i.Size)
	}
	if err := i.begin(ctx); err != nil {
		return 0, err
	}
	defer i.lock.Release()
	if i.left() < size {
		began := time.Now()
		blocks, err := i.alloc(ctx, 1)
		if err != nil {
			return 0, err
		}
		i.next, i.last, i.taken = blocks[0], blocks[0]+i.Size-1, began
	}
	first := i.next
	i.next += size
	return first, nil
}

// NewID returns the last of the reserved ids that a job got, zero if all jobs got the ids of
// others, whose keys they have.
func NewID(reserved, got []int64) int64 {
	for i := len(got) - 1; i >= 0; i-- {
		if got[i] == reserved[i] {
			return got[i]
		}
	}
	return 0
}
