package lists

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// prefix is the default prefix of a store's tables.
const prefix = "fairlead_"

// bulk inserts many rows at once, bypassing the store: inserting a million jobs one by one
// would take longer than the measurement.
type bulk interface {
	insert(ctx context.Context, table string, columns []string, rows [][]any) error
	exec(ctx context.Context, statement string) error
	// afterJobs makes the next job get an ID above this one.
	afterJobs(ctx context.Context, last int64) error
	// copySchedules stores a copy of each stored schedule.
	copySchedules(ctx context.Context, c scheduleCopy) error
	// look makes the server gather statistics, which it would otherwise do after some time.
	look(ctx context.Context) error
	// fires returns the columns of table fire: job, schedule, due, source, number, trigger,
	// reason for skipping, and other columns with their values.
	fires() (columns []string, others []any)
	Close() error
}

// scheduleCopy defines how copies of schedules differ from the originals.
type scheduleCopy struct {
	last  int64  // largest ID to copy
	shift int64  // offset of the IDs
	later int64  // delay of the fires in microseconds
	name  string // replaces "schedule-" in the names
}

// openBulk opens the database with a URL.
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

// table collects rows and stores them in chunks.
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

// marks returns the placeholders for rows with a number of columns.
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
