package sqlstore

import (
	"context"
	"fmt"
)

// IDs hands out job ids from blocks, so that most enqueues need no round trip
// for them. Ids of a block that is lost with the process are never used.
type IDs struct {
	// Size is how many ids a block has.
	Size int64
	// Alloc reserves n blocks, committed before it returns, and gives the first
	// id of each.
	Alloc func(ctx context.Context, n int) ([]int64, error)

	lock       Lock
	next, last int64 // of the current block; empty if next > last or both are zero
}

// Fill sets every element of ids to a new id, in ascending order within the
// call.
func (i *IDs) Fill(ctx context.Context, ids []int64) error {
	if err := i.lock.Acquire(ctx); err != nil {
		return err
	}
	defer i.lock.Release()
	left := int64(0)
	if i.next > 0 {
		left = i.last - i.next + 1
	}
	var blocks []int64
	if missing := int64(len(ids)) - left; missing > 0 {
		var err error
		if blocks, err = i.Alloc(ctx, int((missing+i.Size-1)/i.Size)); err != nil {
			return err
		}
	}
	for n := range ids {
		if i.next == 0 || i.next > i.last {
			i.next, i.last = blocks[0], blocks[0]+i.Size-1
			blocks = blocks[1:]
		}
		ids[n] = i.next
		i.next++
	}
	return nil
}

// Run sets n ids aside that follow one another, at most Size of them, and gives the
// first. They are larger than all that were given before: what is left of a block that
// is too short for them is never used.
func (i *IDs) Run(ctx context.Context, n int) (int64, error) {
	size := int64(n)
	if size > i.Size {
		return 0, fmt.Errorf("%d ids that follow one another are asked for; a block has %d", n, i.Size)
	}
	if err := i.lock.Acquire(ctx); err != nil {
		return 0, err
	}
	defer i.lock.Release()
	if i.next == 0 || i.last-i.next+1 < size {
		blocks, err := i.Alloc(ctx, 1)
		if err != nil {
			return 0, err
		}
		i.next, i.last = blocks[0], blocks[0]+i.Size-1
	}
	first := i.next
	i.next += size
	return first, nil
}
