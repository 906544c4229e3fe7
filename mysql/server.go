package mysql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// knownServer is what a server reports about itself. Another server may have lost commits of
// the last one, and so may the same one after a restart.
type knownServer struct {
	name  string
	start int64 // seconds since 1970
}

// startSlack is by how many seconds two readings of one start may differ: servers
// report their uptime in whole seconds.
const startSlack = 3

// same reports whether two connections lead to one server that was not restarted in
// between.
func (s knownServer) same(other knownServer) bool {
	return s.name == other.name && max(s.start-other.start, other.start-s.start) <= startSlack
}

// String returns the server as the database stores it.
func (s knownServer) String() string { return s.name + " " + strconv.FormatInt(s.start, 10) }

// parseServer reads what String wrote. Any other text stands for a server that is gone.
func parseServer(text string) knownServer {
	name, start, _ := strings.Cut(text, " ")
	seconds, _ := strconv.ParseInt(start, 10, 64) // no server was started in 1970
	return knownServer{name: name, start: seconds}
}

// identify reads which server a connection leads to.
func (s *Store) identify(ctx context.Context, conn driver.QueryerContext) (knownServer, error) {
	name, err := askOnce(ctx, conn, s.sql.ServerName)
	if err != nil {
		return knownServer{}, fmt.Errorf("read the identity of the server: %w", err)
	}
	uptime, err := askOnce(ctx, conn, s.sql.ServerUptime)
	if err != nil {
		return knownServer{}, fmt.Errorf("read the uptime of the server: %w", err)
	}
	now, err := strconv.ParseInt(name[1], 10, 64)
	if err != nil {
		return knownServer{}, fmt.Errorf("parse the server's clock: %w", err)
	}
	seconds, err := strconv.ParseInt(uptime[1], 10, 64)
	if err != nil {
		return knownServer{}, fmt.Errorf("parse the server's uptime: %w", err)
	}
	return knownServer{name: name[0], start: now/1e6 - seconds}, nil
}

// askOnce reads the only row of an answer, two columns, on a connection that is not in
// a pool.
func askOnce(ctx context.Context, conn driver.QueryerContext, question string) (texts [2]string, err error) {
	rows, err := conn.QueryContext(ctx, question, nil)
	if err != nil {
		return texts, err
	}
	defer rows.Close()
	values := make([]driver.Value, len(rows.Columns()))
	if err := rows.Next(values); err != nil {
		return texts, err
	}
	if len(values) != len(texts) {
		return texts, fmt.Errorf("got %d columns, want %d", len(values), len(texts))
	}
	for i, value := range values {
		switch value := value.(type) {
		case []byte:
			texts[i] = string(value)
		default:
			texts[i] = fmt.Sprint(value)
		}
	}
	if err := rows.Next(values); !errors.Is(err, io.EOF) {
		return texts, fmt.Errorf("more than one row: %w", err)
	}
	return texts, nil
}

// meet identifies the server of a new connection, and recognises it once the store is
// open.
func (s *Store) meet(ctx context.Context, conn driverConn) (knownServer, error) {
	known := s.known.Load()
	if known == nil {
		return knownServer{}, nil
	}
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	found, err := s.identify(ctx, conn)
	if err != nil || found.same(*known) {
		return found, err
	}
	lent := sql.OpenDB(connLender{conn})
	defer lent.Close()
	_, err = s.recognise(ctx, lent, found, noLoss)
	return found, err
}

// connLender makes a database handle of one connection, which outlives the handle.
type connLender struct{ conn driver.Conn }

// Connect implements driver.Connector.
func (l connLender) Connect(context.Context) (driver.Conn, error) { return lentConn{l.conn}, nil }

// Driver implements driver.Connector.
func (l connLender) Driver() driver.Driver { return nil }

// lentConn is a connection that its user does not close.
type lentConn struct{ driver.Conn }

// Close implements driver.Conn.
func (lentConn) Close() error { return nil }

// meetOnce identifies the server that the lifeline leads to, and recognises it.
func (s *Store) meetOnce(ctx context.Context, lostUnder int64) (agreement, error) {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	conn, err := s.lifeline.Conn(ctx)
	if err != nil {
		return agreement{}, unavailable(ctx, err)
	}
	defer conn.Close()
	var found knownServer
	err = conn.Raw(func(raw any) error {
		found, err = s.identify(ctx, raw.(*serverConn))
		return err
	})
	if err != nil {
		return agreement{}, unavailable(ctx, err)
	}
	return s.recognise(ctx, conn, found, lostUnder)
}
