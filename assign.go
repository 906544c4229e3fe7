package fairlead

import (
	"context"
	"math/big"
	"time"
)

// Assignment is a set of jobs for one tenant. Assign spreads the jobs' acceptable starts
// evenly over a period.
type Assignment struct {
	Tenant string    // DefaultTenant if empty
	Start  time.Time // start of the span; no job starts earlier
	End    time.Time // end of the span; the last job's acceptable start
	Jobs   []*Job    // jobs to enqueue; Assign sets their Tenant, NotBefore and StartBy
}

// Assign enqueues either all jobs or none. No job starts before Start. The acceptable start
// of job i of n, counted from one, is Start + (End − Start)·i/n, rounded down to the
// microsecond. Assign returns ErrInvalid if the assignment is invalid. Otherwise it returns
// the same errors as Enqueue.
func (c *Client) Assign(ctx context.Context, a Assignment) error {
	if err := a.spread(); err != nil {
		return err
	}
	return c.Enqueue(ctx, a.Jobs...)
}

// spread sets tenant and times of the jobs.
func (a *Assignment) spread() error {
	var c complaints
	if a.Start.IsZero() {
		c.Refuse("start", "is not set; set it to the time at which the first job may start")
	}
	if a.End.Before(a.Start) {
		c.Refuse("end", "is before start; swap them")
	}
	if len(a.Jobs) == 0 {
		c.Refuse("jobs", "is empty; add at least one job")
	}
	if err := Invalid(c.Found...); err != nil {
		return err
	}
	n := int64(len(a.Jobs))
	span := big.NewInt(a.End.UnixMicro() - a.Start.UnixMicro())
	for i, job := range a.Jobs {
		// The product of a long span and many jobs does not fit into 64 bits.
		part := new(big.Int).Mul(span, big.NewInt(int64(i)+1))
		part.Quo(part, big.NewInt(n))
		job.Tenant, job.NotBefore = a.Tenant, time.UnixMicro(a.Start.UnixMicro()).UTC()
		job.StartBy = time.UnixMicro(a.Start.UnixMicro() + part.Int64()).UTC()
	}
	return nil
}
