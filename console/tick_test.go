package console

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestAValueIsMadeOncePerTick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var values perTick[int]
		made := 0
		get := func(at time.Time, key string) int {
			t.Helper()
			value, err := values.get(t.Context(), at, key, func(context.Context) (int, error) {
				made++
				return made, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			return value
		}
		now := time.Unix(1_000_000, 0)
		first, again, other := get(now, "a"), get(now.Add(tickLength-1), "a"), get(now, "b")
		if first != 1 || again != 1 || other != 2 {
			t.Errorf("the values are %d, %d and %d", first, again, other)
		}
		next, late := get(now.Add(tickLength), "a"), get(now, "a")
		if next != 3 || late != 3 {
			t.Errorf("the next tick has %d, and one who comes late gets %d", next, late)
		}
	})
}

func TestWhoGoesDoesNotTakeTheValueFromOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var values perTick[string]
		now := time.Unix(1_000_000, 0)
		hasty, cancel := context.WithCancel(t.Context())
		release := make(chan struct{})
		make := func(ctx context.Context) (string, error) {
			<-release
			return "value", ctx.Err()
		}
		gone := false
		go func() {
			_, err := values.get(hasty, now, "a", make)
			gone = errors.Is(err, context.Canceled)
		}()
		synctest.Wait()
		got := ""
		go func() { got, _ = values.get(t.Context(), now, "a", make) }()
		synctest.Wait()
		cancel()
		synctest.Wait()
		close(release)
		synctest.Wait()
		if !gone || got != "value" {
			t.Errorf("the first has gone: %v; the second got %q", gone, got)
		}
	})
}

func TestTicksBeginTogether(t *testing.T) {
	now := time.Unix(1_000_000, 123_456_789)
	next := now.Add(untilNextTick(now))
	if tickOf(next) != tickOf(now)+1 || tickOf(next.Add(-1)) != tickOf(now) {
		t.Errorf("%v is in tick %d, and %v in tick %d", now, tickOf(now), next, tickOf(next))
	}
}
