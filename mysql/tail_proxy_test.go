package mysql_test

import (
	"errors"
	"io"
	"net"
	"sync"
	"testing"
)

// proxy is an address at which one server after the other can be reached, as after a
// failover.
type proxy struct {
	listener net.Listener
	wait     sync.WaitGroup

	mu     sync.Mutex
	server string
	conns  map[net.Conn]struct{}
}

func newProxy(t *testing.T, server string) *proxy {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: listener, server: server, conns: map[net.Conn]struct{}{}}
	p.wait.Go(func() { p.accept(t) })
	t.Cleanup(func() {
		_ = listener.Close()
		p.switchTo("")
		p.wait.Wait()
	})
	return p
}

func (p *proxy) accept(t *testing.T) {
	for {
		client, err := p.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			t.Error(err)
			return
		}
		p.wait.Go(func() { p.serve(client) })
	}
}

// serve carries bytes both ways until one side ends.
func (p *proxy) serve(client net.Conn) {
	defer client.Close()
	p.mu.Lock()
	address := p.server
	p.mu.Unlock()
	server, err := net.Dial("tcp", address) //nolint:noctx // it is on this machine
	if err != nil {
		return
	}
	defer server.Close()
	if !p.add(address, client, server) {
		return
	}
	var wait sync.WaitGroup
	wait.Go(func() { _, _ = io.Copy(server, client); _ = server.Close() })
	_, _ = io.Copy(client, server)
	_ = client.Close()
	wait.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, client)
	delete(p.conns, server)
}

// add remembers connections, unless they lead to a server that is no longer there.
func (p *proxy) add(address string, conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.server != address {
		return false
	}
	for _, conn := range conns {
		p.conns[conn] = struct{}{}
	}
	return true
}

// switchTo ends all connections and lets new ones lead to another server.
func (p *proxy) switchTo(server string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.server = server
	for conn := range p.conns {
		_ = conn.Close()
	}
}
