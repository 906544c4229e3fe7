package bench

import (
	"context"
	"fmt"
	"net"
	"strings"
	"time"
)

// Server is the database below a scheduler, observed from the side.
type Server interface {
	// Name is the store's name in results.
	Name() string
	// Usage is what the server has used so far.
	Usage(ctx context.Context) (Usage, error)
	// HoldSnapshot opens a transaction that can still see everything that
	// existed at this instant, and keeps it open until release is called.
	HoldSnapshot(ctx context.Context) (release func() error, err error)
	Close() error
}

// Usage is a reading; only the difference of two means something. What cannot
// be known, as of a server on another machine, is zero.
type Usage struct {
	CPU        time.Duration
	WAL        int64 // bytes of the server's log; of SQLite, all that this process wrote
	Statements int64
}

// OpenServer observes the database that a URL names.
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

// onThisMachine reports whether an address is one of this machine's. Only then
// may a process id of the server be looked up here.
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
