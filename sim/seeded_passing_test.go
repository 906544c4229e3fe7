package sim

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/alert"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/bulk"
	"github.com/fairlead-io/fairlead/driver"
	holds "github.com/fairlead-io/fairlead/hold"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/sweep"
)

// The methods of this file pass through the gate and observe nothing.

// nothing is the result of a method without a result, or the arguments of one without any.
type nothing = struct{}

// two are the arguments of a method that takes two.
type two[A, B any] struct {
	One A
	Two B
}

// three are the arguments of a method that takes three.
type three[A, B, C any] struct {
	One   A
	Two   B
	Three C
}

func (s *passing) Held(ctx context.Context, node fairlead.NodeID) ([]driver.Held, error) {
	return pass(ctx, s, "held", node, func(ctx context.Context, a fairlead.NodeID) ([]driver.Held, error) { return s.Store.Held(ctx, a) })
}

func (s *passing) Promote(ctx context.Context, limit int) (driver.Promotion, error) {
	return pass(ctx, s, "promote", limit, func(ctx context.Context, a int) (driver.Promotion, error) { return s.Store.Promote(ctx, a) })
}

func (s *passing) Reap(ctx context.Context, reap driver.Reap) (driver.Reaped, error) {
	return pass(ctx, s, "reap", reap, func(ctx context.Context, a driver.Reap) (driver.Reaped, error) { return s.Store.Reap(ctx, a) })
}

func (s *passing) Lived(ctx context.Context, node fairlead.NodeID) error {
	return passed(ctx, s, "lived", node, func(ctx context.Context, a fairlead.NodeID) error { return s.Store.Lived(ctx, a) })
}

func (s *passing) Overdue(ctx context.Context, limit int) ([]driver.Held, error) {
	return pass(ctx, s, "overdue", limit, func(ctx context.Context, a int) ([]driver.Held, error) { return s.Store.Overdue(ctx, a) })
}

func (s *passing) Expire(ctx context.Context, overdue []driver.Held) (int, error) {
	return pass(ctx, s, "expire", overdue, func(ctx context.Context, a []driver.Held) (int, error) { return s.Store.Expire(ctx, a) })
}

func (s *passing) KeepKinds(ctx context.Context, kinds map[string]fairlead.Retention) error {
	return passed(ctx, s, "keepKinds", kinds, func(ctx context.Context, a map[string]fairlead.Retention) error { return s.Store.KeepKinds(ctx, a) })
}

func (s *passing) Now(ctx context.Context) (time.Time, error) {
	return pass(ctx, s, "now", nothing{}, func(ctx context.Context, _ nothing) (time.Time, error) { return s.Store.Now(ctx) })
}

func (s *passing) Nodes(ctx context.Context) ([]fairlead.Node, error) {
	return pass(ctx, s, "nodes", nothing{}, func(ctx context.Context, _ nothing) ([]fairlead.Node, error) { return s.Store.Nodes(ctx) })
}

func (s *passing) Get(ctx context.Context, id int64) (*fairlead.Job, error) {
	return pass(ctx, s, "get", id, func(ctx context.Context, a int64) (*fairlead.Job, error) { return s.Store.Get(ctx, a) })
}

func (s *passing) Find(ctx context.Context, filter fairlead.Filter) ([]*fairlead.Job, error) {
	return pass(ctx, s, "find", filter, func(ctx context.Context, a fairlead.Filter) ([]*fairlead.Job, error) { return s.Store.Find(ctx, a) })
}

func (s *passing) FindPage(ctx context.Context, filter fairlead.Filter) (fairlead.Page, error) {
	return pass(ctx, s, "findPage", filter, func(ctx context.Context, a fairlead.Filter) (fairlead.Page, error) { return s.Store.FindPage(ctx, a) })
}

func (s *passing) Pauses(ctx context.Context) ([]fairlead.Pause, error) {
	return pass(ctx, s, "pauses", nothing{}, func(ctx context.Context, _ nothing) ([]fairlead.Pause, error) { return s.Store.Pauses(ctx) })
}

func (s *passing) Operate(ctx context.Context, id int64, operation fairlead.Operation) error {
	return passed(ctx, s, string(operation.Op), two[int64, fairlead.Operation]{id, operation}, func(ctx context.Context, a two[int64, fairlead.Operation]) error {
		return s.Store.Operate(ctx, a.One, a.Two)
	})
}

func (s *passing) Drain(ctx context.Context, node fairlead.NodeID, drain bool) error {
	return passed(ctx, s, "drain", two[fairlead.NodeID, bool]{node, drain}, func(ctx context.Context, a two[fairlead.NodeID, bool]) error { return s.Store.Drain(ctx, a.One, a.Two) })
}

func (s *passing) Extend(ctx context.Context, extension fairlead.Extension) (time.Time, error) {
	return pass(ctx, s, "extend", extension, func(ctx context.Context, a fairlead.Extension) (time.Time, error) { return s.Store.Extend(ctx, a) })
}

func (s *passing) PutSchedule(ctx context.Context, put schedule.Schedule, restart bool) (schedule.Schedule, error) {
	return pass(ctx, s, "putSchedule", two[schedule.Schedule, bool]{put, restart}, func(ctx context.Context, a two[schedule.Schedule, bool]) (schedule.Schedule, error) {
		return s.Store.PutSchedule(ctx, a.One, a.Two)
	})
}

func (s *passing) DeleteSchedule(ctx context.Context, id int64) error {
	return passed(ctx, s, "deleteSchedule", id, func(ctx context.Context, a int64) error { return s.Store.DeleteSchedule(ctx, a) })
}

func (s *passing) Schedules(ctx context.Context, filter schedule.Filter) ([]schedule.Schedule, error) {
	return pass(ctx, s, "schedules", filter, func(ctx context.Context, a schedule.Filter) ([]schedule.Schedule, error) {
		return s.Store.Schedules(ctx, a)
	})
}

func (s *passing) CreateBatch(ctx context.Context, made batch.Batch) (batch.Batch, error) {
	return pass(ctx, s, "createBatch", made, func(ctx context.Context, a batch.Batch) (batch.Batch, error) { return s.Store.CreateBatch(ctx, a) })
}

func (s *passing) AddChunks(ctx context.Context, id int64, chunks []batch.Chunk) error {
	return passed(ctx, s, "addChunks", two[int64, []batch.Chunk]{id, chunks}, func(ctx context.Context, a two[int64, []batch.Chunk]) error {
		return s.Store.AddChunks(ctx, a.One, a.Two)
	})
}

func (s *passing) DropChunks(ctx context.Context, id int64, pass int) error {
	return passed(ctx, s, "dropChunks", two[int64, int]{id, pass}, func(ctx context.Context, a two[int64, int]) error { return s.Store.DropChunks(ctx, a.One, a.Two) })
}

func (s *passing) Batches(ctx context.Context, filter batch.Filter) ([]batch.Record, error) {
	return pass(ctx, s, "batches", filter, func(ctx context.Context, a batch.Filter) ([]batch.Record, error) { return s.Store.Batches(ctx, a) })
}

func (s *passing) Chunks(ctx context.Context, id int64, filter batch.ChunkFilter) ([]batch.Chunk, error) {
	return pass(ctx, s, "chunks", two[int64, batch.ChunkFilter]{id, filter}, func(ctx context.Context, a two[int64, batch.ChunkFilter]) ([]batch.Chunk, error) {
		return s.Store.Chunks(ctx, a.One, a.Two)
	})
}

func (s *passing) PutSweep(ctx context.Context, put sweep.Sweep) (sweep.Sweep, error) {
	return pass(ctx, s, "putSweep", put, func(ctx context.Context, a sweep.Sweep) (sweep.Sweep, error) { return s.Store.PutSweep(ctx, a) })
}

func (s *passing) Sweeps(ctx context.Context, filter sweep.Filter) ([]sweep.Record, error) {
	return pass(ctx, s, "sweeps", filter, func(ctx context.Context, a sweep.Filter) ([]sweep.Record, error) { return s.Store.Sweeps(ctx, a) })
}

func (s *passing) Shards(ctx context.Context, id int64) ([]sweep.Shard, error) {
	return pass(ctx, s, "shards", id, func(ctx context.Context, a int64) ([]sweep.Shard, error) { return s.Store.Shards(ctx, a) })
}

func (s *passing) Checkpoint(ctx context.Context, checkpoint sweep.Checkpoint) (sweep.Orders, error) {
	return pass(ctx, s, "checkpoint", checkpoint, func(ctx context.Context, a sweep.Checkpoint) (sweep.Orders, error) { return s.Store.Checkpoint(ctx, a) })
}

func (s *passing) SweepItems(ctx context.Context, id int64, from int64) ([]string, error) {
	return pass(ctx, s, "sweepItems", two[int64, int64]{id, from}, func(ctx context.Context, a two[int64, int64]) ([]string, error) {
		return s.Store.SweepItems(ctx, a.One, a.Two)
	})
}

func (s *passing) FailedItems(ctx context.Context, filter sweep.ItemFilter) ([]sweep.FailedItem, error) {
	return pass(ctx, s, "failedItems", filter, func(ctx context.Context, a sweep.ItemFilter) ([]sweep.FailedItem, error) {
		return s.Store.FailedItems(ctx, a)
	})
}

func (s *passing) AddSweepLogs(ctx context.Context, lines []sweep.Log) error {
	return passed(ctx, s, "addSweepLogs", lines, func(ctx context.Context, a []sweep.Log) error { return s.Store.AddSweepLogs(ctx, a) })
}

func (s *passing) Alerts(ctx context.Context) ([]alert.Rule, error) {
	return pass(ctx, s, "alerts", nothing{}, func(ctx context.Context, _ nothing) ([]alert.Rule, error) { return s.Store.Alerts(ctx) })
}

func (s *passing) AlertCounts(ctx context.Context, from time.Time, to time.Time) ([]alert.Count, error) {
	return pass(ctx, s, "alertCounts", two[time.Time, time.Time]{from, to}, func(ctx context.Context, a two[time.Time, time.Time]) ([]alert.Count, error) {
		return s.Store.AlertCounts(ctx, a.One, a.Two)
	})
}

func (s *passing) EndLook(ctx context.Context, found alert.Found) (bool, error) {
	return pass(ctx, s, "endLook", found, func(ctx context.Context, a alert.Found) (bool, error) { return s.Store.EndLook(ctx, a) })
}

func (s *passing) HoldLook(ctx context.Context) (holds.LookState, error) {
	return pass(ctx, s, "holdLook", nothing{}, func(ctx context.Context, _ nothing) (holds.LookState, error) { return s.Store.HoldLook(ctx) })
}

func (s *passing) HeldBack(ctx context.Context, place holds.Place) (holds.Sight, error) {
	return pass(ctx, s, "heldBack", place, func(ctx context.Context, a holds.Place) (holds.Sight, error) { return s.Store.HeldBack(ctx, a) })
}

func (s *passing) KeepSample(ctx context.Context) error {
	return passed(ctx, s, "keepSample", nothing{}, func(ctx context.Context, _ nothing) error { return s.Store.KeepSample(ctx) })
}

func (s *passing) PruneHolds(ctx context.Context, age time.Duration, a int, b int) (int, error) {
	return pass(ctx, s, "pruneHolds", three[time.Duration, int, int]{age, a, b}, func(ctx context.Context, a three[time.Duration, int, int]) (int, error) {
		return s.Store.PruneHolds(ctx, a.One, a.Two, a.Three)
	})
}

func (s *passing) AddBulk(ctx context.Context, once *fairlead.Once, put bulk.Bulk, job *fairlead.Job) (bulk.Bulk, error) {
	return pass(ctx, s, "addBulk", three[*fairlead.Once, bulk.Bulk, *fairlead.Job]{once, put, job}, func(ctx context.Context, a three[*fairlead.Once, bulk.Bulk, *fairlead.Job]) (bulk.Bulk, error) {
		return s.Store.AddBulk(ctx, a.One, a.Two, a.Three)
	})
}

func (s *passing) StepBulk(ctx context.Context, step bulk.Step) (bulk.Bulk, error) {
	return pass(ctx, s, "stepBulk", step, func(ctx context.Context, a bulk.Step) (bulk.Bulk, error) { return s.Store.StepBulk(ctx, a) })
}

func (s *passing) StopBulk(ctx context.Context, id int64) error {
	return passed(ctx, s, "stopBulk", id, func(ctx context.Context, a int64) error { return s.Store.StopBulk(ctx, a) })
}

func (s *passing) Bulks(ctx context.Context, filter bulk.Filter) (bulk.Page, error) {
	return pass(ctx, s, "bulks", filter, func(ctx context.Context, a bulk.Filter) (bulk.Page, error) { return s.Store.Bulks(ctx, a) })
}
