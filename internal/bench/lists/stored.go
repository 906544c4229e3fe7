package lists

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead"
	bulks "github.com/fairlead-io/fairlead/bulk"
)

// Stored names objects in a filled store, one of each type, for other measurements.
type Stored struct {
	Began, Ended time.Time // start and end of the month of jobs

	Jobs              map[fairlead.State]int64 // an ID for each state
	Tenant, FewTenant string                   // with many jobs, and with few
	Kind, FewKind     string
	Queue, Key        string
	Schedule          int64 // with most of the runs
	Calendar          string
	Batch, OpenBatch  int64 // one with many tasks, and one that has not ended
	Sweep             int64 // with lines, failed items and events
	Bulk              int64
	Node              int64 // a node that left
}

// Fill stores the data of the measurement, and describes it.
func (l Lists) Fill(ctx context.Context) (Stored, error) {
	s, err := l.fill(ctx)
	if err != nil {
		return Stored{}, err
	}
	asked := bulks.Bulk{Action: bulks.Delete, Filter: fairlead.Filter{Kinds: []string{rareKind}, States: []fairlead.State{fairlead.Failed}}}
	done, err := bulks.NewClient(l.Store).Start(ctx, asked) // no node will carry it out
	if err != nil {
		return Stored{}, err
	}
	node, err := l.Store.Join(ctx, fairlead.Node{Name: "past", Kinds: []string{commonKind}, Slots: 1}, time.Hour)
	if err != nil {
		return Stored{}, err
	}
	if err := l.Store.Leave(ctx, node); err != nil {
		return Stored{}, err
	}
	return Stored{
		Began: s.began, Ended: s.began.Add(days * 24 * time.Hour), Jobs: s.first,
		Tenant: commonTenant, FewTenant: rareTenant, Kind: commonKind, FewKind: rareKind, Queue: "queue-1", Key: hotKey,
		Schedule: s.schedule.ID, Calendar: calendar, Batch: s.batch.ID, OpenBatch: s.openBatch, Sweep: s.sweep.ID, Bulk: done.ID, Node: int64(node),
	}, nil
}
