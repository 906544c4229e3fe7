package postgres

import (
	"errors"
	"net"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/fairlead-io/fairlead/internal/testdb"
)

func TestAnotherServersPortIsExplained(t *testing.T) {
	parsed, err := url.Parse(testdb.MySQL(t))
	if err != nil {
		t.Fatal(err)
	}
	addresses := []string{parsed.Host}
	// The first byte of a greeting is its length, which the driver takes for the type
	// of a message: one at another time, a malformed one, and one that there is not.
	for _, first := range []string{"n", "Z", "j"} {
		addresses = append(addresses, greeter(t, first+"\x00\x00\x00\x0a11.4.2-MariaDB"))
	}
	for _, address := range addresses {
		for _, mode := range []string{"disable", "prefer"} {
			_, err := Open(t.Context(), "postgres://u@"+address+"/jobs?sslmode="+mode)
			var failed *pgconn.ConnectError
			if !errors.As(err, &failed) || !strings.Contains(err.Error(), address) || !strings.Contains(err.Error(), "check the host and port") || strings.Contains(err.Error(), "%!w") {
				t.Errorf("sslmode=%s: %v", mode, err)
			}
		}
	}
}

func TestAServerThatHangsUpIsNotCalledAnother(t *testing.T) {
	_, err := Open(t.Context(), "postgres://u@"+greeter(t, "")+"/jobs?sslmode=disable")
	if err == nil || strings.Contains(err.Error(), "check the host and port") {
		t.Error(err)
	}
}

// greeter listens, says words to each client that connects, and hangs up once the client
// has spoken.
func greeter(t *testing.T, words string) (address string) {
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
			_, _ = conn.Write([]byte(words))
			_, _ = conn.Read(make([]byte, 1024))
			_ = conn.Close()
		}
	}()
	return listener.Addr().String()
}
