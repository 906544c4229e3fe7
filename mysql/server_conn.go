package mysql

import (
	"context"
	"database/sql/driver"
	"fmt"
)

// driverConn is what the driver's connections can do. The pool looks for each of these
// separately.
type driverConn interface {
	driver.Conn
	driver.ConnPrepareContext
	driver.ConnBeginTx
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.NamedValueChecker
	driver.SessionResetter
	driver.Validator
}

// serverConn is a connection to a server. It is given up once all processes agree on
// another server: the old one may still answer.
type serverConn struct {
	driverConn
	store *Store
	at    knownServer
	brief bool // it waits for locks more briefly than other calls expect
}

// serverConn wraps a new connection after this process has recognised the server that
// it leads to. Until the store is open, every server is accepted.
func (s *Store) serverConn(ctx context.Context, conn driver.Conn) (driver.Conn, error) {
	full, ok := conn.(driverConn)
	if !ok {
		return nil, fmt.Errorf("the driver's %T does not implement the methods that a pool needs", conn)
	}
	at, err := s.meet(ctx, full)
	return &serverConn{driverConn: full, store: s, at: at}, err
}

func (c *serverConn) current() bool {
	known := c.store.known.Load()
	return known == nil || c.at == knownServer{} || c.at.same(*known)
}

// ResetSession implements driver.SessionResetter: it is called before a connection
// is used again.
func (c *serverConn) ResetSession(ctx context.Context) error {
	if !c.current() || c.brief {
		return driver.ErrBadConn
	}
	return c.driverConn.ResetSession(ctx)
}

// IsValid implements driver.Validator: it is called when a connection is given back.
func (c *serverConn) IsValid() bool { return c.current() && !c.brief && c.driverConn.IsValid() }

// ExecContext implements driver.ExecerContext. A connection whose wait for locks was
// shortened and not restored, because the call ended in between, is not used again.
func (c *serverConn) ExecContext(ctx context.Context, statement string, args []driver.NamedValue) (driver.Result, error) {
	c.brief = c.brief || statement == c.store.sql.WaitNever
	result, err := c.driverConn.ExecContext(ctx, statement, args)
	if err == nil && statement == c.store.sql.WaitAsUsual {
		c.brief = false
	}
	return result, err
}
