package fairlead

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// Retry defines the pause between a failed attempt and the next. The zero value increases
// the pause exponentially from one second to one hour, with full jitter.
type Retry struct {
	Base    time.Duration `json:"base,omitempty"`    // pause after the first failure; default 1s
	Factor  float64       `json:"factor,omitempty"`  // growth per failure; default 2, while 1 means a fixed pause
	Max     time.Duration `json:"max,omitempty"`     // longest pause; default 1h
	Precise bool          `json:"precise,omitempty"` // disables jitter
}

// Fixed returns a Retry whose pause is always d, without jitter.
func Fixed(d time.Duration) *Retry { return &Retry{Base: d, Factor: 1, Max: d, Precise: true} }

// Exponential returns a Retry whose pause doubles from base up to longest, with full jitter.
// The actual pause is uniformly distributed between zero and that value. This prevents jobs
// that failed together from all running again at the same time.
func Exponential(base, longest time.Duration) *Retry {
	return &Retry{Base: base, Factor: 2, Max: longest}
}

// Delay returns the pause after the given number of failures. The first failure is number 1.
func (r *Retry) Delay(failures int) time.Duration {
	if r == nil {
		r = &Retry{}
	}
	base, factor, ceiling := r.Base, r.Factor, r.Max
	if base <= 0 {
		base = time.Second
	}
	if factor == 0 {
		factor = 2
	}
	if ceiling <= 0 {
		ceiling = time.Hour
	}
	delay := float64(base)
	for i := 1; i < failures && delay < float64(ceiling) && factor > 1; i++ {
		delay *= factor
	}
	pause := ceiling
	if delay < float64(ceiling) {
		pause = time.Duration(delay)
	}
	if r.Precise {
		return pause
	}
	return rand.N(min(pause, math.MaxInt64-1) + 1)
}

func (r *Retry) validate() error {
	switch {
	case r == nil:
		return nil
	case r.Base < 0:
		return fmt.Errorf("retry.base is %v; use zero for the default or a positive duration", r.Base)
	case r.Max < 0:
		return fmt.Errorf("retry.max is %v; use zero for the default or a positive duration", r.Max)
	case r.Factor != 0 && !(r.Factor >= 1 && r.Factor <= 100): // also refuses NaN
		return fmt.Errorf("retry.factor is %v; it must be between 1 and 100", r.Factor)
	}
	return nil
}
