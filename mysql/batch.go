package mysql

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// ReadBatches implements sqlstore.ConductDialect. The tasks that run are counted by further
// statements, because MariaDB cannot join a subquery for each batch that was chosen.
func (d database) ReadBatches(ctx context.Context, db sqlstore.DB, filter batch.Filter) (batches []batch.Record, err error) {
	var now int64
	err = db.Each(ctx, sqlstore.Collect(ctx, &batches, func(row sqlstore.Scanner) (batch.Record, error) {
		return sqlstore.ScanBatch(sqlstore.LongerRow(row, &now))
	}), d.Store.chosenBatches(filter))
	if err == nil {
		err = d.Store.countRunning(ctx, db, batches, sqlstore.Time(now))
	}
	return batches, err
}

// chosenBatches is the statement for a filter.
func (s *Store) chosenBatches(filter batch.Filter) string {
	index, below := "primary", filter.Below
	if below == 0 {
		below = math.MaxInt64
	}
	var conditions strings.Builder
	if len(filter.IDs) > 0 {
		conditions.WriteString(" and id in (" + idList(filter.IDs) + ")")
	} else {
		conditions.WriteString(" and opened = 1")
	}
	for _, of := range []struct {
		column string
		names  []string
	}{
		{"tenant", filter.Tenants},
		{"name", filter.Names},
		{"type", filter.Types},
		{"queue", filter.Queues},
		{declaredOf("creator"), filter.Creators},
		{declaredOf("env"), filter.Envs},
		{"state", sqlstore.BatchStates(filter)},
	} {
		if len(of.names) == 0 {
			continue
		}
		conditions.WriteString(" and " + of.column + " in (" + nameList(of.names) + ")")
		if of.column == "tenant" || of.column == "name" {
			index = of.column
		}
	}
	if filter.Open {
		conditions.WriteString(" and open = 1")
		index = "open"
	}
	if len(filter.IDs) > 0 {
		index = "primary"
	}
	return fill(s.sql.Batches, "index", index, "id", decimal(below), "named", conditions.String(), "limit", decimal(sqlstore.BatchPage(filter)))
}

// declaredOf is a text that the body of a batch may have, byte for byte.
func declaredOf(field string) string {
	return "cast(coalesce(json_unquote(json_extract(convert(body using utf8mb4), '$." + field + "')), '') as binary)"
}

// releasedRange is where jobs of a batch are that may run.
type releasedRange struct {
	idRange
	batch int64
	kind  batch.PassKind
}

// countRunning counts those tasks of batches as running that are, or that they tell of.
func (s *Store) countRunning(ctx context.Context, db sqlstore.DB, batches []batch.Record, now time.Time) error {
	var ids []int64
	seen := map[int64]*batch.Seen{}
	for i := range batches {
		switch b := &batches[i]; {
		case b.Seen.Told(now):
			sqlstore.SawRunning(&b.Batch, b.Seen)
		case b.Out > 0:
			ids = append(ids, b.ID)
			seen[b.ID] = &batch.Seen{}
		}
	}
	var ranges []releasedRange
	for list := range idChunks(ids) {
		err := db.Each(ctx, func(row sqlstore.Scanner) error {
			var r releasedRange
			err := row.Scan(&r.batch, &r.kind, &r.first, &r.last)
			ranges = append(ranges, r)
			return err
		}, fill(s.sql.OutRanges, "ids", list))
		if err != nil {
			return err
		}
	}
	for chunk := range slices.Chunk(ranges, chunkSpans) {
		if err := s.countIn(ctx, db, chunk, seen); err != nil {
			return err
		}
	}
	for i := range batches {
		if counted := seen[batches[i].ID]; counted != nil {
			sqlstore.SawRunning(&batches[i].Batch, *counted)
		}
	}
	return nil
}

func (s *Store) countIn(ctx context.Context, db sqlstore.DB, ranges []releasedRange, seen map[int64]*batch.Seen) error {
	all := make([]idRange, len(ranges))
	for i, r := range ranges {
		all[i] = r.idRange
	}
	var running []int64
	err := db.Each(ctx, func(row sqlstore.Scanner) error {
		var id int64
		err := row.Scan(&id)
		running = append(running, id)
		return err
	}, fill(s.sql.RunningAmong, "among", within(all)))
	if err != nil {
		return err
	}
	slices.Sort(running)
	for _, r := range ranges {
		from, _ := slices.BinarySearch(running, r.first)
		to, _ := slices.BinarySearch(running, r.last+1)
		*seen[r.batch].Of(r.kind) += to - from
	}
	return nil
}

// within is a condition that holds for the ids of some ranges, for statements that
// lock nothing.
func within(ranges []idRange) string {
	conditions := make([]string, len(ranges))
	for i, r := range ranges {
		conditions[i] = "id between " + decimal(r.first) + " and " + decimal(r.last)
	}
	return "(" + strings.Join(conditions, " or ") + ")"
}

// SetAside implements sqlstore.BatchDialect. Ids come from the store's own connections.
func (d database) SetAside(ctx context.Context, _ sqlstore.DB, n int) (int64, error) {
	return d.Store.ids.Run(ctx, n)
}

// TaskCache implements sqlstore.ConductDialect.
func (d database) TaskCache() *sqlstore.TaskCache { return &d.Store.tasks }

// Release implements sqlstore.ConductDialect.
func (database) Release(ctx context.Context, tx sqlstore.JobTx, jobs []*fairlead.Job) error {
	j := tx.(*jobTx)
	if err := j.Flush(ctx); err != nil {
		return err
	}
	ids := make([]int64, len(jobs))
	for i, job := range jobs {
		ids[i] = job.ID
	}
	return j.t.enqueue(ctx, jobs, ids)
}

// Recall implements sqlstore.ConductDialect.
func (database) Recall(ctx context.Context, tx sqlstore.JobTx, first, last int64) ([]int64, error) {
	j := tx.(*jobTx)
	if err := j.Flush(ctx); err != nil {
		return nil, err
	}
	return j.t.recall(ctx, first, last)
}
