package external_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/sqlite"
)

// switching starts a target that switches protocols and then sends nothing.
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

// The notification URL of a batch cannot block the job that reports a completion: the job
// is retried.
func TestAnAddressThatSwitchesProtocolsHoldsNoNotice(t *testing.T) {
	w := newWorld(t, sqlite.Options{})
	w.declare(fairlead.Tenant{})
	w.node(w.store, handlers{"wall.paint": func(context.Context, *fairlead.Job) error { return nil }}, false)
	url, asked := switching(t)
	w.newBatch(url)
	w.eventually("it is told again", func() bool { return asked.Load() > 1 })
}

// A batch sends no message to an address of this side's network, however that is
// written. A spelling that cannot be stored gets none either.
func TestABatchTellsNoForbiddenAddress(t *testing.T) {
	w := newWorld(t, sqlite.Options{})
	w.strict = true
	w.declare(fairlead.Tenant{})
	w.node(w.store, handlers{"wall.paint": func(context.Context, *fairlead.Job) error { return nil }}, false)
	url, asked := switching(t)
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(url, "http://"))
	w.newBatch("http://127.0.0.1:" + port + "/first") // and a node is there
	stored := 1
	for _, host := range []string{
		"localhost", "LOCALHOST.", "127.1", "127.0.0.1.", "2130706433", "0x7f000001", "0177.0.0.1", "0.0.0.0", "0", "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]",
		"[::127.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[::1%25lo]", "%31%32%37.0.0.1", "①②⑦.⓪.⓪.①", "127。0。0。1", "x.localhost",
	} {
		b := batch.Batch{Name: host, Type: "paint", Tenant: "acme", Notify: "http://" + host + ":" + port + "/"}
		if _, err := w.batches.Start(t.Context(), b, batch.Change{Target: batch.Target{ID: "1", Type: "wall"}}); err == nil {
			stored++
		}
	}
	w.eventually("all were tried to be told", func() bool {
		page, err := w.client.Find(t.Context(), fairlead.Filter{Kinds: []string{batch.CompletedKind}})
		if err != nil {
			t.Fatal(err)
		}
		for _, job := range page.Jobs {
			if !job.State.Final() && job.Failures == 0 {
				return false
			}
		}
		return len(page.Jobs) == stored
	})
	if n := asked.Load(); n != 0 {
		t.Errorf("the address heard %d connections", n)
	}
}
