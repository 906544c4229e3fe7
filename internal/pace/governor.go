package pace

import (
	"math"
	"time"
)

// GovernorOptions defines when a target is considered to perform badly, and how the rate
// reacts. The zero value has useful defaults.
type GovernorOptions struct {
	MaxErrors float64 // share of failed tries from which the rate is lowered; default 0.05
	Slowdown  float64 // allowed slowdown of the target as a factor; default 2
	Backoff   float64 // factor by which the rate is lowered; default 0.7
	Step      float64 // increase otherwise, as a share of the set rate; default 0.05
	Floor     float64 // minimum rate; default 1 per second
}

// Sample summarizes the tries that have ended since the last tick.
type Sample struct {
	Elapsed time.Duration // since the last tick
	Tries   int64
	Errors  int64         // failed tries
	Latency time.Duration // average duration of a try
}

// Governor finds the highest rate that a target can handle. It lowers the rate by a factor
// when errors or latency rise. It raises the rate by a small step while the target performs
// well and the rate is fully used. It only computes: it has no clock and no lock.
type Governor struct {
	options GovernorOptions
	ceiling float64       // the set rate, or Unlimited
	rate    float64       // current rate, or Unlimited
	usual   time.Duration // latency while the target performs well
	best    float64       // highest throughput while the target performed well; the base of steps without a ceiling
	rest    bool          // the rate was just lowered: tries ending now began before
	so      Sample        // ticks with too few tries to be judged separately
}

// fewTries is the minimum number of tries to judge. A target that became slower permanently
// counts as normal after some minutes.
const (
	fewTries = 10
	creep    = 1.01 // per second
	madeUse  = 0.7  // share of the rate that must be used before it is raised
)

// NewGovernor returns a Governor that starts at ceiling, the set rate.
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

// SetCeiling changes the set rate. A lower rate takes effect immediately. So does a higher
// rate, unless the governor has lowered the rate; then it approaches the new rate in steps.
// Held is a valid ceiling.
func (g *Governor) SetCeiling(ceiling float64) {
	free := g.rate == g.ceiling
	g.ceiling = ceiling
	if free || exceeds(g.rate, ceiling) {
		g.rate = ceiling
	}
}

// exceeds compares rates. Unlimited is the highest and Held the lowest.
func exceeds(rate, ceiling float64) bool {
	switch {
	case ceiling == Unlimited:
		return false
	case rate == Unlimited:
		return true
	}
	return rate > ceiling
}

// Rate returns the rate to set in a Pace.
func (g *Governor) Rate() float64 { return g.rate }

// Tick evaluates the tries since the last tick and returns the new rate.
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

// and returns the combination of both samples.
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

// learn adapts to a faster target immediately. A slower latency becomes normal gradually.
func (g *Governor) learn(latency time.Duration, throughput float64) {
	if latency > 0 && (g.usual == 0 || latency < g.usual) {
		g.usual = latency
	}
	g.best = max(g.best, throughput)
}

// lower starts at the actual throughput: a rate far above it would take many ticks to have
// an effect.
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
