package mysql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// database is the store as those features see it that are written once for all stores.
type database struct {
	*Store
}

// WithTimeout implements sqlstore.Scheduling.
func (d database) WithTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	return d.withTimeout(ctx)
}

// InTx implements sqlstore.Database.
func (d database) InTx(ctx context.Context, verb string, f func(ctx context.Context, db sqlstore.DB) error) error {
	return d.Store.inTx(ctx, verb, func(ctx context.Context, t *txn) error { return t.shared(ctx, f) })
}

// Read implements sqlstore.Database.
func (d database) Read(ctx context.Context, verb string, f func(ctx context.Context, db sqlstore.DB) error) error {
	ctx, cancel := d.Store.withTimeout(ctx)
	defer cancel()
	db := newDB(&txn{Store: d.Store}, d.Store.db)
	err := f(ctx, db)
	if err == nil {
		err = db.Flush(ctx)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", verb, err)
	}
	return nil
}

// ReadAll implements sqlstore.Database.
func (d database) ReadAll(ctx context.Context, verb string, f func(ctx context.Context, db sqlstore.DB) error) error {
	return d.Read(ctx, verb, f)
}

// ChangeLimits implements sqlstore.LimitChanges.
func (d database) ChangeLimits(ctx context.Context, verb string, f func(ctx context.Context, change sqlstore.LimitChange) error) error {
	return d.inLimitChange(ctx, verb, func(ctx context.Context, r *limitChange) error { return f(ctx, r) })
}

// NameLane names a lane of jobs that were just read.
func (d database) NameLane(ctx context.Context, _ sqlstore.DB, id int32) (sqlstore.LaneKey, error) {
	return d.laneKey(ctx, id)
}

// callerDatabase is a caller's transaction as those features see it.
type callerDatabase struct {
	caller *callerTx
}

// InTx implements sqlstore.Database.
func (d callerDatabase) InTx(ctx context.Context, verb string, f func(ctx context.Context, db sqlstore.DB) error) error {
	_, err := inCallers(ctx, d.caller, verb, func(ctx context.Context, t *txn) (struct{}, error) { return struct{}{}, t.shared(ctx, f) })
	return err
}

// Read implements sqlstore.Database.
func (d callerDatabase) Read(ctx context.Context, verb string, f func(ctx context.Context, db sqlstore.DB) error) error {
	return d.InTx(ctx, verb, f)
}

// ReadAll implements sqlstore.Database.
func (d callerDatabase) ReadAll(ctx context.Context, verb string, f func(ctx context.Context, db sqlstore.DB) error) error {
	return d.InTx(ctx, verb, f)
}

// shared runs a function of a feature that is written once for all stores.
func (t *txn) shared(ctx context.Context, f func(ctx context.Context, db sqlstore.DB) error) error {
	db := t.db()
	if err := f(ctx, db); err != nil {
		return err
	}
	return db.Flush(ctx)
}

// txnDB is a transaction as a sqlstore.DB, or connections for statements that only read.
type txnDB struct {
	sqlstore.InOrder
	t  *txn
	on querier
}

// newDB makes one that reads on some connections.
func newDB(t *txn, on querier) *txnDB {
	db := &txnDB{t: t, on: on}
	db.InOrder = sqlstore.InOrder{Run: db.run, Ask: db.ask}
	return db
}

// db is the transaction as a sqlstore.DB.
func (t *txn) db() *txnDB { return newDB(t, t.tx) }

// WakeLater implements sqlstore.DB.
func (d *txnDB) WakeLater() { d.t.wakes.later = true }

func (d *txnDB) run(ctx context.Context, statement string, args ...any) (total int64, err error) {
	err = d.eachText(ctx, statement, args, func(text string, args []any) error {
		hit, err := d.t.exec(ctx, text, args...)
		total += hit
		return err
	})
	if isDuplicate(err) && strings.Contains(statement, unlessTaken) {
		return 0, nil // only the statement is undone
	}
	return total, err
}

func (d *txnDB) ask(ctx context.Context, scan func(sqlstore.Scanner) error, statement string, args ...any) error {
	return d.eachText(ctx, statement, args, func(text string, args []any) error {
		return each(ctx, d.on, func(row *sql.Rows) error { return scan(row) }, text, args...)
	})
}

// eachText runs a statement for each part of its list, or of its rows.
func (d *txnDB) eachText(ctx context.Context, statement string, args []any, run func(text string, args []any) error) error {
	statement, err := d.setClock(ctx, statement)
	if err != nil {
		return err
	}
	scalars, parts := bind(args, statement)
	for _, text := range parts {
		if err := run(text, scalars); err != nil {
			return err
		}
	}
	return nil
}

// setClock puts the time into a statement that needs it as a constant, for the range of an
// index, and into one of a caller's transaction, whose session may be in any time zone.
func (d *txnDB) setClock(ctx context.Context, statement string) (string, error) {
	if strings.Contains(statement, clockSlot) {
		now, err := d.t.clock(ctx)
		return strings.ReplaceAll(statement, clockSlot, decimal(now)), err
	}
	if !d.t.callers || !strings.Contains(statement, d.t.options.Now) {
		return statement, nil
	}
	now, err := d.t.clock(ctx)
	return strings.ReplaceAll(statement, d.t.options.Now, decimal(now)), err
}

const clockSlot = "{{clock}}"

// errDuplicate is the server's answer to a key that is taken.
const errDuplicate = 1062

// unlessTaken marks an insert that hits no row if a key is taken. There is no clause for
// that: "ignore" would ignore more, and an update that changes nothing counts as a hit.
const unlessTaken = "/* unless taken */"

// isDuplicate reports whether the server refused a key that is taken.
func isDuplicate(err error) bool {
	var answer *mysql.MySQLError
	return errors.As(err, &answer) && answer.Number == errDuplicate
}
