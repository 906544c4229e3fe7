package sqlstore

import "context"

// Database is where a feature that is written once for all stores keeps its rows:
// a store, or the transaction of a caller.
//
// In all of its methods verb says in errors what has failed, every statement has the
// store's timeout, and an error that passes is a fairlead.ErrUnavailable. The function
// runs again from the start if the database undid what it did for the sake of another
// transaction, so what it returns to its caller is made anew each time. It may still run
// when the call has ended, because the caller's context did: it must not read what the
// caller may change by then.
type Database interface {
	// InTx runs f in one transaction at READ COMMITTED. What f has queued and not
	// flushed travels with the commit: a function that only queues costs PostgreSQL one
	// round trip. If f refuses, by an error that callers tell apart, it should not have
	// hit any row: SQLite then need not undo what other calls do in the same transaction.
	// In the transaction of a caller all of f happens, or nothing.
	InTx(ctx context.Context, verb string, f func(ctx context.Context, db DB) error) error
	// Read runs f, which looks few rows up by an index. Each of its statements has a
	// snapshot of its own.
	Read(ctx context.Context, verb string, f func(ctx context.Context, db DB) error) error
	// ReadAll is Read for statements that read whole tables, or whose plan depends on
	// what is asked.
	ReadAll(ctx context.Context, verb string, f func(ctx context.Context, db DB) error) error
}

// DB runs statements, each after those that were queued before it.
//
// An argument is a number, a text, bytes, a bool, JSON, a List, or Rows as the last one.
// Arguments have the same order in all stores. A statement that needs the clock has
// {{now}} in its text. A statement that a store has no use for has an empty text, and does
// not run.
type DB interface {
	// Exec runs a statement that writes and returns how many rows it hit. An insert whose
	// text says what to do about a key that is taken hits none then.
	Exec(ctx context.Context, statement string, args ...any) (hit int64, err error)
	// Each runs a statement that reads and scans its rows.
	Each(ctx context.Context, scan func(Scanner) error, statement string, args ...any) error
	// Queue puts a statement that writes off until the next that is not queued, Flush or
	// the commit: PostgreSQL sends them all at once. How many rows it hit is known then.
	Queue(statement string, args ...any) (hit *int64)
	// QueueEach puts a statement that reads off, and scans its rows then.
	QueueEach(scan func(Scanner) error, statement string, args ...any)
	// Flush runs what is queued.
	Flush(ctx context.Context) error
	// WakeLater makes nodes look again, after the commit, when something is due.
	WakeLater()
}

// exec runs one statement as a transaction of its own.
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

// reading is Database.Read or Database.ReadAll.
type reading func(ctx context.Context, verb string, f func(ctx context.Context, db DB) error) error

// readList reads what the rows of one statement are.
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

// list reads what the rows of a statement are.
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

// queueList puts a statement off and collects what its rows are.
func queueList[T any](db DB, scan func(Scanner) (T, error), statement string, args ...any) *[]T {
	var found []T
	db.QueueEach(func(row Scanner) error {
		value, err := scan(row)
		found = append(found, value)
		return err
	}, statement, args...)
	return &found
}
