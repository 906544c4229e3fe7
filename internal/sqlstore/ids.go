package sqlstore

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// IDs allocates job IDs from blocks, so most enqueues need no extra round trip. When the
// process ends, the remaining IDs of its block are never used.
type IDs struct {
	// Size is the number of IDs in a block.
	Size int64
	// Alloc reserves n blocks, commits, and returns the first ID of each.
	Alloc func(ctx context.Context, n int) ([]int64, error)

	lock       Lock
	next, last int64     // rest of the current block; empty if next > last or both are zero
	taken      time.Time // at or before the time at which the current block was reserved
	dropped    atomic.Bool
	highest    atomic.Int64
}

// Drop discards the reserved IDs, because the database may have lost the record of the
// reservation. It does not affect IDs that a call has already received. The statement that
// stores those IDs must therefore check which server issued them.
func (i *IDs) Drop() { i.dropped.Store(true) }

// Highest returns the largest ID that i has ever reserved, or 0 if it has not reserved any.
func (i *IDs) Highest() int64 { return i.highest.Load() }

// begin acquires the lock and discards the reserved IDs if Drop was called.
func (i *IDs) begin(ctx context.Context) error {
	if err := i.lock.Acquire(ctx); err != nil {
		return err
	}
	if i.dropped.Swap(false) {
		i.next, i.last = 0, 0
	}
	return nil
}

// alloc reserves blocks and records the highest ID.
func (i *IDs) alloc(ctx context.Context, n int) ([]int64, error) {
	blocks, err := i.Alloc(ctx, n)
	for _, first := range blocks {
		i.highest.Store(max(i.highest.Load(), first+i.Size-1))
	}
	return blocks, err
}

// idsHeld is how long IDs of a block are handed out. Lists by creation time rely on it: see
// createdSlack.
const idsHeld = time.Minute

// left returns the number of IDs left in the current block. If the block was reserved too
// long ago, its remaining IDs are never used.
func (i *IDs) left() int64 {
	now := time.Now()
	// The monotonic clock stops while a machine is suspended.
	if i.next > 0 && (now.Sub(i.taken) > idsHeld || now.Round(0).Sub(i.taken.Round(0)) > idsHeld) {
		i.next, i.last = 0, 0
	}
	if i.next == 0 {
		return 0
	}
	return i.last - i.next + 1
}

// Fill sets every element of ids to a new ID, in ascending order.
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

// Run reserves n consecutive IDs, at most Size, and returns the first of them. The IDs are
// larger than all IDs issued before. If the current block has fewer than n IDs left, Run
// discards them.
func (i *IDs) Run(ctx context.Context, n int) (int64, error) {
	size := int64(n)
	if size > i.Size {
		return 0, fmt.Errorf("%d consecutive ids were requested, but a block holds only %d", n, i.Size)
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

// NewID returns the last reserved ID that was assigned to a job. It returns 0 if every job
// received the ID of an existing job with the same key.
func NewID(reserved, got []int64) int64 {
	for i := len(got) - 1; i >= 0; i-- {
		if got[i] == reserved[i] {
			return got[i]
		}
	}
	return 0
}
