package shared

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestAValueIsMadeOncePerTick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var values PerTick[int]
		made := 0
		get := func(at time.Time, key string) int {
			t.Helper()
			value, err := values.Get(t.Context(), at, key, func(context.Context) (int, error) {
				made++
				return made, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			return value
		}
		now := time.Unix(1_000_000, 0)
		first, again, other := get(now, "a"), get(now.Add(TickLength-1), "a"), get(now, "b")
		if first != 1 || again != 1 || other != 2 {
			t.Errorf("the values are %d, %d and %d", first, again, other)
		}
		next, late := get(now.Add(TickLength), "a"), get(now, "a")
		if next != 3 || late != 3 {
			t.Errorf("the next tick has %d, and one who comes late gets %d", next, late)
		}
	})
}

func TestWhoGoesDoesNotTakeTheValueFromOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var values PerTick[string]
		now := time.Unix(1_000_000, 0)
		hasty, cancel := context.WithCancel(t.Context())
		release := make(chan struct{})
		build := func(ctx context.Context) (string, error) {
			<-release
			return "value", ctx.Err()
		}
		gone := false
		go func() {
			_, err := values.Get(hasty, now, "a", build)
			gone = errors.Is(err, context.Canceled)
		}()
		synctest.Wait()
		got := ""
		go func() { got, _ = values.Get(t.Context(), now, "a", build) }()
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

func TestAValueThatPanicsIsAnError(t *testing.T) {
	var values PerTick[int]
	_, err := values.Get(t.Context(), time.Unix(1_000_000, 0), "a", func(context.Context) (int, error) { panic("oh") })
	if err == nil || !strings.Contains(err.Error(), "oh") {
		t.Errorf("the error is %v", err)
	}
}

func TestAValueIsGivenUpWhenNoCallerWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var values PerTick[int]
		ctx, cancel := context.WithCancel(t.Context())
		given := false
		go func() {
			_, _ = values.Get(ctx, time.Unix(1_000_000, 0), "a", func(ctx context.Context) (int, error) {
				<-ctx.Done()
				given = errors.Is(ctx.Err(), context.Canceled)
				return 0, ctx.Err()
			})
		}()
		synctest.Wait()
		cancel()
		synctest.Wait()
		if !given || len(values.entries) != 0 {
			t.Errorf("given up: %v, kept: %d", given, len(values.entries))
		}
	})
}

func TestAValueThatTakesLongIsNotBegunAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var values PerTick[int]
		begun, release := 0, make(chan struct{})
		for i := range 3 {
			go func() {
				_, _ = values.Get(t.Context(), time.Unix(1_000_000, 0).Add(time.Duration(i)*TickLength), "a", func(context.Context) (int, error) {
					begun++
					<-release
					return 0, nil
				})
			}()
			synctest.Wait()
		}
		close(release)
		synctest.Wait()
		if begun != 1 {
			t.Errorf("it was begun %d times", begun)
		}
	})
}

func TestAClockThatWasSetBackBeginsAnew(t *testing.T) {
	var values PerTick[int]
	made := 0
	build := func(context.Context) (int, error) { made++; return made, nil }
	later := time.Unix(1_000_000, 0)
	for _, at := range []time.Time{later, later.Add(-time.Hour), later.Add(-time.Hour + TickLength)} {
		if _, err := values.Get(t.Context(), at, "a", build); err != nil {
			t.Fatal(err)
		}
	}
	if made != 3 {
		t.Errorf("it was made %d times in three ticks", made)
	}
}

func TestOnlySoManyValuesAreKept(t *testing.T) {
	values := PerTick[int]{MaxEntries: 3}
	for i := range 10 {
		if _, err := values.Get(t.Context(), time.Unix(1_000_000, 0), strconv.Itoa(i), func(context.Context) (int, error) { return i, nil }); err != nil {
			t.Fatal(err)
		}
	}
	if len(values.entries) != 3 {
		t.Errorf("%d are kept", len(values.entries))
	}
}

func TestTicksBeginTogether(t *testing.T) {
	now := time.Unix(1_000_000, 123_456_789)
	next := now.Add(UntilNextTick(now))
	if TickOf(next) != TickOf(now)+1 || TickOf(next.Add(-1)) != TickOf(now) {
		t.Errorf("%v is in tick %d, and %v in tick %d", now, TickOf(now), next, TickOf(next))
	}
}
