package cdc

import (
	"context"
	"math/rand/v2"
	"time"
)

// pace is the delay between polls of a cluster. It starts small, because most changes are
// quick, and grows.
type pace struct {
	first, longest time.Duration
}

func (p pace) begin() *pause { return &pause{next: p.first, longest: p.longest} }

type pause struct {
	next, longest time.Duration
}

// wait waits for the next delay, randomly shortened so that the tasks of a batch do not
// poll at the same time. It returns the context's error if the context ends first.
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
