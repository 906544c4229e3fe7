package engine

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
)

const (
	conductPause = 10 * time.Millisecond // at least between two rounds: a few ends come together
	busyPause    = time.Millisecond      // when many ends come
	openPage     = 1000                  // open batches that are read at once
)

// conductor counts the tasks of batches that have ended and releases more. It looks at batches
// at once if a task has ended on this node or was reported to it, and at all batches every poll.
type conductor struct {
	life  *life
	store batch.Store
	loop  *loop

	mu    sync.Mutex
	news  map[int64]bool      // batches whose tasks have ended
	later map[int64]time.Time // batches that want to be looked at then
	ahead map[int64]*batch.Outlook
	turns batch.Turns // only the loop uses it
	all   time.Time   // when all are looked at next
}

func newConductor(l *life, store batch.Store) *conductor {
	return &conductor{
		life: l, store: store, loop: l.newLoop("conduct", l.options.Poll),
		news: map[int64]bool{}, later: map[int64]time.Time{}, ahead: map[int64]*batch.Outlook{},
	}
}

// ended makes the loop look at the batches whose tasks are among the jobs.
func (c *conductor) ended(jobs []*fairlead.Job) {
	news := false
	c.mu.Lock()
	for _, job := range jobs {
		if id := job.Batch; id != 0 {
			c.news[id], news = true, true
		}
	}
	c.mu.Unlock()
	if news {
		c.loop.poke()
	}
}

// run goes round until its context ends.
func (c *conductor) run(ctx context.Context) {
	c.loop.run(ctx, func(ctx context.Context) (time.Duration, error) {
		begun := time.Now()
		ids, err := c.due(ctx, begun)
		if err != nil {
			return 0, err
		}
		more, busy := false, false
		for _, id := range ids {
			done := c.conduct(ctx, id)
			more, busy = more || done.Next == 0, busy || done.Busy
		}
		if more {
			return time.Nanosecond, nil
		}
		pause := conductPause + time.Since(begun)/4
		if busy {
			pause = busyPause // those who run tasks must not wait for more
		}
		if err := sleep(ctx, pause); err != nil {
			return 0, err
		}
		return c.wait(time.Now()), nil
	})
}

// due lists the batches that are to be looked at.
func (c *conductor) due(ctx context.Context, now time.Time) ([]int64, error) {
	c.mu.Lock()
	everything := !now.Before(c.all)
	if everything {
		c.all = now.Add(c.life.options.Poll)
	}
	due := c.news
	c.news = map[int64]bool{}
	for id, at := range c.later {
		if !now.Before(at) {
			due[id] = true
			delete(c.later, id)
		}
	}
	c.mu.Unlock()
	if everything {
		open, err := c.open(ctx)
		if err != nil {
			return nil, err
		}
		for i := range open {
			due[open[i].ID] = true
		}
		c.turns.KnowOpen(open)
		maps.DeleteFunc(c.ahead, func(id int64, _ *batch.Outlook) bool { return !due[id] })
	}
	return slices.Sorted(maps.Keys(due)), nil
}

// open reads all open batches.
func (c *conductor) open(ctx context.Context) ([]batch.Record, error) {
	filter := batch.Filter{Open: true, Limit: openPage}
	var all []batch.Record
	for {
		page, err := c.store.Batches(ctx, filter)
		all = append(all, page...)
		if err != nil || len(page) < openPage {
			return all, err
		}
		filter.Below = page[len(page)-1].ID
	}
}

// conduct looks at one batch. One that cannot be looked at does not keep the others
// waiting: it has its turn again with the next poll.
func (c *conductor) conduct(ctx context.Context, id int64) batch.Conducted {
	begun := time.Now()
	outlook := c.ahead[id] // only this loop knows of it
	if outlook == nil {
		outlook = &batch.Outlook{}
		c.ahead[id] = outlook
	}
	done, err := batch.ConductAhead(ctx, c.store, id, &c.turns, outlook)
	if err != nil || done.Ended {
		delete(c.ahead, id)
	}
	if err == nil && done.Prepare {
		if err = batch.Prepare(ctx, c.store, id, done.Try); err == nil {
			done.Next = 0
		}
	}
	if errors.Is(err, fairlead.ErrNotFound) {
		err = nil // it was removed meanwhile
	}
	c.life.options.Observer.Conducted(time.Since(begun), err)
	if err != nil {
		c.life.log.Warn("batch check failed", "batch", id, "error", err)
		return batch.Conducted{Next: -1}
	}
	if done.Next >= 0 {
		c.mu.Lock()
		c.later[id] = time.Now().Add(done.Next)
		c.mu.Unlock()
	}
	return done
}

// wait is how long it is until the next batch is to be looked at; zero: not before
// the poll. News wakes the loop in any case.
func (c *conductor) wait(now time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.news) > 0 {
		return time.Nanosecond
	}
	next := time.Duration(0)
	for _, at := range c.later {
		if wait := max(at.Sub(now), time.Nanosecond); next == 0 || wait < next {
			next = wait
		}
	}
	return next
}
