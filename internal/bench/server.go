package bench

import (
	"context"
	"fmt"
	"net"
	"strings"
	"time"
)

// Server is the database of a scheduler, observed separately.
type Server interface {
	// Name returns the store's name in results.
	Name() string
	// Usage returns the usage of the server so far.
	Usage(ctx context.Context) (Usage, error)
	// HoldSnapshot opens a transaction that can see everything that exists at this time, and
	// leaves it open until release is called.
	HoldSnapshot(ctx context.Context) (release func() error, err error)
	Close() error
}

// Usage is a reading; only the difference between two readings is meaningful. Unknown
// values, for example for a server on another machine, are zero.
type Usage struct {
	CPU        time.Duration
	WAL        int64 // bytes of the server's log; for SQLite, everything written by this process
	Statements int64
}

// OpenServer opens a connection to observe the database with a URL.
func OpenServer(ctx context.Context, url string) (Server, error) {
	scheme, _, _ := strings.Cut(url, "://")
	switch scheme {
	case "postgres", "postgresql":
		return openPostgres(ctx, url)
	case "mysql":
		return openMySQL(ctx, url)
	case "sqlite":
		return &sqliteServer{url: url}, nil
	default:
		return nil, fmt.Errorf("%s databases are not supported", scheme)
	}
}

// onThisMachine reports whether an address belongs to this machine. Only in that case does
// the server's process ID refer to a local process.
func onThisMachine(host string) bool {
	if host == "" || host == "localhost" || strings.HasPrefix(host, "/") {
		return true
	}
	ip := net.ParseIP(host)
	if ip == nil {
		return false
	}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return ip.IsLoopback()
	}
	for _, address := range addresses {
		if network, ok := address.(*net.IPNet); ok && network.IP.Equal(ip) {
			return true
		}
	}
	return ip.IsLoopback()
}
