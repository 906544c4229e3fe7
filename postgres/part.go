package postgres

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// AddParts stores parts of a batch, all or none.
func (s *Store) AddParts(ctx context.Context, batch int64, parts []batch.Part) error {
	ctx = sqlstore.MayWait(ctx)
	if len(parts) == 0 {
		return nil
	}
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	if err := s.addParts(ctx, batch, parts); err != nil {
		return fmt.Errorf("add parts: %w", err)
	}
	return nil
}

func (s *Store) addParts(ctx context.Context, batch int64, parts []batch.Part) error {
	stored := 0
	err := s.retry(ctx, func(ctx context.Context) error {
		pin := s.pin() // of the server that the ids come from
		columns, err := s.numberParts(ctx, parts)
		if err != nil {
			return err
		}
		return s.sendOnce(ctx, s.pool, call{sql: pin}, []call{{
			sql:  s.sql.AddParts,
			args: columns.added(batch),
			each: func(row sqlstore.Scanner) error { return row.Scan(&stored) },
		}})
	})
	var refusal *pgconn.PgError
	const uniqueViolation = "23505"
	switch {
	case errors.As(err, &refusal) && refusal.Code == uniqueViolation:
		return fmt.Errorf("batch %d has a part of one of these numbers: %w", batch, fairlead.ErrConflict)
	case err == nil && stored == 0:
		return sqlstore.NoSuchBatch(batch)
	}
	return err
}

// numberParts sets the ids of tasks aside.
func (s *Store) numberParts(ctx context.Context, parts []batch.Part) (*partColumns, error) {
	columns := newPartColumns(len(parts))
	for i := range parts {
		var err error
		if parts[i].First, err = s.ids.Run(ctx, parts[i].Size); err != nil {
			return nil, fmt.Errorf("set ids aside: %w", err)
		}
		if err := columns.add(&parts[i]); err != nil {
			return nil, err
		}
	}
	return columns, nil
}

// partColumns are parts as the statements take them, in step.
type partColumns struct {
	numbers, passes, sizes, held, out []int32
	firsts                            []int64
	kinds, marks, tasks               []string
}

func newPartColumns(parts int) *partColumns {
	return &partColumns{
		numbers: make([]int32, 0, parts), held: make([]int32, 0, parts), out: make([]int32, 0, parts), marks: make([]string, 0, parts),
	}
}

// save adds what changes of a part.
func (c *partColumns) save(p *batch.Part) error {
	marks, err := sqlstore.EncodeMarks(&p.Marks)
	if err != nil {
		return fmt.Errorf("encode marks of part %d: %w", p.Number, err)
	}
	c.numbers, c.held, c.out = append(c.numbers, int32(p.Number)), append(c.held, int32(p.Held)), append(c.out, int32(p.Out))
	c.marks = append(c.marks, string(marks))
	return nil
}

// add adds all of a part.
func (c *partColumns) add(p *batch.Part) error {
	tasks, err := sqlstore.EncodeTasks(p)
	if err != nil {
		return err
	}
	c.passes, c.sizes = append(c.passes, int32(p.Pass)), append(c.sizes, int32(p.Size))
	c.firsts, c.kinds, c.tasks = append(c.firsts, p.First), append(c.kinds, string(p.Kind)), append(c.tasks, string(tasks))
	return c.save(p)
}

func (c *partColumns) added(batch int64) []any {
	return []any{batch, c.numbers, c.passes, c.kinds, c.firsts, c.sizes, c.held, c.out, c.marks, c.tasks}
}

func (c *partColumns) saved(batch int64) []any {
	return []any{batch, c.numbers, c.held, c.out, c.marks}
}

// DropParts removes the parts of a pass.
func (s *Store) DropParts(ctx context.Context, batch int64, pass int) error {
	ctx = sqlstore.MayWait(ctx)
	if err := s.run(ctx, call{sql: s.sql.DropParts, args: []any{batch, pass}}); err != nil {
		return fmt.Errorf("drop parts: %w", err)
	}
	return nil
}

// Parts returns parts of a batch, in the order of their numbers.
func (s *Store) Parts(ctx context.Context, b int64, filter batch.PartFilter) ([]batch.Part, error) {
	var parts []batch.Part
	if err := s.run(ctx, s.partsCall(&parts, b, filter, nil)); err != nil {
		return nil, fmt.Errorf("parts: %w", err)
	}
	return parts, nil
}

// passKinds are all that a part can be of.
var passKinds = []string{string(batch.PassForward), string(batch.PassRetry), string(batch.PassUndo), string(batch.PassThen)}

// partsCall reads parts. The tasks of some are known already, by the first ID.
func (s *Store) partsCall(parts *[]batch.Part, batch int64, filter batch.PartFilter, known map[int64][]batch.PartTask) call {
	text := s.sql.PartsOfAll
	switch {
	case len(filter.Numbers) > 0:
		text = s.sql.PartsByNumber
	case filter.Held:
		text = s.sql.PartsHeld
	case filter.Out:
		text = s.sql.PartsOut
	}
	after, kinds := filter.After, passKinds
	if after == 0 {
		after = math.MinInt32
	}
	if filter.Kind != "" {
		kinds = []string{string(filter.Kind)}
	}
	var limit *int
	if filter.Limit > 0 {
		limit = &filter.Limit
	}
	firsts := make([]int64, 0, len(known)) // none, and not null
	for first := range known {
		firsts = append(firsts, first)
	}
	return call{
		sql:     text,
		args:    []any{batch, after, limit, kinds, distinct(filter.Numbers), filter.Held, filter.Out, filter.Tasks, firsts},
		restart: func() { *parts = nil },
		each: func(row sqlstore.Scanner) error {
			if !filter.Tasks {
				row = extraColumns{row, []any{nil}}
			}
			part, err := sqlstore.ScanPart(row, filter.Tasks)
			if filter.Tasks && part.Tasks == nil {
				part.Tasks = known[part.First]
			}
			*parts = append(*parts, part)
			return err
		},
	}
}
