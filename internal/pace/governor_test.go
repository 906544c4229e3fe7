package pace_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fairlead-io/fairlead/internal/pace"
	"github.com/fairlead-io/fairlead/internal/tier"
)

// target handles a certain load and becomes slow and faulty above it.
type target struct {
	bears   float64 // per second
	latency time.Duration
}

// serve simulates one second at a rate. Without a limit, the load is 5,000.
func (t target) serve(rate float64) pace.Sample {
	if rate == pace.Unlimited {
		rate = 5_000
	}
	sample := pace.Sample{Elapsed: time.Second, Tries: int64(rate), Latency: t.latency}
	if over := rate / t.bears; over > 1 {
		sample.Latency = time.Duration(over * over * float64(t.latency))
		sample.Errors = int64(rate - t.bears)
	}
	return sample
}

func TestTheRateFallsToWhatTheTargetBearsAndRisesAgain(t *testing.T) {
	for name, ceiling := range map[string]float64{"of a set rate": 1000, "of no limit": pace.Unlimited} {
		t.Run(name, func(t *testing.T) {
			g := pace.NewGovernor(ceiling, pace.GovernorOptions{})
			well, ill := target{bears: 2000, latency: 20 * time.Millisecond}, target{bears: 200, latency: 20 * time.Millisecond}
			if ceiling == pace.Unlimited {
				well.bears = 10_000
			}
			rate := g.Rate()
			for range 10 {
				rate = g.Tick(well.serve(rate))
			}
			if rate != ceiling {
				t.Fatalf("the rate is %v though all is well", rate)
			}
			for range 40 {
				rate = g.Tick(ill.serve(rate))
			}
			low, high := rate, rate
			for range 40 {
				rate = g.Tick(ill.serve(rate))
				low, high = min(low, rate), max(high, rate)
			}
			if ceiling > 0 && (high > 300 || low < 60) {
				t.Errorf("the rate is between %v and %v where 200 are borne", low, high)
			}
			before := rate
			for range 40 {
				rate = g.Tick(well.serve(rate))
			}
			if ceiling > 0 && rate != ceiling || rate <= before {
				t.Errorf("the rate rose from %v to %v only", before, rate)
			}
		})
	}
}

func TestSlownessAloneLowersTheRate(t *testing.T) {
	g := pace.NewGovernor(100, pace.GovernorOptions{})
	g.Tick(pace.Sample{Elapsed: time.Second, Tries: 100, Latency: 10 * time.Millisecond})
	if rate := g.Tick(pace.Sample{Elapsed: time.Second, Tries: 100, Latency: 50 * time.Millisecond}); rate >= 100 {
		t.Errorf("the rate is still %v", rate)
	}
}

func TestATargetThatIsSlowerForGoodBecomesUsual(t *testing.T) {
	g := pace.NewGovernor(100, pace.GovernorOptions{})
	g.Tick(pace.Sample{Elapsed: time.Second, Tries: 100, Latency: 10 * time.Millisecond})
	rate := g.Rate()
	for range 600 {
		rate = g.Tick(pace.Sample{Elapsed: time.Second, Tries: int64(rate), Latency: 50 * time.Millisecond})
	}
	if rate != 100 {
		t.Errorf("the rate is %v after ten minutes", rate)
	}
}

func TestAFewTriesAreJudgedTogether(t *testing.T) {
	g := pace.NewGovernor(2, pace.GovernorOptions{Floor: 0.1})
	for range 4 {
		if rate := g.Tick(pace.Sample{Elapsed: time.Second, Tries: 2, Errors: 2}); rate != 2 {
			t.Fatalf("two tries lowered the rate to %v", rate)
		}
	}
	if rate := g.Tick(pace.Sample{Elapsed: time.Second, Tries: 2, Errors: 2}); rate >= 2 {
		t.Errorf("ten failures left the rate at %v", rate)
	}
}

func TestTheSetRateIsNeverExceeded(t *testing.T) {
	t.Attr(tier.LongAttr, "rapid draws five times as many cases")
	rapid.Check(t, func(t *rapid.T) {
		ceilings := rapid.SampledFrom([]float64{pace.Held, 0.5, 5, 1000})
		ceiling := ceilings.Draw(t, "ceiling")
		g := pace.NewGovernor(ceiling, pace.GovernorOptions{})
		for range rapid.IntRange(1, 60).Draw(t, "ticks") {
			if rapid.IntRange(0, 9).Draw(t, "change") == 0 {
				ceiling = ceilings.Draw(t, "ceiling")
				g.SetCeiling(ceiling)
			}
			tries := rapid.Int64Range(0, 2000).Draw(t, "tries")
			g.Tick(pace.Sample{
				Elapsed: time.Second, Tries: tries, Errors: rapid.Int64Range(0, tries).Draw(t, "errors"),
				Latency: time.Duration(rapid.IntRange(0, 100).Draw(t, "latency")) * time.Millisecond,
			})
			if rate := g.Rate(); rate > ceiling || rate == pace.Unlimited || (rate == pace.Held) != (ceiling == pace.Held) {
				t.Fatalf("the rate is %v under %v", rate, ceiling)
			}
		}
	})
}

func TestALowerSetRateHoldsAtOnceAndAHigherOneAsFarAsNothingWasLowered(t *testing.T) {
	bad := pace.Sample{Elapsed: time.Second, Tries: 100, Errors: 100}
	for name, c := range map[string]struct {
		from    float64
		lowered bool
		to      float64
		want    func(rate float64) bool
	}{
		"a lower one":                           {100, false, 10, func(rate float64) bool { return rate == 10 }},
		"a higher one":                          {100, false, 1000, func(rate float64) bool { return rate == 1000 }},
		"one instead of none":                   {pace.Unlimited, false, 10, func(rate float64) bool { return rate == 10 }},
		"none":                                  {100, false, pace.Unlimited, func(rate float64) bool { return rate == pace.Unlimited }},
		"a higher one after it was lowered":     {100, true, 1000, func(rate float64) bool { return rate > 0 && rate < 100 }},
		"none after it was lowered":             {100, true, pace.Unlimited, func(rate float64) bool { return rate > 0 && rate < 100 }},
		"a much lower one after it was lowered": {100, true, 2, func(rate float64) bool { return rate == 2 }},
		"to be held":                            {100, true, pace.Held, func(rate float64) bool { return rate == pace.Held }},
		"one below none after that was lowered": {pace.Unlimited, true, 20, func(rate float64) bool { return rate == 20 }},
		"one above what none was lowered to":    {pace.Unlimited, true, 1000, func(rate float64) bool { return rate > 0 && rate < 100 }},
	} {
		g := pace.NewGovernor(c.from, pace.GovernorOptions{})
		if c.lowered {
			g.Tick(bad)
		}
		if g.SetCeiling(c.to); !c.want(g.Rate()) {
			t.Errorf("%s: the rate is %v", name, g.Rate())
		}
	}
	g := pace.NewGovernor(100, pace.GovernorOptions{})
	if rate := g.Tick(pace.Sample{Tries: 100, Errors: 100}); rate != 100 {
		t.Errorf("tries in no time lowered the rate to %v", rate)
	}
}
