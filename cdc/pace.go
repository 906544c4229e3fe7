package cdc

import (
	"context"
	"math/rand/v2"
	"time"
)

// pace is how long to wait between looks at a cluster: a little at first, as
// most things are done at once, and then longer and longer.
type pace struct {
	first, longest time.Duration
}

func (p pace) begin() *pause { return &pause{next: p.first, longest: p.longest} }

type pause struct {
	next, longest time.Duration
}

// wait waits for a while, a random part of it less, so that the tasks of a batch
// do not ask all at once. It ends early with the context's error.
func (p *pause) wait(ctx context.Context) error {
	d := p.next - rand.N(p.next/4+1)
	p.next = min(2*p.next, p.longest)
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
