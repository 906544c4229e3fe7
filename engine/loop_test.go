package engine

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"
)

func TestLoopTakesAStepEveryIntervalWithJitter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Second)
		defer cancel()
		steps := 0
		newLoop("test", time.Second, slog.New(slog.DiscardHandler)).run(ctx, func(context.Context) (time.Duration, error) {
			steps++
			return time.Duration(steps%2) * time.Hour, nil // later than the interval is no wish
		})
		if steps < 95 || steps > 106 {
			t.Errorf("%d steps in 100 intervals", steps)
		}
	})
}

func TestLoopIsWokenAtOnceAndKeepsAWakeThatCameDuringAStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		l := newLoop("test", time.Hour, slog.New(slog.DiscardHandler))
		steps := make(chan time.Time)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			l.run(ctx, func(context.Context) (time.Duration, error) {
				select {
				case steps <- time.Now():
				case <-ctx.Done():
				}
				return 0, nil
			})
		}()
		begin := time.Now()
		l.poke() // before or during the first step
		<-steps
		<-steps
		l.poke()
		if at := <-steps; at != begin {
			t.Errorf("the third step came %v late", at.Sub(begin))
		}
		cancel()
		<-ended
	})
}

func TestLoopBacksOffAfterErrorsUpToTenIntervals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 1000*time.Second)
		defer cancel()
		var last time.Time
		var longest time.Duration
		steps := 0
		newLoop("test", time.Second, slog.New(slog.DiscardHandler)).run(ctx, func(context.Context) (time.Duration, error) {
			if steps++; steps > 1 {
				longest = max(longest, time.Since(last))
			}
			last = time.Now()
			return 0, errors.New("no")
		})
		if longest != 10*time.Second {
			t.Errorf("the longest pause was %v, want 10s", longest)
		}
	})
}
