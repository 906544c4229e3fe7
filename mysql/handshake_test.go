package mysql

import (
	"context"
	"errors"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/internal/mysqlurl"
	"github.com/fairlead-io/fairlead/internal/testdb"
)

// relay accepts connections and hands each to its function until the test ends.
func relay(t *testing.T, handle func(net.Conn)) (address string) {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go handle(conn)
		}
	}()
	return listener.Addr().String()
}

// silent says nothing until the client gives up.
func silent(conn net.Conn) {
	_, _ = conn.Read(make([]byte, 1))
	_ = conn.Close()
}

func TestASilentServerIsNotMySQL(t *testing.T) {
	address := relay(t, silent)
	s := openImpatient(t, "mysql://root@"+address+"/jobs", 100*time.Millisecond)
	for name, call := range map[string]func(context.Context) error{
		"start":   s.start,
		"schema":  func(ctx context.Context) error { _, err := s.Schema(ctx); return err },
		"migrate": func(ctx context.Context) error { _, err := s.Migrate(ctx); return err },
	} {
		err := call(t.Context())
		if err == nil || !strings.Contains(err.Error(), address+" accepts connections but sent no MySQL or MariaDB greeting") {
			t.Errorf("%s: a silent server is answered with %v", name, err)
		}
	}
}

// TestAServerThatGreetedOnceIsWaitedFor makes the server silent after the first
// connection.
func TestAServerThatGreetedOnceIsWaitedFor(t *testing.T) {
	at := testdb.MySQL(t)
	s := openImpatient(t, at, time.Minute)
	if err := s.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.handshake.patience = time.Millisecond
	config, err := mysqlurl.Parse(strings.Replace(at, mustHost(t, at), relay(t, silent), 1))
	if err != nil {
		t.Fatal(err)
	}
	config.DialFunc = dial
	db, err := s.pool(config, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := db.PingContext(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a server that is slow for once is answered with %v", err)
	}
}

func TestAServerThatIsNotUpIsNotCalledSilent(t *testing.T) {
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = Open(t.Context(), "mysql://root@"+address+"/jobs")
	if err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("a server that is not up is answered with %v", err)
	}
}

func openImpatient(t *testing.T, address string, patience time.Duration) *Store {
	t.Helper()
	s, err := open(address, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	s.handshake.patience = patience
	return s
}

func mustHost(t *testing.T, address string) string {
	t.Helper()
	parsed, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return parsed.Host
}
