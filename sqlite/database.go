package sqlite

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"

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
	_, err := inTx(ctx, d.Store, verb, func(t *txn) (none, error) { return none{}, t.shared(f) })
	return err
}

// Read implements sqlstore.Database.
func (d database) Read(ctx context.Context, verb string, f func(ctx context.Context, db sqlstore.DB) error) error {
	_, err := read(ctx, d.Store, verb, func(t *txn) (none, error) { return none{}, t.shared(f) })
	return err
}

// ReadAll implements sqlstore.Database.
func (d database) ReadAll(ctx context.Context, verb string, f func(ctx context.Context, db sqlstore.DB) error) error {
	return d.Read(ctx, verb, f)
}

// ChangeLimits implements sqlstore.LimitChanges: claims are transactions of the same writer.
func (d database) ChangeLimits(ctx context.Context, verb string, f func(ctx context.Context, change sqlstore.LimitChange) error) error {
	_, err := inTx(ctx, d.Store, verb, func(t *txn) (none, error) {
		version, err := t.beginLimitChange()
		if err != nil {
			return none{}, err
		}
		t.wrote = false // a new version alone leaves nothing to undo if the change is refused
		change := &limitChange{DB: t.db(), t: t, version: version}
		if err := f(t.ctx, change); err != nil {
			return none{}, err
		}
		return none{}, change.Flush(t.ctx)
	})
	return err
}

// NameLane names a lane of jobs that were just read.
func (d database) NameLane(_ context.Context, db sqlstore.DB, id int32) (sqlstore.LaneKey, error) {
	return db.(*txnDB).t.laneNamed(id)
}

// callerDatabase is a caller's transaction as those features see it.
type callerDatabase struct {
	caller *callerTx
}

// InTx implements sqlstore.Database.
func (d callerDatabase) InTx(ctx context.Context, verb string, f func(ctx context.Context, db sqlstore.DB) error) error {
	_, err := within(ctx, d.caller, verb, func(t *txn) (none, error) {
		return none{}, t.inSavepoint(func() error { return t.shared(f) })
	})
	return err
}

// Read implements sqlstore.Database.
func (d callerDatabase) Read(ctx context.Context, verb string, f func(ctx context.Context, db sqlstore.DB) error) error {
	_, err := within(ctx, d.caller, verb, func(t *txn) (none, error) { return none{}, t.shared(f) })
	return err
}

// ReadAll implements sqlstore.Database.
func (d callerDatabase) ReadAll(ctx context.Context, verb string, f func(ctx context.Context, db sqlstore.DB) error) error {
	return d.Read(ctx, verb, f)
}

// shared runs a function of a feature that is written once for all stores.
func (t *txn) shared(f func(ctx context.Context, db sqlstore.DB) error) error {
	db := t.db()
	if err := f(t.ctx, db); err != nil {
		return err
	}
	return db.Flush(t.ctx)
}

// txnDB is a transaction as a sqlstore.DB.
type txnDB struct {
	sqlstore.InOrder
	t *txn
}

// db is the transaction as a sqlstore.DB.
func (t *txn) db() *txnDB {
	db := &txnDB{t: t}
	db.InOrder = sqlstore.InOrder{Run: db.run, Ask: db.ask}
	return db
}

// WakeLater implements sqlstore.DB.
func (d *txnDB) WakeLater() { d.t.wakes.later = true }

// run runs a statement that writes: once, or for each of some rows. If it contains {{rows}},
// it gets all of them at once.
func (d *txnDB) run(_ context.Context, statement string, args ...any) (int64, error) {
	scalars, rows := sqlstore.SplitRows(args)
	if rows == nil {
		return d.runOnce(statement, scalars)
	}
	if statement, scalars, together := withRows(statement, scalars, rows); together {
		return d.runOnce(statement, scalars)
	}
	total := int64(0)
	for _, tuple := range rows.Tuples() {
		hit, err := d.runOnce(statement, append(scalars[:len(scalars):len(scalars)], tuple...))
		if err != nil {
			return total, err
		}
		total += hit
	}
	return total, nil
}

func (d *txnDB) runOnce(statement string, args []any) (int64, error) {
	text, bound, err := d.bind(statement, args)
	if err != nil {
		return 0, err
	}
	wrote := d.t.wrote
	hit, err := d.t.exec(text, bound...)
	// A statement that hits nothing leaves nothing to undo if the function refuses.
	d.t.wrote = wrote || hit > 0 || err != nil
	return hit, err
}

func (d *txnDB) ask(_ context.Context, scan func(sqlstore.Scanner) error, statement string, args ...any) error {
	if scalars, rows := sqlstore.SplitRows(args); rows != nil {
		statement, args, _ = withRows(statement, scalars, rows)
	}
	text, bound, err := d.bind(statement, args)
	if err != nil {
		return err
	}
	return d.t.each(text, bound, scan)
}

// rowsArgument replaces {{rows}}: a JSON array of arrays.
const rowsArgument = ":rows"

// withRows makes rows one argument of a statement that contains them as such. They are
// numbers, strings and truth values.
func withRows(statement string, args []any, rows *sqlstore.Rows) (text string, bound []any, together bool) {
	if !strings.Contains(statement, rowsArgument) {
		return statement, args, false
	}
	bound = append(slices.Clip(args), jsonOf(rows.Tuples()))
	return strings.ReplaceAll(statement, rowsArgument, "?"+strconv.Itoa(len(bound))), bound, true
}

// Arguments that no caller gives: {{now}} is the clock, and {{new_token}} a new number of
// the counter token. A statement with one of them numbers its own: ?1, ?2.
const (
	clockArgument = "now"
	newArgument   = "new_"
)

var ownArgument = regexp.MustCompile(`:(now|new_(\w+))`)

// bind makes the arguments of a statement what SQLite takes, and puts those behind them
// that no caller gives.
func (d *txnDB) bind(statement string, args []any) (string, []any, error) {
	bound := make([]any, len(args), len(args)+1)
	for i, arg := range args {
		bound[i] = bindValue(arg)
	}
	defer func(wrote bool) { d.t.wrote = wrote }(d.t.wrote) // numbers leave nothing to undo
	for {
		own := ownArgument.FindStringSubmatch(statement)
		if own == nil {
			return statement, bound, nil
		}
		value := d.t.now
		if own[1] != clockArgument {
			number, err := d.t.next(counter(own[2]), 1)
			if err != nil {
				return "", nil, err
			}
			value = number
		}
		bound = append(bound, value)
		statement = strings.ReplaceAll(statement, own[0], "?"+strconv.Itoa(len(bound)))
	}
}

func bindValue(arg any) any {
	switch arg := arg.(type) {
	case []byte:
		return blob(arg)
	case sqlstore.JSON:
		return text(arg)
	case sqlstore.List[int32]:
		return bindList(arg)
	case sqlstore.List[int64]:
		return bindList(arg)
	case sqlstore.List[string]:
		return bindList(arg)
	case sqlstore.Except:
		return idList(arg)
	}
	return arg
}

func bindList[T int32 | int64 | string](list sqlstore.List[T]) any {
	if list == nil {
		return nil
	}
	return jsonOf(list)
}
