package httpcall

import (
	"testing"
	"testing/synctest"
	"time"
)

// try makes a call that says this of its target, or returns how long to wait.
func (b *breakers) try(name string, v verdict) time.Duration {
	entered, wait := b.enter(name)
	if entered.breaker == nil {
		return wait
	}
	b.leave(entered, v)
	return 0
}

func TestABreakerOpensAndLetsProbesThrough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreakers(0, 3)
		for range 2 {
			b.try("a:80", unhealthy)
		}
		b.try("a:80", answered) // in a row is what counts
		for range 3 {
			if wait := b.try("a:80", unhealthy); wait != 0 {
				t.Fatalf("it opened too early: wait %v", wait)
			}
		}
		if wait := b.try("a:80", answered); wait < breakerFirst || wait > 2*breakerFirst {
			t.Errorf("an open breaker asks to wait %v", wait)
		}
		if wait := b.try("b:80", answered); wait != 0 {
			t.Errorf("another target has to wait %v", wait)
		}
		time.Sleep(breakerFirst)
		probe, wait := b.enter("a:80")
		if probe.breaker == nil {
			t.Fatalf("no probe is let through: wait %v", wait)
		}
		if second, wait := b.enter("a:80"); second.breaker != nil || wait <= 0 {
			t.Error("two probes are let through")
		}
		b.leave(probe, unhealthy)
		if wait := b.try("a:80", answered); wait < 2*breakerFirst {
			t.Errorf("after a failed probe it asks to wait only %v", wait)
		}
		time.Sleep(2 * breakerFirst)
		b.try("a:80", unknown) // a probe that was ended says nothing
		if wait := b.try("a:80", answered); wait != 0 {
			t.Errorf("the next probe has to wait %v", wait)
		}
		if wait := b.try("a:80", unhealthy); wait != 0 {
			t.Errorf("it is not closed: wait %v", wait)
		}
	})
}

func TestABreakerStaysOpenNoLongerThanItsLongest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreakers(0, 1)
		for range 20 {
			b.try("a:80", unhealthy)
			time.Sleep(breakerLongest)
		}
		b.try("a:80", unhealthy)
		if wait := b.try("a:80", answered); wait < breakerLongest || wait > 2*breakerLongest {
			t.Errorf("it asks to wait %v", wait)
		}
	})
}

func TestATargetHasBoundedCallsAndIsForgotten(t *testing.T) {
	b := newBreakers(2, 0)
	first, _ := b.enter("a:80")
	second, _ := b.enter("a:80")
	if third, wait := b.enter("a:80"); third.breaker != nil || wait < fullPause {
		t.Errorf("a third call is let through, or is to wait %v", wait)
	}
	b.leave(first, unhealthy)
	if wait := b.try("a:80", unhealthy); wait != 0 {
		t.Errorf("the place was not given back: wait %v", wait)
	}
	b.leave(second, answered)
	if len(b.byName) != 0 {
		t.Errorf("%d targets are remembered without need", len(b.byName))
	}
}

func TestTargetsThatAreNotCalledAnyMoreAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreakers(0, 1)
		for i := range manyTargets {
			b.try(string(rune('a'+i)), unhealthy)
		}
		time.Sleep(2 * idleTarget)
		b.try("new", unhealthy)
		if len(b.byName) != 1 {
			t.Errorf("%d targets are remembered", len(b.byName))
		}
	})
}
