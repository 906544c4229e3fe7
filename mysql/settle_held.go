package mysql

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
)

// heldPauses are the pauses after which Settle and Save look again at a job that another
// transaction holds. The store's own transactions are shorter than all of them together;
// a caller's may stay open for long.
var heldPauses = []time.Duration{2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond, 40 * time.Millisecond}

// heldPatience is after which time a call that found a lock taken does not look again. MySQL
// waits for a second before it says so.
const heldPatience = 200 * time.Millisecond

// errHeld is the error of a call that needs a job which another transaction holds.
var errHeld = errors.New("an open transaction holds the job")

// settleBriefly settles, and looks again a few times at jobs that another transaction
// holds.
func (s *Store) settleBriefly(ctx context.Context, settlements []fairlead.Settlement) ([]fairlead.Settled, error) {
	settled, err := s.settleOnce(ctx, settlements)
	if err != nil {
		return nil, err
	}
	for _, pause := range heldPauses {
		if !slices.Contains(settled, fairlead.SettledHeld) || !paused(ctx, pause) {
			break
		}
		var held []fairlead.Settlement
		var positions []int
		for i, answer := range settled {
			if answer == fairlead.SettledHeld {
				held, positions = append(held, settlements[i]), append(positions, i)
			}
		}
		again, err := s.settleOnce(ctx, held)
		if err != nil {
			break // the others are settled: what failed counts as held, and is asked for again
		}
		for n, answer := range again {
			settled[positions[n]] = answer
		}
	}
	return settled, nil
}

// saveBriefly runs a save until its job is free, a few times at most.
func saveBriefly(ctx context.Context, save func() error) error {
	err := save()
	for _, pause := range heldPauses {
		if !errors.Is(err, errHeld) || !paused(ctx, pause) {
			break
		}
		err = save()
	}
	return err
}

// paused waits, and reports whether ctx has not ended.
func paused(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
