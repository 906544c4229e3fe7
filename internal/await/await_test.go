package await_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/await"
)

func TestItLooksUntilItIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		looks := 0
		seen, err := await.Until(t.Context(), func(context.Context) (int, bool, error) {
			looks++
			return looks, looks == 30, nil
		})
		if seen != 30 || err != nil {
			t.Errorf("saw %d, %v", seen, err)
		}
	})
}

func TestADatabaseThatDoesNotAnswerIsLookedAtAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		looks := 0
		seen, err := await.Until(t.Context(), func(context.Context) (string, bool, error) {
			if looks++; looks < 5 {
				return "", false, fmt.Errorf("look: %w", fairlead.ErrUnavailable)
			}
			return "done", true, nil
		})
		if seen != "done" || err != nil {
			t.Errorf("saw %q, %v", seen, err)
		}
	})
}

func TestOtherErrorsEndIt(t *testing.T) {
	_, err := await.Until(t.Context(), func(context.Context) (int, bool, error) { return 0, false, fairlead.ErrNotFound })
	if !errors.Is(err, fairlead.ErrNotFound) {
		t.Errorf("it ended with %v", err)
	}
}

func TestTheEndOfTheContextTellsWhatWasSeenLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		looks := 0
		seen, err := await.Until(ctx, func(context.Context) (int, bool, error) {
			looks++
			return looks, false, nil
		})
		if seen != looks || seen < 60 || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("saw %d of %d, %v", seen, looks, err)
		}
	})
}
