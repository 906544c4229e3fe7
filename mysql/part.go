package mysql

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// AddParts stores parts of a batch, all or none.
func (s *Store) AddParts(ctx context.Context, batch int64, parts []batch.Part) error {
	if len(parts) == 0 {
		return nil
	}
	ctx = sqlstore.MayWait(ctx)
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	fresh, err := s.numberParts(ctx, parts)
	if err != nil {
		return fmt.Errorf("add parts: %w", err)
	}
	return s.inTx(ctx, "add parts", func(ctx context.Context, t *txn) error {
		var id int64
		exists, err := t.one(ctx, []any{&id}, t.sql.ShareBatch, batch)
		if err != nil {
			return err
		}
		if !exists {
			return sqlstore.NoSuchBatch(batch)
		}
		return t.addParts(ctx, batch, fresh)
	})
}

// newParts are parts as they are going to be stored.
type newParts struct {
	parts []batch.Part
	tasks [][]byte
}

// numberParts sets the ids of tasks aside.
func (s *Store) numberParts(ctx context.Context, parts []batch.Part) (*newParts, error) {
	fresh := &newParts{parts: parts, tasks: make([][]byte, len(parts))}
	for i := range parts {
		p := &parts[i]
		var err error
		if p.First, err = s.ids.Run(ctx, p.Size); err != nil {
			return nil, fmt.Errorf("set ids aside: %w", err)
		}
		if fresh.tasks[i], err = sqlstore.EncodeTasks(p); err != nil {
			return nil, err
		}
	}
	return fresh, nil
}

func (t *txn) addParts(ctx context.Context, batch int64, fresh *newParts) error {
	var stored tuples
	for i := range fresh.parts {
		if err := addPart(&stored, batch, &fresh.parts[i]); err != nil {
			return err
		}
	}
	err := t.insert(ctx, t.sql.AddParts, &stored)
	if isDuplicate(err) {
		return fmt.Errorf("batch %d has a part of one of these numbers: %w", batch, fairlead.ErrConflict)
	}
	for i := 0; err == nil && i < len(fresh.parts); i++ {
		// One by one, and not in hexadecimal: they may be megabytes.
		_, err = t.exec(ctx, t.sql.DescribePart, batch, fresh.parts[i].Number, fresh.tasks[i])
	}
	return err
}

// addPart adds a part to the tuples of statements that store parts.
func addPart(into *tuples, batch int64, p *batch.Part) error {
	marks, err := sqlstore.EncodeMarks(&p.Marks)
	if err != nil {
		return fmt.Errorf("encode marks of part %d: %w", p.Number, err)
	}
	into.add().ints(batch, int64(p.Number), int64(p.Pass)).str(string(p.Kind)).
		ints(p.First, int64(p.Size), int64(p.Held), int64(p.Out)).blob(marks).end()
	return nil
}

// DropParts removes the parts of a pass.
func (s *Store) DropParts(ctx context.Context, batch int64, pass int) error {
	ctx = sqlstore.MayWait(ctx)
	return s.inTx(ctx, "drop parts", func(ctx context.Context, t *txn) error {
		var numbers []int64
		if err := t.each(ctx, collect(&numbers), t.sql.PassParts, batch, pass); err != nil {
			return err
		}
		for _, statement := range []string{t.sql.DropParts, t.sql.DropPartTasks} {
			if _, err := t.execIDs(ctx, fill(statement, "batch_id", decimal(batch)), numbers); err != nil {
				return err
			}
		}
		return nil
	})
}

// Parts returns parts of a batch, in the order of their numbers.
func (s *Store) Parts(ctx context.Context, batch int64, filter batch.PartFilter) ([]batch.Part, error) {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	parts, err := s.readParts(ctx, s.db, batch, filter, nil)
	if err != nil {
		return nil, fmt.Errorf("parts: %w", err)
	}
	return parts, nil
}

// readParts reads parts. The tasks of some are known already, by the first ID.
func (s *Store) readParts(ctx context.Context, q querier, it int64, filter batch.PartFilter, known map[int64][]batch.PartTask) (parts []batch.Part, err error) {
	firsts := []int64{0} // which no part has: a list must not be empty
	for first := range known {
		firsts = append(firsts, first)
	}
	err = each(ctx, q, func(row *sql.Rows) error {
		part, err := sqlstore.ScanPart(row, filter.Tasks)
		if filter.Tasks && part.Tasks == nil {
			part.Tasks = known[part.First]
		}
		parts = append(parts, part)
		return err
	}, fill(s.chosenParts(it, filter), "known", idList(firsts)))
	slices.SortFunc(parts, func(a, b batch.Part) int { return cmp.Compare(a.Number, b.Number) })
	return parts, err
}

// chosenParts is the statement for a filter.
func (s *Store) chosenParts(batch int64, filter batch.PartFilter) string {
	statement := s.sql.Parts
	if filter.Tasks {
		statement = s.sql.PartsWithTasks
	}
	after, limit := math.MinInt32, math.MaxInt32
	if filter.After != 0 {
		after = filter.After
	}
	if filter.Limit > 0 {
		limit = filter.Limit
	}
	return fill(statement, "chosen", s.chosenNumbers(filter), "batch_id", decimal(batch), "after", decimal(after), "limit", decimal(limit))
}

// chosenNumbers is the query of numbers for a filter.
func (s *Store) chosenNumbers(filter batch.PartFilter) string {
	conditions := ""
	if len(filter.Numbers) > 0 {
		numbers := make([]string, len(filter.Numbers))
		for i, number := range filter.Numbers {
			numbers[i] = decimal(number)
		}
		conditions = " and number in (" + strings.Join(numbers, ",") + ")"
	}
	kinds := []batch.PassKind{batch.PassForward, batch.PassRetry, batch.PassUndo, batch.PassThen}
	if filter.Kind != "" {
		kinds = []batch.PassKind{filter.Kind}
	}
	if filter.Held && len(filter.Numbers) == 0 {
		if filter.Out {
			conditions += " and any_out = 1"
		}
		queries := make([]string, len(kinds))
		for i, kind := range kinds {
			queries[i] = fill(s.sql.PartsHeld, "kind", nameList([]string{string(kind)}), "named", conditions)
		}
		return strings.Join(queries, " union all ") + " order by number limit {{limit}}"
	}
	if filter.Kind != "" {
		conditions += " and kind = " + nameList([]string{string(filter.Kind)})
	}
	if filter.Held {
		conditions += " and any_held = 1"
	}
	if filter.Out && len(filter.Numbers) > 0 {
		conditions += " and any_out = 1"
	}
	if filter.Out && len(filter.Numbers) == 0 {
		return fill(s.sql.PartsOut, "named", conditions)
	}
	return fill(s.sql.PartsOfAll, "named", conditions)
}
