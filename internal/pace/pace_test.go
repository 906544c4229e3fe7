package pace_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/fairlead-io/fairlead/internal/pace"
	"github.com/fairlead-io/fairlead/internal/tier"
)

// grant is n permits granted at a time since the start.
type grant struct {
	at time.Duration
	n  int
}

// manySlices is for callers that take all permits they request.
const manySlices = math.MaxInt32

// collect requests permits for a duration.
func collect(t fatal, p *pace.Pace, d time.Duration, ask func() int) []grant {
	start := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	var grants []grant
	for {
		n, err := p.Wait(ctx, ask(), manySlices)
		if err != nil {
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("wait: %v", err)
			}
			return grants
		}
		grants = append(grants, grant{time.Since(start), n})
	}
}

type fatal interface {
	Helper()
	Fatalf(format string, args ...any)
}

func count(grants []grant) int {
	sum := 0
	for _, g := range grants {
		sum += g.n
	}
	return sum
}

func TestARateIsKeptExactly(t *testing.T) {
	for _, rate := range []float64{0.5, 10, 1_000, 50_000, 333.3} {
		for name, ask := range map[string]func(*pace.Pace) func() int{
			"slices":     func(p *pace.Pace) func() int { return p.Slice },
			"one by one": func(*pace.Pace) func() int { return func() int { return 1 } },
		} {
			t.Run(fmt.Sprintf("%v %s", rate, name), func(t *testing.T) {
				if rate > 1_000 && name == "one by one" {
					tier.Long(t, "a million timers")
				}
				synctest.Test(t, func(t *testing.T) {
					p := pace.New(rate)
					grants := collect(t, p, 30*time.Second, ask(p))
					if got, want := count(grants), 30*rate; math.Abs(float64(got)-want) > 1+rate/1000 {
						t.Errorf("%d in 30 s, want %v", got, want)
					}
					smooth(t, grants, 30*time.Second, rate)
				})
			})
		}
	}
}

// smooth checks each tenth of a second. Two permits are always possible: one at its start
// and one at its end.
func smooth(t fatal, grants []grant, d time.Duration, rate float64) {
	t.Helper()
	const bucket = 100 * time.Millisecond
	sums := make([]int, d/bucket+1)
	for _, g := range grants {
		sums[g.at/bucket] += g.n
	}
	for i, sum := range sums {
		if float64(sum) > max(2, 1.5*rate*bucket.Seconds()) {
			t.Fatalf("%d permits in the tenth of a second at %v, at %v per second", sum, time.Duration(i)*bucket, rate)
		}
	}
}

func TestThePauseOfAConsumerIsNotMadeUpFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const rate = 1000
		p := pace.New(rate)
		asked := 0
		grants := collect(t, p, 30*time.Second, func() int {
			if asked++; asked%5000 == 0 {
				time.Sleep(2 * time.Second) // the consumer is busy elsewhere, which this tests
			}
			return 1
		})
		smooth(t, grants, 30*time.Second, rate)
	})
}

func TestWhatIsForgottenIsNotMadeUpFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pace.New(1000)
		one := func() int { return 1 }
		collect(t, p, time.Second, one)
		time.Sleep(30 * time.Millisecond)
		p.Forget()
		if n := count(collect(t, p, time.Second, one)); n > 1001 {
			t.Errorf("%d permits were given in a second", n)
		}
		collect(t, p, time.Second, func() int { return 100 })
		p.Forget() // nothing is due, and permits granted ahead stay granted
		if n := count(collect(t, p, time.Second, one)); n > 1001 {
			t.Errorf("%d permits were given in a second", n)
		}
	})
}

func TestManyAtOnceAreDueWithTheLastOfThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pace.New(10)
		grants := collect(t, p, 30*time.Second, func() int { return 20 })
		if got := count(grants); got != 300 || grants[0].at != 1900*time.Millisecond {
			t.Errorf("%d in 30 s, the first after %v", got, grants[0].at)
		}
	})
}

// A caller that waits for the permits of a short period at a high rate does not wait for
// the same number at a low rate, only to receive them all at once.
func TestALowerRateGivesFewer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, start := pace.New(50_000), time.Now()
		for range 2 {
			if n, err := p.Wait(t.Context(), 50, 1); n != 50 || err != nil {
				t.Fatalf("%d were given: %v", n, err)
			}
		}
		time.AfterFunc(500*time.Microsecond, func() { p.SetRate(0.5) })
		for i := range 3 {
			n, err := p.Wait(t.Context(), 50, 1)
			if took, want := time.Since(start), time.Duration(2*i)*time.Second; n != 1 || err != nil || took < want || took > want+3*time.Second {
				t.Errorf("%d were given after %v: %v", n, took, err)
			}
		}
	})
}

// Delays of late timers are made up for and do not accumulate.
func TestLateTimersDoNotLowerTheRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const rate = 1000
		p := pace.New(rate)
		grants := collect(t, p, 30*time.Second, func() int {
			time.Sleep(rand.N(3 * time.Millisecond)) // as if the previous timer had been late
			return 3
		})
		if got := count(grants); math.Abs(float64(got)-30*rate) > 0.002*30*rate {
			t.Errorf("%d in 30 s, want %d", got, 30*rate)
		}
		smooth(t, grants, 30*time.Second, rate)
	})
}

func TestTheRateCanChangeWhileSomebodyWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pace.New(0.001)
		if _, err := p.Wait(t.Context(), 1, 1); err != nil { // the first is due immediately
			t.Fatal(err)
		}
		start := time.Now()
		var group sync.WaitGroup
		group.Go(func() {
			if _, err := p.Wait(t.Context(), 1, 1); err != nil {
				t.Error(err)
			}
		})
		time.Sleep(time.Second)
		p.SetRate(10)
		group.Wait()
		if waited := time.Since(start); waited < 1090*time.Millisecond || waited > 1110*time.Millisecond {
			t.Errorf("the waiter got its permit after %v", waited)
		}
	})
}

func TestEachOfSeveralRatesIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pace.New(1000)
		for _, rate := range []float64{1000, 50_000, 10, 1000, 0.5, 200} {
			p.SetRate(rate)
			grants := collect(t, p, 10*time.Second, p.Slice)
			if got, want := count(grants), 10*rate; math.Abs(float64(got)-want) > 1+0.05*rate {
				t.Errorf("%d in 10 s at %v per second", got, rate)
			}
			smooth(t, grants, 10*time.Second, rate)
		}
	})
}

// For any changes of the rate and any pauses of callers, no grant exceeds the contents of a
// plain token bucket of one permit plus 40 ms.
func TestNoChangesOfTheRateGiveMoreThanTheRates(t *testing.T) {
	t.Attr(tier.LongAttr, "rapid draws five times as many cases")
	rapid.Check(t, func(rt *rapid.T) {
		rates := rapid.SliceOfN(rapid.SampledFrom([]float64{pace.Held, 0.5, 3, 10, 100, 1000}), 1, 40).Draw(rt, "rates")
		times := rapid.SliceOfN(rapid.IntRange(1, 300), len(rates), len(rates)).Draw(rt, "milliseconds")
		pauses := rapid.SliceOfN(rapid.IntRange(0, 500), len(rates), len(rates)).Draw(rt, "pauses")
		var wrong string
		synctest.Test(t, func(t *testing.T) {
			p, tokens := pace.New(rates[0]), 1.0
			for i, rate := range rates {
				p.SetRate(rate)
				rate := max(0, rate)
				fill := func(d time.Duration) { tokens = min(tokens+rate*d.Seconds(), 1+rate*0.04) }
				fill(0)
				last, d := time.Duration(0), time.Duration(times[i])*time.Millisecond
				for _, g := range collect(t, p, d, p.Slice) {
					fill(g.at - last)
					last = g.at
					if tokens -= float64(g.n); tokens < -1e-6 {
						wrong = fmt.Sprintf("%d permits were given %v after rate %d was set, %v too many", g.n, g.at, i, -tokens)
						return
					}
				}
				fill(d - last)
				if pauses[i] > 250 {
					pause := time.Duration(pauses[i]) * time.Millisecond
					time.Sleep(pause)
					fill(pause)
				}
			}
		})
		if wrong != "" {
			rt.Fatal(wrong)
		}
	})
}

func TestARateThatIsSetAfterNoLimitIsKept(t *testing.T) {
	for _, owed := range []float64{0, 5, -5} {
		synctest.Test(t, func(t *testing.T) {
			p := pace.Resume(pace.Unlimited, owed)
			if _, err := p.Wait(t.Context(), 1, 1); err != nil {
				t.Fatal(err)
			}
			p.SetRate(10)
			if got := count(collect(t, p, 30*time.Second, func() int { return 1 })); got < 298 || got > 301 {
				t.Errorf("%d in 30 s, with %v owed before", got, owed)
			}
		})
	}
}

func TestWithoutALimitNobodyWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, start := pace.New(pace.Unlimited), time.Now()
		for range 1_000_000 {
			if _, err := p.Wait(t.Context(), 1, 1); err != nil {
				t.Fatal(err)
			}
		}
		if time.Since(start) != 0 {
			t.Errorf("it took %v", time.Since(start))
		}
	})
}

func TestAnEndedContextTakesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pace.New(1)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := p.Wait(ended, 1, 1); !errors.Is(err, context.Canceled) {
			t.Fatalf("wait: %v", err)
		}
		start := time.Now()
		if _, err := p.Wait(t.Context(), 1, 1); err != nil || time.Since(start) != 0 {
			t.Errorf("the first permit came after %v: %v", time.Since(start), err)
		}
	})
}

func TestHeldGivesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pace.New(pace.Held)
		if grants := collect(t, p, time.Hour, p.Slice); len(grants) > 0 {
			t.Errorf("%v were given", grants)
		}
	})
}

func BenchmarkWaitUnlimited(b *testing.B) {
	p := pace.New(pace.Unlimited)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Wait(b.Context(), 64, 1); err != nil {
			b.Fatal(err)
		}
	}
}

// Permits owed from before are granted gradually and completely, but no more than that,
// even if the rate changes meanwhile.
func TestWhatIsOwedIsMadeUpFor(t *testing.T) {
	for _, rate := range []float64{0.5, 2.5, 10, 1_000, 50_000} {
		for _, changed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%v %v", rate, changed), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					owed := rate // permits of one second
					p := pace.Resume(rate, owed)
					sum := 0
					for second := range 30 {
						if changed {
							p.SetRate(rate * (1 + float64(second%2))) // 1.5 times as fast on average
						}
						grants := collect(t, p, time.Second, p.Slice)
						smooth(t, grants, time.Second, p.Rate())
						sum += count(grants)
					}
					want := 30*rate + owed
					if changed {
						want = 45*rate + owed
					}
					if missing := want - float64(sum); missing < -2 || missing > 2+0.1*owed {
						t.Errorf("%d in 30 s, want nearly %v", sum, want)
					}
				})
			})
		}
	}
}

func TestWhatWasGivenAheadIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		grants := collect(t, pace.Resume(10, -0.5), 30*time.Second, func() int { return 1 })
		if got := count(grants); got != 300 || grants[0].at != 50*time.Millisecond {
			t.Errorf("%d in 30 s, the first after %v", got, grants[0].at)
		}
	})
}

func TestNothingIsOwedToAPaceThatWasHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pace.Resume(10, 10)
		p.SetRate(pace.Held)
		p.SetRate(10)
		if got := count(collect(t, p, 30*time.Second, func() int { return 1 })); got > 301 {
			t.Errorf("%d in 30 s", got)
		}
	})
}

func TestWhatIsNoRatePanics(t *testing.T) {
	for _, rate := range []float64{-0.5, -2, math.NaN(), math.Inf(1), math.Inf(-1)} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%v was taken for a rate", rate)
				}
			}()
			pace.New(rate)
		}()
	}
	for _, rate := range []float64{pace.Held, pace.Unlimited, 0.001, 1e9} {
		if got := pace.New(rate).Rate(); got != rate {
			t.Errorf("the rate is %v, want %v", got, rate)
		}
	}
}

func TestPermitsThatAreDueInAMillisecondAreAskedForTogether(t *testing.T) {
	for rate, want := range map[float64]int{0.5: 1, 1000: 1, 5000: 5, pace.Unlimited: math.MaxInt32, 1e15: math.MaxInt32} {
		if got := pace.New(rate).Slice(); got != want {
			t.Errorf("at %v per second %d are asked for at once, want %d", rate, got, want)
		}
	}
}

func TestTheLowestRateIsNoHaste(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pace.New(1e-12) // the second permit is due in 30,000 years
		grants := collect(t, p, 365*24*time.Hour, func() int { return 1 })
		if got := count(grants); got != 1 {
			t.Errorf("%d permits were given", got)
		}
	})
}
