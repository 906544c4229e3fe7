package pace

import (
	"math"
	"time"
)

// GovernorOptions says when a target does badly. The zero value has useful
// defaults.
type GovernorOptions struct {
	MaxErrors float64 // share of failed tries from which the rate is lowered; default 0.05
	Slowdown  float64 // how many times slower than usual the target may be; default 2
	Backoff   float64 // what is left of the rate when it is lowered; default 0.7
	Step      float64 // what is added to it otherwise, as a share of the set rate; default 0.05
	Floor     float64 // the rate is never lowered below it; default 1 per second
}

// Sample is what became of the tries that ended since the last tick.
type Sample struct {
	Elapsed time.Duration // since the last tick
	Tries   int64
	Errors  int64         // of the tries
	Latency time.Duration // of a try, on average
}

// Governor finds the rate that a target can bear: it lowers it by a share when
// errors or latency rise, and raises it by a small step while all is well and the
// rate is made use of. It is a plain calculation, without clock or lock.
type Governor struct {
	options GovernorOptions
	ceiling float64       // the set rate, or Unlimited
	rate    float64       // or Unlimited
	usual   time.Duration // latency when all is well
	best    float64       // highest throughput while all was well; steps are measured by it without a ceiling
	rest    bool          // the rate was lowered just now: what ends now began before
	so      Sample        // ticks that had too few tries to be judged alone
}

// The governor judges no fewer tries than these at once, and takes a target that
// got slower for good as usual after some minutes.
const (
	fewTries = 10
	creep    = 1.01 // per second
	madeUse  = 0.7  // share of the rate that must be used before it is raised
)

// NewGovernor begins at the set rate.
func NewGovernor(ceiling float64, options GovernorOptions) *Governor {
	return &Governor{options: options.withDefaults(), ceiling: ceiling, rate: ceiling}
}

func (o GovernorOptions) withDefaults() GovernorOptions {
	for _, field := range []struct {
		value     *float64
		otherwise float64
	}{{&o.MaxErrors, 0.05}, {&o.Slowdown, 2}, {&o.Backoff, 0.7}, {&o.Step, 0.05}, {&o.Floor, 1}} {
		if *field.value <= 0 {
			*field.value = field.otherwise
		}
	}
	return o
}

// SetCeiling changes the set rate. A lower one holds at once; a higher one is
// reached by steps if the governor had lowered the rate, else at once. Held is a
// ceiling too.
func (g *Governor) SetCeiling(ceiling float64) {
	free := g.rate == g.ceiling
	g.ceiling = ceiling
	if free || exceeds(g.rate, ceiling) {
		g.rate = ceiling
	}
}

// exceeds compares rates, of which Unlimited is the highest and Held the lowest.
func exceeds(rate, ceiling float64) bool {
	switch {
	case ceiling == Unlimited:
		return false
	case rate == Unlimited:
		return true
	}
	return rate > ceiling
}

// Rate is what Pace should be set to.
func (g *Governor) Rate() float64 { return g.rate }

// Tick judges the time since the last tick and returns the new rate.
func (g *Governor) Tick(s Sample) float64 {
	g.so = g.so.and(s)
	if g.ceiling == Held || g.so.Tries < fewTries || g.so.Elapsed <= 0 {
		return g.rate
	}
	s, g.so = g.so, Sample{}
	throughput := float64(s.Tries) / s.Elapsed.Seconds()
	bad := float64(s.Errors) > g.options.MaxErrors*float64(s.Tries) || g.slow(s.Latency)
	g.usual = time.Duration(float64(g.usual) * math.Pow(creep, min(s.Elapsed.Seconds(), 60)))
	switch {
	case bad && g.rest:
		g.rest = false
	case bad:
		g.lower(throughput)
		g.rest = true
	default:
		g.rest = false
		g.learn(s.Latency, throughput)
		g.raise(throughput)
	}
	return g.rate
}

// and is both samples as one.
func (s Sample) and(other Sample) Sample {
	sum := Sample{Elapsed: s.Elapsed + other.Elapsed, Tries: s.Tries + other.Tries, Errors: s.Errors + other.Errors}
	if sum.Tries > 0 {
		weight := float64(other.Tries) / float64(sum.Tries)
		sum.Latency = s.Latency + time.Duration(weight*float64(other.Latency-s.Latency))
	}
	return sum
}

func (g *Governor) slow(latency time.Duration) bool {
	return g.usual > 0 && float64(latency) > g.options.Slowdown*float64(g.usual)
}

// learn follows a faster target at once; a slower one becomes usual by creeping.
func (g *Governor) learn(latency time.Duration, throughput float64) {
	if latency > 0 && (g.usual == 0 || latency < g.usual) {
		g.usual = latency
	}
	g.best = max(g.best, throughput)
}

// lower begins at what was really done: a rate far above it would take many
// ticks to have an effect.
func (g *Governor) lower(throughput float64) {
	from := throughput
	if g.rate != Unlimited {
		from = min(g.rate, throughput)
	}
	g.rate = max(from*g.options.Backoff, g.options.Floor)
	if exceeds(g.rate, g.ceiling) {
		g.rate = g.ceiling
	}
}

func (g *Governor) raise(throughput float64) {
	if g.rate == g.ceiling || throughput < madeUse*g.rate {
		return
	}
	measure := g.ceiling
	if measure == Unlimited {
		measure = g.best
	}
	g.rate += max(measure*g.options.Step, g.options.Floor)
	if exceeds(g.rate, g.ceiling) {
		g.rate = g.ceiling
	}
}
