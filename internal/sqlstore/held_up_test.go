package sqlstore

import (
	"testing"
	"time"
)

func TestFewSchedulesThatAreHeldUpAreTriedOften(t *testing.T) {
	for _, one := range []struct {
		tries, held int
		want        time.Duration
	}{
		{0, 1, 100 * time.Millisecond},
		{1, 1, 200 * time.Millisecond},
		{2, 1, 250 * time.Millisecond},
		{50, 20, 250 * time.Millisecond},
		{0, 500, 100 * time.Millisecond},
		{5, 100, time.Second},
		{50, 500, 2 * time.Second},
	} {
		if got := heldPause(one.tries, one.held); got != one.want {
			t.Errorf("after %d tries, with %d schedules held up, the pause is %v, want %v", one.tries, one.held, got, one.want)
		}
	}
}
