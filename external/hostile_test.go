package external_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/sqlite"
)

// switching is a target that switches protocols and then says nothing.
func switching(t *testing.T) (url string, asked *atomic.Int32) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	asked = &atomic.Int32{}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			asked.Add(1)
			go func() {
				defer conn.Close()
				if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
					_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
					_, _ = io.Copy(io.Discard, conn)
				}
			}()
		}
	}()
	return "http://" + listener.Addr().String(), asked
}

// The address of a batch cannot hold the job that tells it of a completion: the job is
// tried again.
func TestAnAddressThatSwitchesProtocolsHoldsNoNotice(t *testing.T) {
	w := newWorld(t, sqlite.Options{})
	w.declare(fairlead.Tenant{})
	w.node(w.store, handlers{"wall.paint": func(context.Context, *fairlead.Job) error { return nil }}, false)
	url, asked := switching(t)
	w.newBatch(url)
	w.eventually("it is told again", func() bool { return asked.Load() > 1 })
}
