package mysql

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// batchRow is what is stored of a batch as JSON.
type batchRow struct {
	body, status []byte
}

func newBatchRow(b *batch.Record) (row batchRow, err error) {
	if row.body, err = sqlstore.EncodeBatch(&b.Batch); err != nil {
		return row, err
	}
	row.status, err = sqlstore.EncodeBatchStatus(b)
	return row, err
}

// Batches returns the matching batches, newest first. Unlike most queries, it is not shared
// between stores, because it specifies which index the filter uses.
func (s *Store) Batches(ctx context.Context, filter batch.Filter) ([]batch.Record, error) {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	var batches []batch.Record
	var now int64
	collect := sqlstore.Collect(ctx, &batches, func(row sqlstore.Scanner) (batch.Record, error) {
		return sqlstore.ScanBatch(atATime{row, &now})
	})
	err := each(ctx, s.db, func(row *sql.Rows) error { return collect(row) }, s.chosenBatches(filter))
	if err == nil {
		err = s.countRunning(ctx, batches, sqlstore.Time(now))
	}
	if err != nil {
		return nil, fmt.Errorf("batches: %w", err)
	}
	return batches, nil
}

// atATime is a row that ends with when it was read.
type atATime struct {
	sqlstore.Scanner
	now *int64
}

// Scan reads the columns that are asked for, and the time.
func (r atATime) Scan(into ...any) error { return r.Scanner.Scan(append(into, r.now)...) }

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
func (s *Store) countRunning(ctx context.Context, batches []batch.Record, now time.Time) error {
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
		err := each(ctx, s.db, func(row *sql.Rows) error {
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
		if err := s.countIn(ctx, chunk, seen); err != nil {
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

func (s *Store) countIn(ctx context.Context, ranges []releasedRange, seen map[int64]*batch.Seen) error {
	all := make([]idRange, len(ranges))
	for i, r := range ranges {
		all[i] = r.idRange
	}
	var running []int64
	if err := each(ctx, s.db, collect(&running), fill(s.sql.RunningAmong, "among", within(all))); err != nil {
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
