package source

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Querier is the part of *sql.DB that Table needs. If it can begin transactions, as *sql.DB
// can, Table reads in read-only transactions.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Dialect is a database's syntax for names and parameters.
type Dialect int

// Supported dialects.
const (
	Postgres Dialect = iota
	MySQL            // including MariaDB
	SQLite
)

// Database is a database whose tables can be read, with its dialect.
type Database struct {
	Querier Querier
	Dialect Dialect
}

// TableOptions specifies which table to read, and how.
type TableOptions struct {
	Dialect  Dialect
	Database string   // name of the database, for errors
	Table    string   // name, or schema.name
	Key      string   // an integer column with a unique index
	Columns  []string // columns of an item in addition to the key; empty for all

	Timeout time.Duration // for one query; default 30s
	MaxAge  time.Duration // maximum age of rows read ahead; default 1s
}

// Table is a source whose items are the rows of a table, as JSON objects. A row's key is the
// item's index. An index without a row has no item, so inserting or deleting a row does not
// change the indexes of other rows.
type Table struct {
	querier Querier
	options TableOptions
	state   tableState
	ahead   ahead
}

// tableState stores the bounds, so that all shards and runs use the same ones.
type tableState struct {
	Known bool  `json:"known"`
	From  int64 `json:"from"`
	To    int64 `json:"to"`
}

// ahead contains rows that were read and not yet returned.
type ahead struct {
	items []Item
	from  int64 // contains all rows of [from, to)
	to    int64
	at    time.Time
}

// aheadRows is the number of rows read at once.
const aheadRows = 256

// largestKey is the largest supported key. It leaves room for the sums that windows
// compute.
const largestKey = 1 << 62

// nameForm is stricter than any database, so that a name cannot contain other SQL.
var nameForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,62}$`)

// OpenTable returns a source that reads a table's rows. It returns an error if a name contains
// characters other than letters, digits and underscores.
func OpenTable(querier Querier, options TableOptions) (*Table, error) {
	schema, name, dotted := strings.Cut(options.Table, ".")
	if !nameForm.MatchString(schema) || dotted && !nameForm.MatchString(name) {
		return nil, fmt.Errorf("source: table is %q; it must be a name, or schema.name, of letters, digits and underscores", options.Table)
	}
	for field, names := range map[string][]string{"key": {options.Key}, "columns": options.Columns} {
		for _, name := range names {
			if !nameForm.MatchString(name) {
				return nil, fmt.Errorf("source: %s contains %q; use letters, digits and underscores only", field, name)
			}
		}
	}
	if options.Dialect < Postgres || options.Dialect > SQLite {
		return nil, fmt.Errorf("source: dialect %d is unknown", options.Dialect)
	}
	if options.Timeout == 0 {
		options.Timeout = 30 * time.Second
	}
	if options.MaxAge == 0 {
		options.MaxAge = time.Second
	}
	return &Table{querier: querier, options: options}, nil
}

// quote quotes a name, so that it cannot be taken for a keyword.
func (t *Table) quote(name string) string {
	mark := `"`
	if t.options.Dialect == MySQL {
		mark = "`"
	}
	return mark + strings.ReplaceAll(name, ".", mark+"."+mark) + mark
}

func (t *Table) parameter(n int) string {
	if t.options.Dialect == Postgres {
		return fmt.Sprintf("$%d", n)
	}
	return "?"
}

// Bounds returns the smallest and the largest key as of the first call. If the table is empty,
// both are 0.
func (t *Table) Bounds(ctx context.Context) (from, to int64, err error) {
	if t.state.Known {
		return t.state.From, t.state.To, nil
	}
	key := t.quote(t.options.Key)
	query := fmt.Sprintf("SELECT MIN(%s), MAX(%s) FROM %s", key, key, t.quote(t.options.Table))
	err = t.query(ctx, query, nil, func(rows *sql.Rows) error {
		var least, greatest sql.NullInt64
		if err := rows.Scan(&least, &greatest); err != nil {
			return fmt.Errorf("column %s must contain integers: %w", t.options.Key, err)
		}
		if least.Valid {
			from, to = least.Int64, greatest.Int64
			if from < -largestKey || to >= largestKey {
				return fmt.Errorf("column %s has keys beyond %d", t.options.Key, int64(largestKey))
			}
			to++
		}
		return nil
	})
	if err != nil {
		return 0, 0, err
	}
	t.state = tableState{Known: true, From: from, To: to}
	return from, to, nil
}

// Read fills items with the first rows whose keys are in [from, to). Rows that Table has read
// ahead are at most MaxAge old.
func (t *Table) Read(ctx context.Context, from, to int64, items []Item) (n int, next int64, err error) {
	if from >= to || len(items) == 0 {
		return 0, from, nil
	}
	rows, covered, err := t.rows(ctx, from)
	if err != nil {
		return 0, from, err
	}
	for n < len(items) && n < len(rows) && rows[n].Index < to {
		items[n] = rows[n]
		n++
	}
	switch {
	case n == len(items):
		return n, rows[n-1].Index + 1, nil
	case n < len(rows):
		return n, to, nil
	}
	return n, min(to, covered), nil
}

// Next returns the key of the first row in [from, to), or to if there is none.
func (t *Table) Next(ctx context.Context, from, to int64) (int64, error) {
	if from >= to {
		return to, nil
	}
	rows, _, err := t.rows(ctx, from)
	if err != nil {
		return 0, err
	}
	if len(rows) > 0 {
		return min(to, rows[0].Index), nil
	}
	return to, nil
}

// rows returns the first rows from a key on and the end of the range that they cover. An
// empty result means that there are no more rows. For a key before the rows read ahead, it
// reads a single row and keeps the others.
func (t *Table) rows(ctx context.Context, from int64) (rows []Item, covered int64, err error) {
	fresh := time.Since(t.ahead.at) <= t.options.MaxAge
	if fresh && from < t.ahead.from {
		behind, err := t.fetch(ctx, from, 1)
		return behind.items, behind.to, err
	}
	if fresh && from < t.ahead.to {
		at, _ := slices.BinarySearchFunc(t.ahead.items, from, func(item Item, key int64) int {
			if item.Index < key {
				return -1
			}
			return 1
		})
		if at < len(t.ahead.items) || t.ahead.to == largestKey {
			return t.ahead.items[at:], t.ahead.to, nil
		}
	}
	ahead, err := t.fetch(ctx, from, aheadRows)
	if err != nil {
		return nil, 0, err
	}
	t.ahead = ahead
	return ahead.items, ahead.to, nil
}

func (t *Table) fetch(ctx context.Context, from int64, most int) (ahead, error) {
	columns := "*"
	if len(t.options.Columns) > 0 {
		names := []string{t.quote(t.options.Key)}
		for _, name := range t.options.Columns {
			if name != t.options.Key {
				names = append(names, t.quote(name))
			}
		}
		columns = strings.Join(names, ", ")
	}
	key := t.quote(t.options.Key)
	query := fmt.Sprintf("SELECT %s FROM %s WHERE %s >= %s AND %s < %s ORDER BY %s LIMIT %d",
		columns, t.quote(t.options.Table), key, t.parameter(1), key, t.parameter(2), key, most)
	fetched := ahead{from: from, to: largestKey, at: time.Now()}
	var row *rowWriter
	err := t.query(ctx, query, []any{from, int64(largestKey)}, func(rows *sql.Rows) error {
		if row == nil {
			var err error
			if row, err = newRowWriter(rows, t.options.Key); err != nil {
				return err
			}
		}
		item, err := row.item(rows)
		if err != nil {
			return err
		}
		if last := len(fetched.items) - 1; last >= 0 && fetched.items[last].Index >= item.Index {
			return fmt.Errorf("key %d occurs twice: column %s must be unique", item.Index, t.options.Key)
		}
		fetched.items = append(fetched.items, item)
		return nil
	})
	if len(fetched.items) == most {
		fetched.to = fetched.items[most-1].Index + 1
	}
	return fetched, err
}

// query runs a query and calls scan for each row.
func (t *Table) query(ctx context.Context, query string, args []any, scan func(*sql.Rows) error) error {
	ctx, cancel := context.WithTimeout(ctx, t.options.Timeout)
	defer cancel()
	err := readOnly(ctx, t.querier, func(querier Querier) (err error) {
		rows, err := querier.QueryContext(ctx, query, args...)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, rows.Err(), rows.Close()) }()
		for rows.Next() {
			if err := scan(rows); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil && t.options.Database != "" {
		return fmt.Errorf("read table %s of database %s: %w", t.options.Table, t.options.Database, err)
	}
	if err != nil {
		return fmt.Errorf("read table %s: %w", t.options.Table, err)
	}
	return nil
}

// State returns the bounds as JSON.
func (t *Table) State() (json.RawMessage, error) {
	if !t.state.Known {
		return nil, nil
	}
	return json.Marshal(t.state)
}

// Restore sets the bounds.
func (t *Table) Restore(state json.RawMessage) error {
	if len(state) == 0 {
		return nil
	}
	if err := json.Unmarshal(state, &t.state); err != nil {
		return fmt.Errorf("restore table %s: %w", t.options.Table, err)
	}
	return nil
}

// Close does nothing, because the caller owns the database.
func (t *Table) Close() error { return nil }
