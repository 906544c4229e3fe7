package lists

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// prefix is that of the tables, as stores have it by default.
const prefix = "fairlead_"

// bulk stores rows past the store, many at once: one by one a million jobs would take
// longer than what is measured.
type bulk interface {
	insert(ctx context.Context, table string, columns []string, rows [][]any) error
	exec(ctx context.Context, statement string) error
	// afterJobs lets the next job have an id above this one.
	afterJobs(ctx context.Context, last int64) error
	// copySchedules stores a copy of each schedule that was put.
	copySchedules(ctx context.Context, c scheduleCopy) error
	// look has the server gather statistics, as it does on its own after a while.
	look(ctx context.Context) error
	// fires are the columns of fire: job, schedule, due, source, number, what made
	// it, why it was skipped, and others with what they have.
	fires() (columns []string, others []any)
	Close() error
}

// scheduleCopy says how copies of schedules differ from them.
type scheduleCopy struct {
	last  int64  // only those whose id is at most this one are copied
	shift int64  // is added to their ids
	later int64  // microseconds by which they fire later
	name  string // takes the place of "schedule-" in their names
}

// openBulk opens the database that a URL names.
func openBulk(ctx context.Context, url string) (bulk, error) {
	scheme, rest, _ := strings.Cut(url, "://")
	switch scheme {
	case "postgres", "postgresql":
		return openPostgres(ctx, url)
	case "mysql":
		return openMySQL(url)
	case "sqlite":
		if rest == ":memory:" {
			return nil, errors.New("this benchmark cannot fill an in-memory database: use a file")
		}
		return openSQLite(rest)
	default:
		return nil, fmt.Errorf("%s databases are not supported", scheme)
	}
}

// table gathers rows and stores them a chunk at a time.
type table struct {
	into    bulk
	name    string
	columns []string
	rows    [][]any
}

const chunk = 2000

func newTable(into bulk, name, columns string) *table {
	return &table{into: into, name: name, columns: strings.Fields(columns)}
}

func (t *table) add(ctx context.Context, values ...any) error {
	if t.rows = append(t.rows, values); len(t.rows) < chunk {
		return nil
	}
	return t.flush(ctx)
}

func (t *table) flush(ctx context.Context) error {
	if len(t.rows) == 0 {
		return nil
	}
	rows := t.rows
	t.rows = t.rows[:0]
	if err := t.into.insert(ctx, prefix+t.name, t.columns, rows); err != nil {
		return fmt.Errorf("fill %s: %w", t.name, err)
	}
	return nil
}

// marks is a list of question marks for rows of so many columns.
func marks(rows, columns int) string {
	row := "(" + strings.TrimSuffix(strings.Repeat("?,", columns), ",") + ")"
	return strings.TrimSuffix(strings.Repeat(row+",", rows), ",")
}

func flat(rows [][]any) []any {
	var values []any
	for _, row := range rows {
		values = append(values, row...)
	}
	return values
}
