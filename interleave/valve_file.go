package interleave

import (
	"context"
	"database/sql/driver"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	driversqlite "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"
)

// A fileValve is a valve in front of a database file: it wraps the connections of SQLite's
// driver. A transaction of the store is one round trip, and so is each query outside of a
// transaction. A caller's transaction also stops before it ends.
type fileValve struct {
	shutter
	name  string
	conns map[*fileConn]bool
	begun int // number of transactions
	notes []string
}

// errCut is the error of a connection that the valve has broken.
var errCut = errors.New("the valve has cut the connection")

func newFileValve(name string) *fileValve {
	return &fileValve{shutter: newShutter(), name: name, conns: map[*fileConn]bool{}}
}

func (v *fileValve) addr() string { return v.name }
func (v *fileValve) end()         { v.cut() }

// close implements valve.
func (v *fileValve) close() {
	v.shutter.close()
	v.mu.Lock()
	defer v.mu.Unlock()
	v.begun, v.notes = 0, nil
}

// cut implements valve. A connection with an open transaction rolls back when its owner next
// uses it.
func (v *fileValve) cut() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.dead = true
	for c := range v.conns {
		c.breaks()
	}
	v.release()
}

// having returns the numbers of the connections that a condition holds for.
func (v *fileValve) having(condition func(c *fileConn) bool) (numbers []int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for c := range v.conns {
		if condition(c) {
			numbers = append(numbers, c.number)
		}
	}
	return numbers
}

// ports implements valve: connections are numbered.
func (v *fileValve) ports() []int { return v.having(func(*fileConn) bool { return true }) }

// inTransaction implements valve.
func (v *fileValve) inTransaction() bool {
	return len(v.having(func(c *fileConn) bool { return c.began.Load() })) > 0
}

// passed implements valve.
func (v *fileValve) passed() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	notes := v.notes
	v.notes = nil
	return notes
}

// transactions returns how many transactions have begun since the valve was closed.
func (v *fileValve) transactions() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.begun
}

// note records a statement that passes without a stop.
func (v *fileValve) note(statement string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.notes = append(v.notes, statement)
}

// decide waits for the player's decision about a round trip.
func (v *fileValve) decide(c *fileConn, statement string) decision {
	opened := v.holds()
	switch {
	case c.broken():
		return refuse
	case opened == nil:
		return pass
	}
	return v.shutter.decide([]string{statement}, opened, c.gone)
}

// connector returns a connector for the store of the actor, or for its caller's transactions.
func (v *fileValve) connector(name string, caller bool) (driver.Connector, error) {
	inner, err := driversqlite.NewConnector(name)
	return fileConnector{inner, v, caller}, err
}

type fileConnector struct {
	driver.Connector
	valve  *fileValve
	caller bool
}

var lastConn atomic.Int64

// Connect implements driver.Connector.
func (o fileConnector) Connect(ctx context.Context) (driver.Conn, error) {
	o.valve.mu.Lock()
	dead := o.valve.dead
	o.valve.mu.Unlock()
	if dead {
		return nil, errCut
	}
	inner, err := o.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	c := &fileConn{sqliteConn: inner.(sqliteConn), valve: o.valve, caller: o.caller, number: int(lastConn.Add(1)), gone: make(chan struct{})}
	o.valve.mu.Lock()
	defer o.valve.mu.Unlock()
	o.valve.conns[c] = true
	return c, nil
}

// sqliteConn lists the methods of a connection that database/sql calls.
type sqliteConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// A fileConn is one connection through a file valve.
type fileConn struct {
	sqliteConn
	valve  *fileValve
	caller bool
	number int
	gone   chan struct{}
	once   sync.Once

	began   atomic.Bool // a transaction is open
	waiting atomic.Bool // the database was locked when a transaction should begin
	muted   atomic.Bool // the connection breaks before the answer to the current round trip
}

func (c *fileConn) breaks() { c.once.Do(func() { close(c.gone) }) }

func (c *fileConn) broken() bool {
	select {
	case <-c.gone:
		return true
	default:
		return false
	}
}

// Close implements driver.Conn.
func (c *fileConn) Close() error {
	c.breaks()
	err := c.sqliteConn.Close()
	c.began.Store(false)
	c.valve.mu.Lock()
	defer c.valve.mu.Unlock()
	delete(c.valve.conns, c)
	return err
}

// IsValid implements driver.Validator.
func (c *fileConn) IsValid() bool { return !c.broken() && c.sqliteConn.IsValid() }

// ResetSession implements driver.SessionResetter.
func (c *fileConn) ResetSession(ctx context.Context) error {
	if c.broken() {
		return driver.ErrBadConn
	}
	return c.sqliteConn.ResetSession(ctx)
}

// callerPatience is the longest wait of a caller for the write lock.
const callerPatience = 5 * time.Second

// BeginTx implements driver.ConnBeginTx. The store repeats it while the database is locked:
// that belongs to the same round trip.
func (c *fileConn) BeginTx(ctx context.Context, options driver.TxOptions) (driver.Tx, error) {
	if !c.waiting.Load() {
		switch c.valve.decide(c, "transaction") {
		case refuse:
			c.breaks()
			return nil, errCut
		case lose:
			c.muted.Store(!c.caller)
			defer func() {
				if c.caller {
					c.breaks()
				}
			}()
		}
	}
	for begin := time.Now(); ; {
		if c.broken() {
			return nil, errCut
		}
		tx, err := c.sqliteConn.BeginTx(ctx, options)
		c.waiting.Store(locked(err))
		if err == nil {
			c.began.Store(true)
			c.valve.mu.Lock()
			c.valve.begun++
			c.valve.mu.Unlock()
			return &fileTx{tx, c}, nil
		}
		if !c.waiting.Load() || !c.caller || time.Since(begin) > callerPatience {
			return nil, err
		}
		select {
		case <-ctx.Done():
			c.waiting.Store(false)
			return nil, ctx.Err()
		case <-time.After(time.Millisecond):
		}
	}
}

// locked reports whether another connection has locked the database.
func locked(err error) bool {
	var e *driversqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == codes.SQLITE_BUSY
}

// A fileTx is a transaction through a file valve.
type fileTx struct {
	tx   driver.Tx
	conn *fileConn
}

// Commit implements driver.Tx.
func (t *fileTx) Commit() error { return t.end("commit", t.tx.Commit) }

// Rollback implements driver.Tx.
func (t *fileTx) Rollback() error { return t.end("rollback", t.tx.Rollback) }

func (t *fileTx) end(statement string, end func() error) error {
	c := t.conn
	d := pass
	if c.caller {
		d = c.valve.decide(c, statement)
	} else {
		c.valve.note(statement)
	}
	if d == refuse || c.broken() {
		return errors.Join(t.abort(), errCut)
	}
	err := end()
	c.began.Store(false)
	if err != nil {
		return err
	}
	if d == lose || c.muted.Swap(false) {
		c.breaks()
		return errCut
	}
	return nil
}

// abort rolls back, as the database does when a process has died.
func (t *fileTx) abort() error {
	t.conn.breaks()
	err := t.tx.Rollback()
	t.conn.began.Store(false)
	return err
}

// alone plays a statement: within a transaction it passes, otherwise it is a round trip.
func alone[T any](c *fileConn, statement string, run func() (T, error)) (T, error) {
	var none T
	if c.broken() {
		return none, errCut
	}
	if c.began.Load() {
		c.valve.note(statement)
		return run()
	}
	d := c.valve.decide(c, statement)
	if d == refuse {
		c.breaks()
		return none, errCut
	}
	result, err := run()
	if d == lose {
		if rows, reads := any(result).(driver.Rows); reads && err == nil {
			err = rows.Close()
		}
		c.breaks()
		return none, errors.Join(err, errCut)
	}
	return result, err
}

// ExecContext implements driver.ExecerContext.
func (c *fileConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	return alone(c, query, func() (driver.Result, error) { return c.sqliteConn.ExecContext(ctx, query, args) })
}

// QueryContext implements driver.QueryerContext.
func (c *fileConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	return alone(c, query, func() (driver.Rows, error) { return c.sqliteConn.QueryContext(ctx, query, args) })
}

// PrepareContext implements driver.ConnPrepareContext.
func (c *fileConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	if c.broken() {
		return nil, driver.ErrBadConn
	}
	stmt, err := c.sqliteConn.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	return &fileStmt{stmt.(sqliteStmt), c, query}, nil
}

// sqliteStmt lists the methods of a prepared statement that database/sql calls.
type sqliteStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

type fileStmt struct {
	sqliteStmt
	conn  *fileConn
	query string
}

// ExecContext implements driver.StmtExecContext.
func (s *fileStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	return alone(s.conn, s.query, func() (driver.Result, error) { return s.sqliteStmt.ExecContext(ctx, args) })
}

// QueryContext implements driver.StmtQueryContext.
func (s *fileStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return alone(s.conn, s.query, func() (driver.Rows, error) { return s.sqliteStmt.QueryContext(ctx, args) })
}
