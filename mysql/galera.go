package mysql

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Every member of a Galera cluster takes writes, but row locks and named locks hold on
// one member only: processes that write to different members would exceed limits and
// migrate at the same time. So all processes agree on one member, by a row that the
// processes at that member keep from expiring. The store refuses a connection to
// another member. When all processes have moved to another member, the row expires and
// the first of them takes it.

const (
	memberLease = 6 * time.Second // after which a member counts as abandoned
	memberRenew = 2 * time.Second // how often a process renews the row
	// openPatience is how long Open waits while another member is in use: longer than
	// it takes to move all processes from one member to another.
	openPatience = 2 * memberLease
	// galeraRecheck is how long the answer that a server is no member is trusted.
	galeraRecheck = time.Minute
)

// memberName is the name that a member reports.
const memberName = "concat_ws(' ', @@wsrep_node_name, @@hostname, @@port)"

// otherMemberError reports that a connection reached another member of a Galera cluster
// than the one that other processes write to. It is a fairlead.ErrUnavailable.
type otherMemberError struct {
	Reached string // its name, host and port
	InUse   string
}

func (e *otherMemberError) Error() string {
	return fmt.Sprintf("this connection reached member %q of a Galera cluster while other processes write to member %q, "+
		"but locks hold on one member only: point all processes at the same member, or at a proxy that sends all of them to one writer",
		e.Reached, e.InUse)
}

// Is makes it a fairlead.ErrUnavailable: it passes when all processes use one member.
func (e *otherMemberError) Is(target error) bool { return target == fairlead.ErrUnavailable }

// galera keeps the connections of this process at the member that all processes write
// to. It does nothing at a server that is no member of a cluster.
type galera struct {
	store *Store

	mu      sync.Mutex
	nowhere time.Time // when a server last reported that it is no member
	member  string    // the member that this process may write to
	until   time.Time // by this process's clock
	closed  bool
	stop    context.CancelFunc // of the goroutine that renews
	ended   chan struct{}
}

// admit accepts a new connection, unless it reached the wrong member.
func (g *galera) admit(ctx context.Context, conn driver.Conn) (driver.Conn, error) {
	member, err := g.memberAt(ctx, conn)
	if err != nil || member == "" {
		return conn, err
	}
	server, ok := conn.(driverConn)
	if !ok {
		return nil, fmt.Errorf("the driver's %T cannot be pinned to one member", conn)
	}
	c := &memberConn{driverConn: server, galera: g, member: member}
	if g.holds(member) {
		return c, nil
	}
	return c, g.take(ctx, c)
}

// memberAt returns the name of the member that a connection reached; empty if the
// server is no member.
func (g *galera) memberAt(ctx context.Context, conn driver.Conn) (string, error) {
	g.mu.Lock()
	known := time.Since(g.nowhere) < galeraRecheck
	g.mu.Unlock()
	if known {
		return "", nil
	}
	answer, err := texts(ctx, conn, g.store.sql.Member)
	if err != nil {
		return "", fmt.Errorf("check for Galera: %w", err)
	}
	variables := map[string]string{}
	for _, row := range answer {
		variables[row[0]] = row[1]
	}
	if provider := variables["wsrep_provider"]; variables["wsrep_on"] != "ON" || provider == "" || provider == "none" {
		g.mu.Lock()
		g.nowhere = time.Now()
		g.mu.Unlock()
		return "", nil
	}
	return variables["wsrep_node_name"] + " " + variables["hostname"] + " " + variables["port"], nil
}

// holds reports whether the process may write to a member now.
func (g *galera) holds(member string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.member == member && time.Now().Before(g.until)
}

// take records that this process writes to the member of a connection. It fails with an
// otherMemberError if processes write to another one.
func (g *galera) take(ctx context.Context, c *memberConn) error {
	sent := time.Now()
	taken := false
	err := sqlstore.Retry(ctx, transient, func() (err error) {
		if taken, err = executes(ctx, c.driverConn, g.store.sql.TakeMember); !isMissing(err) {
			return err
		}
		for _, statement := range []string{g.store.sql.WriterTable, g.store.sql.WriterRow} {
			if _, err := executes(ctx, c.driverConn, statement); err != nil {
				return explainDenied(err)
			}
		}
		taken, err = executes(ctx, c.driverConn, g.store.sql.TakeMember)
		return err
	})
	if err != nil {
		return fmt.Errorf("choose a member of the Galera cluster: %w", err)
	}
	if taken {
		g.taken(c.member, sent.Add(memberLease))
		return nil
	}
	other := &otherMemberError{Reached: c.member}
	if answer, err := texts(ctx, c.driverConn, g.store.sql.MemberTaken); err == nil && len(answer) > 0 {
		other.InUse = answer[0][0]
	}
	return other
}

// taken remembers the agreed member and starts to renew it.
func (g *galera) taken(member string, until time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.member, g.until = member, until
	if g.stop != nil || g.closed {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	g.stop, g.ended = stop, ended
	go func() {
		defer close(ended)
		g.keepRenewing(ctx)
	}()
}

// keepRenewing renews the row of this process's member. If that fails, each connection
// tries again before it is used.
func (g *galera) keepRenewing(ctx context.Context) {
	ticker := time.NewTicker(memberRenew)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			_ = g.renew(ctx) // see above
		}
	}
}

func (g *galera) renew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, memberLease)
	defer cancel()
	conn, err := g.store.lifeline.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	return conn.Raw(func(conn any) error {
		at, ok := conn.(*serverConn)
		if !ok {
			return fmt.Errorf("the pool holds a %T", conn)
		}
		c, ok := at.driverConn.(*memberConn)
		if !ok { // the server is no longer a member
			return nil
		}
		return g.take(ctx, c)
	})
}

// awaitMember waits for other processes to move, if they use another member.
func (g *galera) awaitMember(ctx context.Context) error {
	for begin := time.Now(); ; {
		err := g.reach(ctx)
		var other *otherMemberError
		switch {
		case !errors.As(err, &other): // later calls find and report other errors
			return nil
		case time.Since(begin) > openPatience:
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(memberRenew / 2):
		}
	}
}

// reach makes sure that the server can be reached.
func (g *galera) reach(ctx context.Context) error {
	ctx, cancel := g.store.withTimeout(ctx)
	defer cancel()
	return g.store.lifeline.PingContext(ctx)
}

func (g *galera) close() {
	g.mu.Lock()
	g.closed = true
	stop, ended := g.stop, g.ended
	g.mu.Unlock()
	if stop != nil {
		stop()
		<-ended
	}
}

// errNoTable is the server's error about a missing table.
const errNoTable = 1146

func isMissing(err error) bool {
	var answer *mysql.MySQLError
	return errors.As(err, &answer) && answer.Number == errNoTable
}

// memberConn is a connection to a member of a cluster.
type memberConn struct {
	driverConn
	galera *galera
	member string
}

// ResetSession is called before a connection is used again. It gives the connection up
// if the process may no longer write to the member.
func (c *memberConn) ResetSession(ctx context.Context) error {
	if err := c.driverConn.ResetSession(ctx); err != nil {
		return err
	}
	if c.galera.holds(c.member) || c.galera.take(ctx, c) == nil {
		return nil
	}
	return driver.ErrBadConn
}

// executes runs a statement and reports whether it found a row.
func executes(ctx context.Context, conn driver.ExecerContext, statement string) (bool, error) {
	result, err := conn.ExecContext(ctx, statement, nil)
	if err != nil {
		return false, err
	}
	hit, err := result.RowsAffected()
	return hit > 0, err
}

// texts reads all rows of an answer as text.
func texts(ctx context.Context, conn driver.Conn, question string) ([][]string, error) {
	queryer, ok := conn.(driver.QueryerContext)
	if !ok {
		return nil, fmt.Errorf("the driver's %T does not support queries", conn)
	}
	answer, err := queryer.QueryContext(ctx, question, nil)
	if err != nil {
		return nil, err
	}
	var all [][]string
	values := make([]driver.Value, len(answer.Columns()))
	for err = answer.Next(values); err == nil; err = answer.Next(values) {
		row := make([]string, len(values))
		for i, value := range values {
			if text, ok := value.([]byte); ok {
				row[i] = string(text)
			}
		}
		all = append(all, row)
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return all, errors.Join(err, answer.Close())
}
