package engine

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"time"
)

// loop does a step again and again until its context ends: at once, then each
// time the interval is over or the loop is woken. It is the one way in which
// the engine repeats anything.
type loop struct {
	name  string
	every time.Duration
	wake  chan struct{} // capacity 1: a wake during a step is kept
	log   *slog.Logger

	random *rand.Rand // source of the jitter; nil = the global source
}

func newLoop(name string, every time.Duration, log *slog.Logger) *loop {
	return &loop{name: name, every: every, wake: make(chan struct{}, 1), log: log}
}

// newLoop returns a loop of the node, with the jitter that the options require.
func (l *life) newLoop(name string, every time.Duration) *loop {
	made := newLoop(name, every, l.log)
	if l.options.Random != nil {
		made.random = l.options.Random(name)
	}
	return made
}

// poke makes the loop take its next step now.
func (l *loop) poke() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// run takes steps. A step may ask for the next one sooner than the interval by
// returning a positive duration. Intervals have a tenth of jitter, so that nodes
// that started together do not stay together. After an error the pause grows,
// wakes or not, up to ten intervals; a step that failed only after longer than
// that had worked before.
func (l *loop) run(ctx context.Context, step func(context.Context) (time.Duration, error)) {
	failures := 0
	for ctx.Err() == nil {
		begin := time.Now()
		sooner, err := step(ctx)
		if time.Since(begin) > 10*l.every {
			failures = 0
		}
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			failures = 0
		default:
			failures++
			pause := min(l.every<<min(failures-1, 8), 10*l.every)
			l.log.Warn("loop failed", "loop", l.name, "error", err, "retry_in", pause)
			if sleep(ctx, pause) != nil {
				return
			}
			continue
		}
		pause := l.every - l.every/20 + l.jitter(l.every/10+1)
		if sooner > 0 && sooner < pause {
			pause = sooner
		}
		l.idle(ctx, pause)
	}
}

// jitter returns a random duration below limit.
func (l *loop) jitter(limit time.Duration) time.Duration {
	if l.random == nil {
		return rand.N(limit)
	}
	return time.Duration(l.random.Int64N(int64(limit)))
}

func (l *loop) idle(ctx context.Context, pause time.Duration) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-l.wake:
	case <-timer.C:
	}
}
