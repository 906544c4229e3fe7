package mysql

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"github.com/go-sql-driver/mysql"
)

// handshakePatience is how long a server may be silent before the first connection to
// it is made. It is long enough for a busy server, and for one that first looks up the
// client's name in the DNS.
const handshakePatience = 10 * time.Second

// handshake distinguishes a server that is not MySQL from a slow one. A MySQL server
// speaks first; at PostgreSQL and most others the client does, so the two would wait
// for each other. A server that has sent its handshake once is MySQL, and later
// connections wait for it as long as the call may take.
type handshake struct {
	address  string
	patience time.Duration
	met      atomic.Bool
}

var errNoHandshake = errors.New("the server sent nothing")

// accepted is the context key of a function to call once the server has accepted a
// connection.
type accepted struct{}

// dial connects as the driver does, and then starts the patience. It does not apply to
// a server that cannot be reached.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if begin, ok := ctx.Value(accepted{}).(func()); ok && err == nil {
		begin()
	}
	return conn, err
}

// connect makes a connection to a server that may first have to prove that it is MySQL.
func (g *handshake) connect(ctx context.Context, connector driver.Connector) (driver.Conn, error) {
	if g.met.Load() {
		return connector.Connect(ctx)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var silence *time.Timer
	begin := func() { silence = time.AfterFunc(g.patience, func() { cancel(errNoHandshake) }) }
	conn, err := connector.Connect(context.WithValue(ctx, accepted{}, begin))
	if silence != nil {
		silence.Stop()
	}
	var answer *mysql.MySQLError
	if err == nil || errors.As(err, &answer) {
		g.met.Store(true)
	}
	if err != nil && errors.Is(context.Cause(ctx), errNoHandshake) {
		return nil, fmt.Errorf("%s accepts connections but sent no MySQL or MariaDB greeting within %v: "+
			"check the host and port in the URL; they may belong to a different service", g.address, g.patience)
	}
	return conn, err
}
