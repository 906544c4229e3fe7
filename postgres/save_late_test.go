package postgres

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// slowPath passes connections on to a server. Once it stalls it keeps what it reads, also
// of clients that are gone, until deliver.
type slowPath struct {
	listener net.Listener
	to       string
	all      sync.WaitGroup

	mu    sync.Mutex
	stall bool
	kept  map[net.Conn]*bytes.Buffer // by connection to the server
}

func newSlowPath(t *testing.T, to string) *slowPath {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &slowPath{listener: listener, to: to, kept: map[net.Conn]*bytes.Buffer{}}
	p.all.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			p.all.Go(func() { p.serve(client) })
		}
	})
	t.Cleanup(func() { _ = listener.Close(); p.all.Wait() })
	return p
}

func (p *slowPath) serve(client net.Conn) {
	defer client.Close()
	server, err := new(net.Dialer).DialContext(context.Background(), "tcp", p.to)
	if err != nil {
		return
	}
	p.mu.Lock()
	p.kept[server] = &bytes.Buffer{}
	p.mu.Unlock()
	p.all.Go(func() {
		_, _ = io.Copy(client, server)
		_, _ = io.Copy(io.Discard, server) // until the server has ended it
		_ = client.Close()
	})
	chunk := make([]byte, 1<<16)
	for {
		n, err := client.Read(chunk)
		p.mu.Lock()
		stalled := p.stall
		if stalled {
			p.kept[server].Write(chunk[:n])
		} else {
			_, _ = server.Write(chunk[:n])
		}
		p.mu.Unlock()
		if err != nil {
			if !stalled {
				_ = server.Close()
			}
			return
		}
	}
}

func (p *slowPath) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stall = true
}

// deliver hands on what was kept and then the ends of the connections, and waits until
// the server has ended them too.
func (p *slowPath) deliver() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for server, kept := range p.kept {
		if kept.Len() == 0 {
			_ = server.Close()
			continue
		}
		_, _ = server.Write(kept.Bytes())
		_ = server.(*net.TCPConn).CloseWrite()
	}
}

func TestASaveThatArrivesLateDoesNotOverwriteANewerOne(t *testing.T) {
	at := migrated.Postgres(t)
	address, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	path := newSlowPath(t, address.Host)
	address.Host = path.listener.Addr().String()
	direct := open(t, at, Options{})
	far := open(t, address.String(), Options{})
	if err := fairlead.NewClient(direct).Enqueue(t.Context(), &fairlead.Job{Kind: "k"}); err != nil {
		t.Fatal(err)
	}
	node, err := direct.Join(t.Context(), fairlead.Node{Name: "n", Kinds: []string{"k"}, Slots: 1}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	jobs, err := direct.Claim(t.Context(), driver.Claim{Node: node, Scope: &driver.Scope{Kinds: []string{"k"}}, Max: 1})
	if err != nil || len(jobs) != 1 {
		t.Fatal(jobs, err)
	}
	save := func(ctx context.Context, store *Store, memo string) error {
		return store.Save(ctx, fairlead.Save{ID: jobs[0].ID, Fence: jobs[0].Fence, Memo: []byte(memo)})
	}
	if err := save(t.Context(), far, `"first"`); err != nil {
		t.Fatal(err)
	}
	path.stop()
	brief, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := save(brief, far, `"old"`); err == nil {
		t.Fatal("a save was answered whose statement did not arrive")
	}
	if err := save(t.Context(), direct, `"new"`); err != nil {
		t.Fatal(err)
	}
	_ = path.listener.Close()
	path.deliver() // the driver has given up the connection, but would wait for its end for some time
	if err := far.Close(); err != nil {
		t.Error(err)
	}
	path.deliver()  // what arrived meanwhile
	path.all.Wait() // the server has ended every connection, and so all that arrived
	got, err := direct.Get(t.Context(), jobs[0].ID)
	if err != nil || string(got.Memo) != `"new"` {
		t.Errorf("the memo is %s, %v", got.Memo, err)
	}
}
