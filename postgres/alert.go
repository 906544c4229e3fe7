package postgres

import (
	"context"
	"slices"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// transact acts upon schedules in one transaction.
func (a *acting) transact(ctx context.Context, f func(ctx context.Context, r runner) error) error {
	return a.renewing(ctx, func(ctx context.Context) error { return a.Store.inTx(ctx, f) })
}

// sendAlerts stores the jobs that tell of what has gone wrong.
func (a *acting) sendAlerts(ctx context.Context) error {
	fresh := &newJobs{}
	for _, s := range a.subjects {
		jobs, err := sqlstore.Alerts(&s.plan)
		if err != nil {
			return err
		}
		fresh.jobs = append(fresh.jobs, jobs...)
	}
	n := len(fresh.jobs)
	if n == 0 {
		return nil
	}
	if err := a.knowLanesOf(fresh); err != nil {
		return err
	}
	var err error
	if fresh.ids, err = a.newIDs(ctx, n); err != nil {
		return err
	}
	a.alerts = fresh
	return a.in.run(ctx, fresh.plainCall(a.Store))
}

// newIDs takes ids that ascend inside the transaction.
func (a *acting) newIDs(ctx context.Context, n int) ([]int64, error) {
	var blocks []int64
	if err := a.in.run(ctx, idsCall(&blocks, a.sql.TakeIDs, (n+idBlock-1)/idBlock)); err != nil {
		return nil, err
	}
	slices.Sort(blocks)
	ids := make([]int64, n)
	for i := range ids {
		ids[i] = blocks[i/idBlock] + int64(i%idBlock)
	}
	return ids, nil
}
