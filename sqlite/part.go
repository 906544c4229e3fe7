package sqlite

import (
	"context"
	"strconv"
	"strings"

	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// newPart is a part as it is going to be stored: the caller's own may change once
// the caller has given up waiting.
type newPart struct {
	batch.Part
	marks, tasks string
}

// AddParts stores parts of a batch.
func (s *Store) AddParts(ctx context.Context, batch int64, parts []batch.Part) error {
	if len(parts) == 0 {
		return nil
	}
	fresh, err := newParts(parts)
	if err != nil {
		return err
	}
	firsts, err := inTx(ctx, s, "add parts", func(t *txn) ([]int64, error) { return t.addParts(batch, fresh) })
	for i, first := range firsts {
		parts[i].Batch, parts[i].First = batch, first
	}
	return err
}

func newParts(parts []batch.Part) ([]newPart, error) {
	fresh := make([]newPart, len(parts))
	for i := range parts {
		marks, err := sqlstore.EncodeMarks(&parts[i].Marks)
		if err != nil {
			return nil, err
		}
		tasks, err := sqlstore.EncodeTasks(&parts[i])
		if err != nil {
			return nil, err
		}
		fresh[i] = newPart{Part: parts[i], marks: string(marks), tasks: string(tasks)}
	}
	return fresh, nil
}

func (t *txn) addParts(batch int64, parts []newPart) ([]int64, error) {
	if _, err := t.batch(batch); err != nil {
		return nil, err
	}
	numbers := make([]int, len(parts))
	for i := range parts {
		numbers[i] = parts[i].Number
	}
	var taken int
	if found, err := t.one(t.sql.PartTaken, []any{batch, jsonOf(numbers)}, &taken); err != nil || found {
		if found {
			err = sqlstore.PartTaken(batch, taken)
		}
		return nil, err
	}
	firsts := make([]int64, len(parts))
	for i := range parts {
		p := &parts[i]
		first, err := t.next(jobCounter, int64(p.Size)) // set aside
		if err != nil {
			return nil, err
		}
		firsts[i] = first
		if err := t.must(1, t.sql.AddPart, batch, p.Number, p.Pass, string(p.Kind), first, p.Size, p.Held, p.Out, p.marks); err != nil {
			return nil, err
		}
		if err := t.must(1, t.sql.AddTasks, batch, p.Number, p.tasks); err != nil {
			return nil, err
		}
	}
	return firsts, nil
}

// DropParts removes the parts of a pass.
func (s *Store) DropParts(ctx context.Context, batch int64, pass int) error {
	_, err := inTx(ctx, s, "drop parts", func(t *txn) (none, error) {
		if _, err := t.exec(t.sql.DropTasks, batch, pass); err != nil {
			return none{}, err
		}
		_, err := t.exec(t.sql.DropParts, batch, pass)
		return none{}, err
	})
	return err
}

// Parts returns parts of a batch.
func (s *Store) Parts(ctx context.Context, b int64, filter batch.PartFilter) ([]batch.Part, error) {
	return read(ctx, s, "list parts", func(t *txn) ([]batch.Part, error) { return t.parts(b, filter) })
}

func (t *txn) parts(b int64, filter batch.PartFilter) ([]batch.Part, error) {
	query, args := t.sql.partsQuery(b, filter)
	var parts []batch.Part
	err := t.each(query, args, func(row sqlstore.Scanner) error {
		part, err := sqlstore.ScanPart(row, filter.Tasks)
		parts = append(parts, part)
		return err
	})
	return parts, err
}

// partsQuery reads the parts that match. Its conditions are worded as those of the
// indexes are.
func (s *statements) partsQuery(batch int64, filter batch.PartFilter) (query string, args []any) {
	query = s.Parts
	if filter.Tasks {
		query = s.PartsTasks
	}
	conditions, args := []string{"p.batch = ?"}, []any{batch}
	add := func(condition string, arg ...any) {
		conditions, args = append(conditions, condition), append(args, arg...)
	}
	if len(filter.Numbers) > 0 {
		add("p.number in (select value from json_each(?))", jsonOf(filter.Numbers))
	}
	if filter.After != 0 {
		add("p.number > ?", filter.After)
	}
	if filter.Held {
		add("p.held > 0")
	}
	if filter.Out {
		add("p.out > 0")
	}
	if filter.Kind != "" {
		add("p.kind = ?", string(filter.Kind))
	}
	query += " where " + strings.Join(conditions, " and ") + " order by p.number"
	if filter.Limit > 0 {
		query += " limit " + strconv.Itoa(filter.Limit)
	}
	return query, args
}
