package sweep

import (
	"context"
	"fmt"
	"slices"

	"github.com/fairlead-io/fairlead"
)

// retry lets a sweep run in which failed items are tried again.
func (s *steering) retry(ctx context.Context, indexes []int64) error {
	if s.State != Stopped && s.State != Finished {
		return illegal("retry", &s.Sweep)
	}
	unknown, err := s.tx.Again(ctx, indexes)
	if err != nil {
		return err
	}
	if len(unknown) > 0 {
		return notFailed(unknown)
	}
	if s.shards, s.states, err = s.tx.Shards(ctx); err != nil {
		return err
	}
	again := ProgressOf(s.Record, s.shards).Again
	if again == 0 {
		return fmt.Errorf("cannot retry sweep %q: none of its items failed: %w", s.Name, fairlead.ErrConflict)
	}
	return s.begin(ctx, "retry", itemsToRetry(again))
}

// itemsToRetry is how the history says how many items are tried again.
func itemsToRetry(n int64) string {
	if n == 1 {
		return "1 item"
	}
	return fmt.Sprintf("%d items", n)
}

// mostNamed is how many indexes or jobs a text names.
const mostNamed = 20

// notFailed is the *InvalidError of indexes that are not those of failed items.
func notFailed(unknown []int64) error {
	slices.Sort(unknown)
	more := ""
	if len(unknown) > mostNamed {
		unknown, more = unknown[:mostNamed], " and others"
	}
	var c complaints
	c.Refuse("indexes", "contains %v%s, which are not indexes of failed items; specify indexes of failed items, or omit indexes to retry all of them", unknown, more)
	return fairlead.Invalid(c.Found...)
}

// failedItems returns the number of failed items that do not wait for a retry.
func (s *Shard) failedItems() int64 { return s.Abandoned - s.Again }
