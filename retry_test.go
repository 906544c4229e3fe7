package fairlead_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/tier"
)

func TestFixedRetryIsAlwaysTheSame(t *testing.T) {
	for _, failures := range []int{1, 2, 100} {
		if d := fairlead.Fixed(3 * time.Second).Delay(failures); d != 3*time.Second {
			t.Errorf("after %d failures: %v", failures, d)
		}
	}
}

func TestExponentialRetryDoublesUpToItsMaximum(t *testing.T) {
	r := &fairlead.Retry{Base: time.Second, Max: 10 * time.Second, Precise: true}
	for failures, want := range map[int]time.Duration{1: 1, 2: 2, 3: 4, 4: 8, 5: 10, 6: 10, 1 << 40: 10} {
		if d := r.Delay(failures); d != want*time.Second {
			t.Errorf("after %d failures: %v, want %vs", failures, d, int(want))
		}
	}
}

func TestJitterStaysBetweenZeroAndTheFullPause(t *testing.T) {
	t.Attr(tier.LongAttr, "rapid draws five times as many cases")
	rapid.Check(t, func(t *rapid.T) {
		r := fairlead.Retry{
			Base:   time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "base")),
			Factor: rapid.SampledFrom([]float64{0, 1, 1.5, 2, 100}).Draw(t, "factor"),
			Max:    time.Duration(rapid.Int64Range(0, int64(24*time.Hour)).Draw(t, "max")),
		}
		failures := rapid.IntRange(1, 200).Draw(t, "failures")
		precise := r
		precise.Precise = true
		if d, full := r.Delay(failures), precise.Delay(failures); d < 0 || d > full {
			t.Fatalf("%v is not within 0 and %v", d, full)
		}
	})
}

func TestTheLongestPauseDoesNotOverflow(t *testing.T) {
	for _, failures := range []int{1, 2, 100} {
		for _, base := range []time.Duration{time.Second, math.MaxInt64} {
			r := &fairlead.Retry{Base: base, Factor: 100, Max: math.MaxInt64}
			if d := r.Delay(failures); d < 0 {
				t.Errorf("after %d failures from %v on: %v", failures, base, d)
			}
		}
	}
}

func TestWhatARetryDoesNotSayIsFromASecondToAnHourTwiceAsLongEachTime(t *testing.T) {
	r := &fairlead.Retry{Precise: true}
	for failures, want := range map[int]time.Duration{1: time.Second, 2: 2 * time.Second, 12: 2048 * time.Second, 13: time.Hour, 100: time.Hour} {
		if d := r.Delay(failures); d != want {
			t.Errorf("after %d failures: %v, want %v", failures, d, want)
		}
	}
}

func TestANilRetryIsTheDefault(t *testing.T) {
	var r *fairlead.Retry
	if d := r.Delay(1); d < 0 || d > time.Second {
		t.Errorf("the first default pause is %v", d)
	}
}
