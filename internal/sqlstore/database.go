package sqlstore

import "context"

// Database runs the transactions of features whose code all stores share. It is either a
// store or a caller's transaction.
//
// In all methods, verb names the operation in errors, every statement has the store's
// timeout, and a transient error is a fairlead.ErrUnavailable. If the database rolls the
// transaction back in favor of another transaction, f runs again from the start, so f must
// reset its results on each run. When the caller's context ends, a method may return while
// f is still running. So f must not read anything that the caller may change after the
// method has returned.
type Database interface {
	// InTx runs f in one transaction at READ COMMITTED. Queued statements that f has not
	// flushed are sent with the commit: a function that only queues costs one round trip on
	// PostgreSQL. If f refuses with an error that callers distinguish, it should not have
	// hit any row: then SQLite need not undo what other calls did in the same transaction.
	// In a caller's transaction, either all of f takes effect or nothing.
	InTx(ctx context.Context, verb string, f func(ctx context.Context, db DB) error) error
	// Read runs f, which should look up few rows by an index. Each statement has its own
	// snapshot.
	Read(ctx context.Context, verb string, f func(ctx context.Context, db DB) error) error
	// ReadAll works like Read, for statements that read whole tables or whose plan depends
	// on the request.
	ReadAll(ctx context.Context, verb string, f func(ctx context.Context, db DB) error) error
}

// DB runs SQL statements. Statements that were queued earlier run first.
//
// An argument is a number, a string, bytes, a bool, JSON or a List. The last argument may
// also be a Rows. Arguments have the same order in all stores. A statement that needs the
// clock contains {{now}}. If a store does not need a statement, the statement is empty and
// does not run.
type DB interface {
	// Exec runs a writing statement and returns the number of rows it hit. An insert with a
	// clause for duplicate keys hits no rows if the key exists.
	Exec(ctx context.Context, statement string, args ...any) (hit int64, err error)
	// Each runs a reading statement and scans its rows.
	Each(ctx context.Context, scan func(Scanner) error, statement string, args ...any) error
	// Queue delays a writing statement until the next call that is not queued, Flush or the
	// commit: PostgreSQL sends all of them at once. The result is set at that point.
	Queue(statement string, args ...any) (hit *int64)
	// QueueEach delays a reading statement in the same way and scans its rows when it runs.
	QueueEach(scan func(Scanner) error, statement string, args ...any)
	// Flush runs the queued statements.
	Flush(ctx context.Context) error
	// WakeLater makes nodes check again for due work after the commit.
	WakeLater()
}

// exec runs one statement in a transaction of its own.
func exec(ctx context.Context, database Database, verb, statement string, args ...any) (int64, error) {
	var hit *int64
	err := database.InTx(ctx, verb, func(_ context.Context, db DB) error {
		hit = db.Queue(statement, args...)
		return nil
	})
	if err != nil {
		return 0, err
	}
	return *hit, nil
}

// reading has the type of Database.Read and Database.ReadAll.
type reading func(ctx context.Context, verb string, f func(ctx context.Context, db DB) error) error

// readList returns the rows of one statement, run by Database.Read or ReadAll.
func readList[T any](ctx context.Context, read reading, verb string, scan func(Scanner) (T, error), statement string, args ...any) ([]T, error) {
	var found *[]T
	err := read(ctx, verb, func(_ context.Context, db DB) error {
		found = queueList(db, scan, statement, args...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return *found, nil
}

// list returns the rows of a statement.
func list[T any](ctx context.Context, db DB, scan func(Scanner) (T, error), statement string, args ...any) ([]T, error) {
	found := queueList(db, scan, statement, args...)
	err := db.Flush(ctx)
	return *found, err
}

func scanNumber(row Scanner) (number int64, err error) {
	err = row.Scan(&number)
	return number, err
}

func scanText(row Scanner) (text string, err error) {
	err = row.Scan(&text)
	return text, err
}

// queueList queues a statement and collects its rows.
func queueList[T any](db DB, scan func(Scanner) (T, error), statement string, args ...any) *[]T {
	var found []T
	db.QueueEach(func(row Scanner) error {
		value, err := scan(row)
		found = append(found, value)
		return err
	}, statement, args...)
	return &found
}
