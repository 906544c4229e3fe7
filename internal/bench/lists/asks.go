package lists

import (
	"context"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/batch"
	bulks "github.com/fairlead-io/fairlead/bulk" // bulk is how rows are written here
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/sweep"
)

const (
	page    = 100  // requested rows
	counted = 1000 // approximate maximum number of counted jobs
)

// ask is a list or a count that the API offers.
type ask struct {
	name   string
	filter any // a struct; nil = no filter
	page   int // maximum number of rows
	do     func(ctx context.Context) (rows int, err error)
}

// listing returns an ask for a page of a list.
func listing[F, T any](name string, filter F, list func(context.Context, F) ([]T, error)) ask {
	return ask{name: name, filter: filter, page: page, do: func(ctx context.Context) (int, error) {
		found, err := list(ctx, filter)
		return len(found), err
	}}
}

// all returns an ask for a list without pages, whose page size is its actual size.
func all[T any](name string, list func(context.Context) ([]T, error)) ask {
	return ask{name: name, do: func(ctx context.Context) (int, error) {
		found, err := list(ctx)
		return len(found), err
	}}
}

// asks returns everything that is measured.
func (s *stock) asks() []ask {
	var list []ask
	for _, group := range [][]ask{s.jobAsks(), s.countAsks(), s.otherAsks(), s.scheduleAsks(), s.batchAsks(), s.sweepAsks(), s.auditAsks(), s.bulkAsks()} {
		list = append(list, group...)
	}
	return list
}

// jobFilters returns filters of jobs, individually and some in combination.
func (s *stock) jobFilters() map[string]fairlead.Filter {
	middle, end := s.began.Add(days*12*time.Hour), s.began.Add(days*24*time.Hour)
	ids := make([]int64, page)
	for i := range ids {
		ids[i] = int64(i*(s.jobs/page) + 1)
	}
	filters := map[string]fairlead.Filter{
		"":                                   {},
		"id":                                 {IDs: ids},
		"kind":                               {Kinds: []string{commonKind}},
		"kind of few jobs":                   {Kinds: []string{rareKind}},
		"queue":                              {Queues: []string{"queue-1"}},
		"tenant of many jobs":                {Tenants: []string{commonTenant}},
		"tenant":                             {Tenants: []string{"tenant-7"}},
		"tenant of few jobs":                 {Tenants: []string{rareTenant}},
		"key of many jobs":                   {Key: hotKey},
		"key":                                {Key: onceKey},
		"created from":                       {From: end.Add(-time.Hour)},
		"created from long ago":              {From: middle},
		"created to":                         {To: middle},
		"created from and to":                {From: middle, To: middle.Add(time.Hour)},
		"created from and to, before all":    {From: s.began.Add(-2 * time.Hour), To: s.began.Add(-time.Hour)},
		"created from and to, failed":        {From: middle, To: middle.Add(24 * time.Hour), States: []fairlead.State{fairlead.Failed}},
		"created from, tenant of few jobs":   {From: middle, Tenants: []string{rareTenant}},
		"created to, ready":                  {To: middle, States: []fairlead.State{fairlead.Ready}},
		"key of many jobs, created to":       {Key: hotKey, To: middle},
		"tenant, failed":                     {Tenants: []string{"tenant-7"}, States: []fairlead.State{fairlead.Failed}},
		"tenant, kind, queue":                {Tenants: []string{"tenant-5"}, Kinds: []string{commonKind}, Queues: []string{"queue-1"}},
		"kind of few jobs, ready or running": {Kinds: []string{rareKind}, States: []fairlead.State{fairlead.Ready, fairlead.Running}},
		"second page":                        {Below: int64(s.jobs / 2)},
		"second page of failed ones":         {Below: int64(s.jobs / 2), States: []fairlead.State{fairlead.Failed}},
		"failed since":                       {FinishedFrom: end.Add(-time.Hour), States: []fairlead.State{fairlead.Failed}},
		"failed since, to be removed":        {FinishedFrom: end.Add(-time.Hour), States: []fairlead.State{fairlead.Failed}, OnFail: fairlead.RemoveFailed},
		"finished since":                     {FinishedFrom: end.Add(-time.Hour)},
		"failed since, tenant":               {FinishedFrom: middle, States: []fairlead.State{fairlead.Failed}, Tenants: []string{"tenant-7"}},
	}
	for _, share := range states {
		filters["state "+string(share.state)] = fairlead.Filter{States: []fairlead.State{share.state}}
	}
	return filters
}

func (s *stock) jobAsks() []ask {
	var list []ask
	for name, filter := range s.jobFilters() {
		filter.Limit = page
		list = append(list, ask{name: "jobs: " + name, filter: filter, page: page, do: func(ctx context.Context) (int, error) {
			found, err := s.client.Find(ctx, filter)
			return len(found.Jobs), err
		}})
	}
	return list
}

func (s *stock) otherAsks() []ask {
	bounded := fairlead.Filter{Tenants: []string{commonTenant}, States: []fairlead.State{fairlead.Scheduled, fairlead.Ready, fairlead.Parked}}
	list := []ask{
		{name: "pending jobs of a tenant", filter: bounded, do: func(ctx context.Context) (int, error) {
			count, err := s.store.TallyUpTo(ctx, bounded, 0)
			return int(count.Total()), err
		}},
		{name: "usage", do: func(ctx context.Context) (int, error) {
			report, err := s.client.Usage(ctx)
			return len(report.Tenants) + len(report.Queues), err
		}},
		{name: "job", do: func(ctx context.Context) (int, error) {
			_, err := s.client.Get(ctx, s.ready)
			return 1, err
		}},
		all("attempts", func(ctx context.Context) ([]fairlead.Attempt, error) {
			return s.client.Attempts(ctx, s.first[fairlead.Failed])
		}),
		all("nodes", s.client.Nodes), all("pauses", s.client.Pauses), all("limits", s.store.Limits), all("tokens", s.store.Tokens), all("calendars", s.schedules.Calendars),
		listing("tenants", fairlead.TenantFilter{Limit: page}, s.client.Tenants),
		listing("tenants: second page", fairlead.TenantFilter{After: "tenant-5", Limit: page}, s.client.Tenants),
		listing("tenants: name", fairlead.TenantFilter{Names: []string{"tenant-5"}, Limit: page}, s.client.Tenants),
	}
	for name, id := range map[string]int64{"ready": s.ready, "scheduled": s.scheduled, "parked": s.parked} {
		list = append(list, ask{name: "explain: " + name, page: fairlead.MaxAhead, do: func(ctx context.Context) (int, error) {
			why, err := s.client.Explain(ctx, id)
			return why.Ahead, err
		}})
	}
	return list
}

func (s *stock) auditAsks() []ask {
	middle := s.began.Add(days * 12 * time.Hour)
	var list []ask
	for name, filter := range map[string]access.Filter{
		"":                           {},
		"second page":                {Below: int64(s.side / 2)},
		"actor":                      {Actor: "ann"},
		"actor of few":               {Actor: "rare"},
		"action":                     {Action: "Action1"},
		"action of few":              {Action: "Rare"},
		"subject":                    {Subject: "job 1"},
		"from":                       {From: middle},
		"to":                         {To: middle},
		"from and to":                {From: middle, To: middle.Add(time.Hour)},
		"actor, action of few":       {Actor: "ann", Action: "Rare"},
		"actor, to":                  {Actor: "ann", To: middle},
		"actor, action, from and to": {Actor: "ann", Action: "Action1", From: middle.Add(-24 * time.Hour), To: middle},
	} {
		filter.Limit = page
		list = append(list, listing("audit: "+name, filter, s.store.AuditLog))
	}
	return list
}

// bulkAsks returns asks for bulks. The stock has none, because people create them one by
// one. Their misses are read by the primary key in any case.
func (s *stock) bulkAsks() []ask {
	return []ask{
		listing("bulks: ", bulks.Filter{Limit: page}, func(ctx context.Context, filter bulks.Filter) ([]bulks.Bulk, error) {
			found, err := s.store.Bulks(ctx, filter)
			return found.Bulks, err
		}),
		listing("misses of a bulk: second page", bulks.MissFilter{Below: int64(s.jobs / 2), Limit: page}, func(ctx context.Context, filter bulks.MissFilter) ([]bulks.Miss, error) {
			return s.store.BulkMisses(ctx, 1, filter)
		}),
	}
}

func (s *stock) scheduleAsks() []ask {
	yes, no := true, false
	var list []ask
	for name, filter := range map[string]schedule.Filter{
		"": {}, "second page": {After: "schedule-000100"}, "tenant": {Tenants: []string{commonTenant}}, "name": {Names: []string{s.schedule.Name}},
		"id": {IDs: []int64{s.schedule.ID}}, "enabled": {Enabled: &yes}, "disabled": {Enabled: &no}, "soonest": {Soonest: true},
	} {
		filter.Limit = page
		list = append(list, listing("schedules: "+name, filter, s.schedules.List))
	}
	for name, filter := range map[string]schedule.FireFilter{
		"": {}, "schedule": {Schedule: s.schedule.ID}, "second page": {Schedule: s.schedule.ID, Below: int64(s.jobs - s.side/2)}, "job": {Jobs: []int64{int64(s.jobs) - 1}},
	} {
		filter.Limit = page
		list = append(list, listing("runs: "+name, filter, s.schedules.Fires))
	}
	return list
}

func (s *stock) batchAsks() []ask {
	var list []ask
	for name, filter := range map[string]batch.Filter{
		"creator": {Creators: []string{"ada"}}, "env": {Envs: []string{"live"}}, "state": {States: []batch.State{batch.Fail}},
		"": {}, "second page": {Below: s.batch.ID + 100}, "id": {IDs: []int64{s.batch.ID}}, "name": {Names: []string{"batch-5"}}, "type": {Types: []string{"common"}},
		"type of few": {Types: []string{"rare"}}, "queue": {Queues: []string{"queue-1"}}, "tenant": {Tenants: []string{commonTenant}}, "open": {Open: true},
		"tenant, type of few": {Tenants: []string{"tenant-99"}, Types: []string{"rare"}},
	} {
		filter.Limit = page
		list = append(list, listing("batches: "+name, filter, s.batches.List))
	}
	for name, filter := range map[string]batch.ChunkFilter{
		"": {}, "number": {Numbers: []int{200_002}}, "behind one": {After: 200_003}, "held": {Held: true}, "out": {Out: true},
		"kind": {Held: true, Kind: batch.PassForward}, "with tasks": {Tasks: true},
	} {
		filter.Limit = page
		list = append(list, listing("chunks: "+name, filter, func(ctx context.Context, filter batch.ChunkFilter) ([]batch.Chunk, error) {
			return s.store.Chunks(ctx, s.batch.ID, filter)
		}))
	}
	for name, filter := range map[string]batch.TaskFilter{
		"": {}, "id": {IDs: s.tasks[len(s.tasks)/2 : len(s.tasks)/2+1]}, "second page": {After: s.tasks[len(s.tasks)/2]},
		"state": {States: []batch.TaskState{batch.TaskPending}}, "state of none": {States: []batch.TaskState{batch.TaskFail}},
		"doubtful": {Doubtful: true},
	} {
		filter.Batch, filter.Limit = s.batch.ID, page
		list = append(list, listing("tasks of a batch: "+name, filter, s.batches.Tasks))
	}
	for name, filter := range map[string]batch.JobFilter{"": {}, "second page": {Below: s.tasks[len(s.tasks)/2]}} {
		filter.Batch, filter.Limit = s.batch.ID, page
		list = append(list, listing("jobs of a batch: "+name, filter, func(ctx context.Context, filter batch.JobFilter) ([]int64, error) {
			found, err := s.batches.Jobs(ctx, filter)
			return found.IDs, err
		}))
	}
	return list
}

func (s *stock) sweepAsks() []ask {
	index := int64(7)
	var list []ask
	for name, filter := range map[string]sweep.Filter{
		"": {}, "second page": {Below: s.sweep.ID / 2}, "id": {IDs: []int64{s.sweep.ID}}, "name": {Names: []string{s.sweep.Name}},
		"state": {States: []sweep.State{sweep.Created}}, "state of none": {States: []sweep.State{sweep.Running}}, "tenant": {Tenants: []string{commonTenant}},
		"tenant, state of none": {Tenants: []string{commonTenant}, States: []sweep.State{sweep.Running}},
	} {
		filter.Limit = page
		list = append(list, listing("sweeps: "+name, filter, s.sweeps.List))
	}
	for name, filter := range map[string]sweep.ItemFilter{
		"": {}, "second page": {From: true, After: int64(s.side / 2)}, "below one": {Below: 50}, "again": {Again: true},
	} {
		filter.Sweep, filter.Limit = s.sweep.ID, page
		list = append(list, listing("failed items: "+name, filter, s.sweeps.FailedItems))
	}
	for name, filter := range map[string]sweep.LogFilter{
		"": {}, "second page": {Below: int64(s.side / 2)}, "level": {Levels: []string{"info"}}, "level of few": {Levels: []string{"error"}}, "item": {Index: &index},
	} {
		filter.Sweep, filter.Limit = s.sweep.ID, page
		list = append(list, listing("lines: "+name, filter, s.sweeps.Logs))
	}
	for name, filter := range map[string]sweep.EventFilter{"": {}, "second page": {Below: int64(s.side / 2)}} {
		filter.Sweep, filter.Limit = s.sweep.ID, page
		list = append(list, listing("events: "+name, filter, s.sweeps.History))
	}
	list = append(list, all("shards", func(ctx context.Context) ([]sweep.Shard, error) { return s.sweeps.Shards(ctx, s.sweep.ID) }))
	return list
}

// countAsks returns counts of jobs.
func (s *stock) countAsks() []ask {
	var list []ask
	for name, filter := range s.jobFilters() {
		if filter.Below > 0 {
			continue
		}
		list = append(list, ask{name: fmt.Sprint("count of jobs: ", name), filter: filter, page: counted, do: func(ctx context.Context) (int, error) {
			count, err := s.client.TallyUpTo(ctx, filter, counted)
			return int(count.Total()), err
		}})
	}
	return list
}
