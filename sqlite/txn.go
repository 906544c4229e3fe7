package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// runner runs statements: a transaction of the writer, of a reader or of a
// caller.
type runner interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// txn is one transaction and what is known in it. The store's operations are its
// methods, so that they work the same in the writer's transactions and in those of
// callers.
type txn struct {
	ctx        context.Context
	run        runner
	sql        *statements
	inserts    []string
	lanes      *knownLanes
	laneHeads  *laneHeads   // in transactions of the writer
	limitCache *limitCache  // in transactions of the writer
	capped     *atomic.Bool // whether there are limits, as far as is known
	fair       *sqlstore.Fair
	now        int64
	counters   counters
	wakes      wakes
	readOnly   bool
	callers    bool                   // it is a caller's transaction
	wrote      bool                   // whether the current function has changed anything
	compared   map[sqlstore.Lane]bool // lanes that match what this process has cached
	notedGates map[int64]bool         // gates that the current function gave a job or a place
}

// wakes is what a commit changes for listeners and caches.
type wakes struct {
	made, read []sqlstore.Lane            // lanes to be cached
	work       map[int32]sqlstore.LaneKey // lanes where jobs became ready
	all        bool                       // jobs may have become ready anywhere
	later      bool                       // jobs were scheduled
	cancel     bool                       // running jobs were asked to stop
	freed      bool                       // jobs that counted against limits ended
	token      time.Duration              // until a rate allows another job to start; zero: none waits
}

// await sets when a rate allows another job to start; a value that is not positive
// changes nothing.
func (n *wakes) await(token time.Duration) {
	if token > 0 && (n.token == 0 || token < n.token) {
		n.token = token
	}
}

// addWork records that jobs became ready in a lane.
func (n *wakes) addWork(id int32, key sqlstore.LaneKey) {
	if n.work == nil {
		n.work = map[int32]sqlstore.LaneKey{}
	}
	n.work[id] = key
}

// add merges the wakes of another function.
func (n *wakes) add(other wakes) {
	n.made = append(n.made, other.made...)
	if len(other.read) > 0 {
		n.read = other.read
	}
	for id, key := range other.work {
		n.addWork(id, key)
	}
	n.all = n.all || other.all
	n.later = n.later || other.later
	n.cancel = n.cancel || other.cancel
	n.freed = n.freed || other.freed
	n.await(other.token)
}

func (s *Store) newTxn(ctx context.Context, run runner) *txn {
	return &txn{ctx: ctx, run: run, sql: &s.sql, inserts: s.inserts, lanes: s.lanes, capped: &s.capped, fair: s.fair, now: s.micros()}
}

// exec runs a statement that writes, and returns how many rows it hit.
func (t *txn) exec(query string, args ...any) (int64, error) {
	t.wrote = true
	result, err := t.run.ExecContext(t.ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// must runs a statement that writes and has to hit this many rows.
func (t *txn) must(rows int64, query string, args ...any) error {
	hit, err := t.exec(query, args...)
	if err == nil && hit != rows {
		err = fmt.Errorf("affected %d rows, want %d: %s", hit, rows, query)
	}
	return err
}

// each runs a query and scans its rows.
func (t *txn) each(query string, args []any, scan func(row sqlstore.Scanner) error) error {
	rows, err := t.run.QueryContext(t.ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // rows.Err reports what went wrong
	for rows.Next() {
		if err := scan(rows); err != nil {
			return sqlstore.UnlessFull(err)
		}
	}
	return rows.Err()
}

// one runs a query of at most one row, and reports whether there was one.
func (t *txn) one(query string, args []any, into ...any) (bool, error) {
	found := false
	err := t.each(query, args, func(row sqlstore.Scanner) error {
		found = true
		return row.Scan(into...)
	})
	return found, err
}

// list runs a query whose rows are one number each.
func (t *txn) list(query string, args ...any) ([]int64, error) {
	var list []int64
	err := t.each(query, args, func(row sqlstore.Scanner) error {
		var n int64
		if err := row.Scan(&n); err != nil {
			return err
		}
		list = append(list, n)
		return nil
	})
	return list, err
}

// inSavepoint rolls back what f wrote if it fails, and nothing that came before.
func (t *txn) inSavepoint(f func() error) error {
	before := *t
	if _, err := t.exec("savepoint fairlead"); err != nil {
		return err
	}
	err := f()
	if err == nil {
		_, err := t.exec("release fairlead")
		return err
	}
	for _, undo := range []string{"rollback to fairlead", "release fairlead"} {
		if _, undoErr := t.exec(undo); undoErr != nil {
			return fmt.Errorf("%w, and the rollback failed: %w", err, undoErr)
		}
	}
	counters := t.counters // numbers given out are not given out again
	*t = before
	t.counters = counters
	return err
}

// idList returns ids as a JSON array: one argument for any number of them.
func idList(ids []int64) string { return jsonOf(ids) }

// jsonOf returns numbers and texts as JSON.
func jsonOf(values any) string {
	text, err := json.Marshal(values)
	if err != nil {
		panic(err) // they always encode
	}
	return string(text)
}

// text returns JSON or other text as an argument, null if it is empty.
func text[T ~[]byte | ~string](value T) any {
	if len(value) == 0 {
		return nil
	}
	return string(value)
}
