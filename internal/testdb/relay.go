package testdb

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"
)

// Relay forwards connections to the current primary, like the address of a cluster.
type Relay struct {
	listener net.Listener
	all      sync.WaitGroup

	mu    sync.Mutex
	to    string // empty if there is no primary
	conns map[net.Conn]bool
}

// NewRelay starts a Relay, which forwards connections until the test ends.
func NewRelay(t *testing.T, to string) *Relay {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &Relay{listener: listener, to: to, conns: map[net.Conn]bool{}}
	r.all.Go(r.accept)
	t.Cleanup(func() {
		_ = listener.Close()
		r.Lead("")
		r.all.Wait()
	})
	return r
}

// Addr returns the address on which r listens.
func (r *Relay) Addr() string { return r.listener.Addr().String() }

// Lead closes all connections and forwards new ones to another server, or to none if to is
// empty.
func (r *Relay) Lead(to string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.to = to
	for conn := range r.conns {
		_ = conn.Close()
	}
	clear(r.conns)
}

func (r *Relay) accept() {
	for {
		conn, err := r.listener.Accept()
		if err != nil {
			return
		}
		r.all.Go(func() { r.serve(conn) })
	}
}

func (r *Relay) serve(conn net.Conn) {
	defer conn.Close()
	r.mu.Lock()
	to := r.to
	r.mu.Unlock()
	if to == "" {
		return
	}
	server, err := new(net.Dialer).DialContext(context.Background(), "tcp", to)
	if err != nil {
		return
	}
	defer server.Close()
	r.mu.Lock()
	if r.to != to {
		r.mu.Unlock()
		return
	}
	r.conns[conn], r.conns[server] = true, true
	r.mu.Unlock()
	var back sync.WaitGroup
	back.Go(func() {
		_, _ = io.Copy(conn, server)
		_ = conn.Close()
	})
	_, _ = io.Copy(server, conn)
	_ = server.Close()
	back.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.conns, conn)
	delete(r.conns, server)
}
