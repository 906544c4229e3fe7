package server

import (
	"context"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/sweep"
)

// remainsAtMost limits the number of batches, schedules and sweeps that are counted.
const remainsAtMost = 1000

// remains reports the data that an erasure leaves, so that callers do not assume that it is
// gone.
func (e *eraser) remains(ctx context.Context) error {
	if err := e.unfinished(ctx); err != nil {
		return err
	}
	if e.key != "" {
		e.remainder("batches, schedules and sweeps", nil, "they have no keys, so erasing by key does not find personal data in them; erase the tenant, or delete them")
	} else if err := e.ofTenant(ctx); err != nil {
		return err
	}
	e.remainder("audit entries", nil, "they contain neither args nor outputs, but may contain keys and errors of jobs that callers acted on; each is removed 400 days after it was written")
	e.remainder("idempotency keys", nil, "they contain a hash of the request and the ids of its jobs; each is removed a day after the request")
	e.remainder("shared bulks", nil, "they concern several tenants, and contain their names, a reason, the cause of errors and the ids of jobs; each is kept as long as succeeded jobs are")
	return nil
}

func (e *eraser) remainder(what string, count *int64, until string) {
	e.out.Remains = append(e.out.Remains, &fairleadv1.Remainder{What: what, Count: count, Until: until})
}

// unfinished lists jobs that have not ended.
func (e *eraser) unfinished(ctx context.Context) error {
	live := slices.DeleteFunc(fairlead.States(), fairlead.State.Final)
	filter := fairlead.Filter{Tenants: e.tenants, Key: e.key, States: live}
	count, err := e.system.client.TallyUpTo(ctx, filter, countedAtMost)
	if err != nil || count.Total() == 0 {
		return err
	}
	e.remainder("unfinished jobs", proto.Int64(count.Total()), "they are needed to run; cancel them or wait for their end, then erase again")
	filter.Limit = eraseListed
	page, err := findPage(ctx, e.system.client, filter)
	for _, job := range page.Jobs {
		e.left(job, "it has not ended")
	}
	return err
}

// ofTenant counts the tenant's declared objects and those that have not completed.
func (e *eraser) ofTenant(ctx context.Context) error {
	open, err := e.system.batches.List(ctx, batch.Filter{Tenants: e.tenants, Open: true, Limit: remainsAtMost})
	if err != nil {
		return err
	}
	e.counted("open batches", len(open), "they contain the parameters of their tasks; cancel them or wait for their end, then erase again")
	if err := e.openBulks(ctx); err != nil {
		return err
	}
	schedules, err := schedule.NewClient(e.system.store).List(ctx, schedule.Filter{Tenants: e.tenants, Limit: remainsAtMost})
	if err != nil {
		return err
	}
	e.counted("schedules", len(schedules), "they contain the args of their future runs; until you delete them")
	sweeps, err := sweep.NewClient(e.system.store).List(ctx, sweep.Filter{Tenants: e.tenants, Limit: remainsAtMost})
	if err != nil {
		return err
	}
	e.counted("sweeps", len(sweeps), "they contain args, failed items and log lines; until you delete them")
	declared, err := e.system.client.Tenants(ctx, fairlead.TenantFilter{Names: e.tenants})
	if err != nil {
		return err
	}
	e.counted("tenant", len(declared), "its labels and addresses; until you delete it")
	return nil
}

func (e *eraser) counted(what string, count int, until string) {
	if count > 0 {
		e.remainder(what, proto.Int64(int64(count)), until)
	}
}
