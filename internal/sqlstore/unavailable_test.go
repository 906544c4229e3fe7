package sqlstore_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// A caller that cancelled gets only its own error, even if the driver reports a transient
// one; a database that was too slow is unavailable.
func TestWhoGaveUpHearsOfThatAlone(t *testing.T) {
	passes := func(error) bool { return true }
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := sqlstore.MarkUnavailable(gone, context.Canceled, passes); errors.Is(err, fairlead.ErrUnavailable) {
		t.Errorf("a caller that gave up: %v", err)
	}
	slow, cancel := sqlstore.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	<-slow.Done()
	if err := sqlstore.MarkUnavailable(slow, context.DeadlineExceeded, passes); !errors.Is(err, fairlead.ErrUnavailable) {
		t.Errorf("a database that is too slow: %v", err)
	}
	if err := sqlstore.MarkUnavailable(t.Context(), errors.New("full"), passes); !errors.Is(err, fairlead.ErrUnavailable) {
		t.Errorf("an error that passes: %v", err)
	}
}

// ending is a context that ends between two calls of its methods.
type ending struct {
	context.Context
	looks int
}

func (e *ending) Err() error {
	if e.looks++; e.looks == 1 {
		return nil
	}
	return context.DeadlineExceeded
}

// Value hides the parent, so that the end of this context is checked instead.
func (e *ending) Value(any) any { return nil }

func TestAContextThatEndsWhileItIsLookedAtHidesNoErrorThatPasses(t *testing.T) {
	passes := func(error) bool { return true }
	if err := sqlstore.MarkUnavailable(&ending{Context: t.Context()}, errors.New("busy"), passes); !errors.Is(err, fairlead.ErrUnavailable) {
		t.Errorf("an error that passes: %v", err)
	}
}
