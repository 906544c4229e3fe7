package mysql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/go-sql-driver/mysql"

	"github.com/fairlead-io/fairlead/internal/reads"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// txn is one transaction: the store's own, or a caller's.
type txn struct {
	*Store
	tx      *sql.Tx
	callers bool // any isolation level, any session settings
	wakes   wakes
	posted  gateSet // gates that it posted to gate_news
	fires   bool    // the jobs that it stores are runs of schedules
}

// inTx runs f in a transaction of the store. It repeats the transaction if the server
// rolled it back, or if the database differs from what this process had cached. It then
// wakes nodes and admits parked jobs.
func (s *Store) inTx(ctx context.Context, verb string, f func(ctx context.Context, t *txn) error) error {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	var t *txn
	again := func(err error) bool { return transient(err) || isRetry(err) }
	err := retry(ctx, again, func() error {
		ctx, leave, err := s.seats.Take(ctx)
		if err != nil {
			return err
		}
		defer leave()
		tx, err := s.db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		t = &txn{Store: s, tx: tx}
		if err := f(ctx, t); err != nil {
			_ = tx.Rollback() // it failed already; if this fails too, the connection is given up
			return s.relearn(ctx, err)
		}
		return tx.Commit()
	})
	if err != nil {
		return fmt.Errorf("%s: %w", verb, err)
	}
	s.wake(&t.wakes)
	t.admitPosted(sqlstore.Brief(ctx))
	return nil
}

// execQuickly runs a statement as a separate transaction on the lifeline. It repeats
// the statement if the server rolled it back: statements that touch several rows can
// deadlock with each other.
func (s *Store) execQuickly(ctx context.Context, statement string, args ...any) (sql.Result, error) {
	return s.execAlone(ctx, s.lifeline, statement, args...)
}

// execAlone does the same on any connections.
func (s *Store) execAlone(ctx context.Context, db *sql.DB, statement string, args ...any) (result sql.Result, err error) {
	err = retry(ctx, transient, func() error {
		result, err = db.ExecContext(ctx, statement, args...)
		return err
	})
	return result, err
}

// retry runs f again while the error may be gone the next time, and marks errors that
// pass as unavailable.
func retry(ctx context.Context, again func(error) bool, f func() error) error {
	return unavailable(ctx, sqlstore.Retry(ctx, again, f))
}

// Server errors after which a transaction may be repeated.
const (
	errLockWaitTimeout = 1205
	errDeadlock        = 1213
	errRecordChanged   = 1020 // MariaDB: the row is newer than the snapshot
)

func transient(err error) bool {
	var answer *mysql.MySQLError
	if !errors.As(err, &answer) {
		return false
	}
	switch answer.Number {
	case errLockWaitTimeout, errDeadlock, errRecordChanged:
		return true
	}
	return false
}

// lockTimedOut reports whether a statement has waited for a lock for as long as it may.
func lockTimedOut(err error) bool {
	var answer *mysql.MySQLError
	return errors.As(err, &answer) && answer.Number == errLockWaitTimeout
}

// clock reads the database's clock now, that is after the locks taken so far. A
// caller's session may be in any time zone and see an old snapshot, so clock uses
// another connection there.
func (t *txn) clock(ctx context.Context) (int64, error) {
	if t.callers {
		return t.now(ctx)
	}
	var us int64
	_, err := t.one(ctx, []any{&us}, t.sql.Now)
	return us, err
}

// newest returns a querier that sees the latest commits: the transaction itself at READ
// COMMITTED. A caller's transaction may see an old snapshot, unless it reads with a
// lock, and waiting for that lock could end in a deadlock.
func (t *txn) newest() querier {
	if t.callers {
		return t.lifeline
	}
	return t.tx
}

// exec runs a statement and returns how many rows it hit.
func (t *txn) exec(ctx context.Context, statement string, args ...any) (int64, error) {
	result, err := t.tx.ExecContext(ctx, statement, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// must runs a statement that has to hit n rows, because these are locked.
func (t *txn) must(ctx context.Context, n int, statement string, args ...any) error {
	hit, err := t.exec(ctx, statement, args...)
	return checkHits(n, hit, err)
}

func checkHits(want int, hit int64, err error) error {
	if err == nil && hit != int64(want) {
		err = fmt.Errorf("%d rows were affected, want %d", hit, want)
	}
	return err
}

// execRows runs a statement for all tuples and returns how many rows it hit.
func (t *txn) execRows(ctx context.Context, statement string, r *tuples) (int64, error) {
	total := int64(0)
	for list := range r.chunks() {
		hit, err := t.exec(ctx, fill(statement, "rows", list))
		if err != nil {
			return total, err
		}
		total += hit
	}
	return total, nil
}

// insert runs an insert of all tuples.
func (t *txn) insert(ctx context.Context, statement string, r *tuples) error {
	_, err := t.execRows(ctx, statement, r)
	return err
}

// execIDs runs a statement for all ids and returns how many rows it hit.
func (t *txn) execIDs(ctx context.Context, statement string, ids []int64) (int64, error) {
	total := int64(0)
	for chunk := range slices.Chunk(ids, chunkIDs) {
		hit, err := t.exec(ctx, naming(statement, chunk))
		if err != nil {
			return total, err
		}
		total += hit
	}
	return total, nil
}

// one reads the only row of an answer; found is false if there is none.
func (t *txn) one(ctx context.Context, into []any, statement string, args ...any) (found bool, err error) {
	err = t.tx.QueryRowContext(ctx, statement, args...).Scan(into...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// each reads all rows of an answer.
func (t *txn) each(ctx context.Context, scan func(*sql.Rows) error, statement string, args ...any) error {
	return each(ctx, t.tx, scan, statement, args...)
}

// eachOf reads all rows of the answers for all ids.
func (t *txn) eachOf(ctx context.Context, scan func(*sql.Rows) error, statement string, ids []int64) error {
	return eachOf(ctx, t.tx, scan, statement, ids)
}

// eachRows reads all rows of the answers for all tuples.
func (t *txn) eachRows(ctx context.Context, scan func(*sql.Rows) error, statement string, r *tuples) error {
	for list := range r.chunks() {
		if err := t.each(ctx, scan, fill(statement, "rows", list)); err != nil {
			return err
		}
	}
	return nil
}

type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func each(ctx context.Context, q querier, scan func(*sql.Rows) error, statement string, args ...any) error {
	ask := func(q querier) error {
		answer, err := q.QueryContext(ctx, statement, args...)
		if err != nil {
			return err
		}
		return scanAll(answer, scan)
	}
	if db, ok := q.(*sql.DB); ok {
		if meter := reads.From(ctx); meter != nil {
			return unavailable(ctx, measured(ctx, db, meter, ask))
		}
	}
	return unavailable(ctx, ask(q))
}

// one reads the only row of an answer; sql.ErrNoRows if there is none.
func one(ctx context.Context, db *sql.DB, into []any, statement string, args ...any) error {
	return unavailable(ctx, db.QueryRowContext(ctx, statement, args...).Scan(into...))
}

func eachOf(ctx context.Context, q querier, scan func(*sql.Rows) error, statement string, ids []int64) error {
	for list := range idChunks(ids) {
		if err := each(ctx, q, scan, fill(statement, "ids", list)); err != nil {
			return err
		}
	}
	return nil
}

// scanAll reads all rows of an answer and closes it.
func scanAll(answer *sql.Rows, scan func(*sql.Rows) error) error {
	defer answer.Close()
	for answer.Next() {
		if err := scan(answer); err != nil {
			return sqlstore.UnlessFull(err)
		}
	}
	return answer.Err()
}

// inSavepoint runs f and rolls back what it did if it fails.
func (t *txn) inSavepoint(ctx context.Context, mark string, f func() error) error {
	if _, err := t.exec(ctx, fill(t.sql.Savepoint, "mark", mark)); err != nil {
		return err
	}
	if err := f(); err != nil {
		if _, undone := t.exec(ctx, fill(t.sql.ReturnToSavepoint, "mark", mark)); undone != nil {
			return fmt.Errorf("%w (and the rollback failed: %w)", err, undone)
		}
		return err
	}
	_, err := t.exec(ctx, fill(t.sql.ReleaseSavepoint, "mark", mark))
	return err
}
