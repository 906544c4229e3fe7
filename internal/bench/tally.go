package bench

import (
	"context"
	"sync/atomic"
	"time"
)

// tally counts jobs in a workload.
type tally struct {
	enqueued, ended atomic.Int64
	changed         chan struct{} // receives an element after ended has grown
}

func newTally() *tally { return &tally{changed: make(chan struct{}, 1)} }

// events returns Events that count ended jobs.
func (t *tally) events() Events {
	return Events{Started: func(time.Duration) {}, Ended: t.end}
}

func (t *tally) end() {
	t.ended.Add(1)
	select {
	case t.changed <- struct{}{}:
	default:
	}
}

func (t *tally) outstanding() int64 { return t.enqueued.Load() - t.ended.Load() }

// await waits until the given number of jobs have ended. It supports one caller at a time.
func (t *tally) await(ctx context.Context, jobs int64) error {
	for t.ended.Load() < jobs {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-t.changed:
		}
	}
	return nil
}

// course records the growth of a count over time.
type course struct {
	points []point
	stop   func()
}

type point struct {
	at    time.Duration
	count int64
}

// follow samples a count until stop is called.
func follow(count func() int64) *course {
	const interval = 20 * time.Millisecond
	c := &course{points: []point{{}}}
	first, began := count(), time.Now()
	sample := func() { c.points = append(c.points, point{time.Since(began), count() - first}) }
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				sample()
			case <-end:
				sample()
				return
			}
		}
	}()
	c.stop = func() {
		close(end)
		<-ended
	}
	return c
}

// thirds returns the rates of the first and the last third of the time.
func (c *course) thirds() (first, last float64) {
	total := c.points[len(c.points)-1].at
	return c.rate(0, total/3), c.rate(total-total/3, total)
}

func (c *course) rate(from, to time.Duration) float64 {
	a, b := c.at(from), c.at(to)
	if b.at <= a.at {
		return 0
	}
	return round(float64(b.count-a.count)/(b.at-a.at).Seconds(), 1)
}

// at returns the first sample that is not before t.
func (c *course) at(t time.Duration) point {
	for _, p := range c.points {
		if p.at >= t {
			return p
		}
	}
	return c.points[len(c.points)-1]
}
