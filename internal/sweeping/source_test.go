package sweeping_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/source"
	"github.com/fairlead-io/fairlead/internal/sweeping"
)

// failing is a source that fails temporarily or permanently.
type failing struct {
	source.Indexes
	err func() error
}

func (f failing) Read(ctx context.Context, from, to int64, items []source.Item) (n int, next int64, err error) {
	if err := f.err(); err != nil {
		return 0, from, err
	}
	return f.Indexes.Read(ctx, from, to, items)
}

func TestASourceThatFails(t *testing.T) {
	for name, c := range map[string]struct {
		err  func(reads int) error
		want sweeping.End
	}{
		"for a moment": {func(reads int) error {
			if reads%3 == 0 {
				return errFlaky
			}
			return nil
		}, sweeping.Finished},
		"because the store of a list is away": {func(reads int) error {
			if reads < 20 {
				return fmt.Errorf("connection reset: %w", fairlead.ErrUnavailable)
			}
			return nil
		}, sweeping.Finished},
		"because the lease is lost": {func(int) error { return fairlead.ErrLeaseLost }, sweeping.Lost},
		"for good":                  {func(int) error { return errFlaky }, sweeping.Stopped},
		"because it changed": {func(reads int) error {
			if reads > 3 {
				return source.ErrChanged
			}
			return nil
		}, sweeping.Stopped},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, 30, func(t *testing.T, w *world) {
				reads := 0
				w.source = failing{w.source.(source.Indexes), func() error { reads++; return c.err(reads) }}
				if ending := w.run(t.Context(), w.shard()); ending.End != c.want {
					t.Errorf("it ended as %v", ending)
				}
			})
		})
	}
	in(t, 30, func(t *testing.T, w *world) {
		w.source = source.Indexes{To: 20}
		if ending := w.run(t.Context(), w.shard()); ending.End != sweeping.Stopped || w.kept.Mark != 20 {
			t.Errorf("a source that is too short ended it as %v: %+v", ending, w.kept)
		}
	})
}
