package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"

	"github.com/fairlead-io/fairlead/server"
)

// lobby answers health probes while the start waits for the database: the process is live,
// and not ready. A new lobby with only addr, secure and log set is closed.
type lobby struct {
	addr   string
	secure *tls.Config // nil = without TLS
	log    *slog.Logger

	mu       sync.Mutex
	whom     string // what the start is waiting for
	listener *net.TCPListener
	web      *http.Server
	ended    chan struct{}
}

// open starts answering probes. Further calls only change what the start is waiting for.
func (l *lobby) open(whom string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.whom = whom
	if l.web != nil {
		return nil
	}
	listener, err := listen(context.Background(), l.addr)
	if err != nil {
		return err
	}
	tcp, ok := listener.(*net.TCPListener)
	if !ok {
		return fmt.Errorf("%s is not a TCP address", l.addr)
	}
	l.listener, l.ended = tcp, make(chan struct{})
	l.web = &http.Server{Handler: l, ErrorLog: server.ErrorLog(l.log), TLSConfig: l.secure.Clone(), ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Second, MaxHeaderBytes: 64 << 10}
	go func() {
		defer close(l.ended)
		if l.secure != nil {
			_ = l.web.ServeTLS(lent{tcp}, "", "") // returns after leave
			return
		}
		_ = l.web.Serve(lent{tcp})
	}()
	return nil
}

// leave stops answering and returns the listener, or nil if the lobby was not open.
func (l *lobby) leave() (net.Listener, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.web == nil {
		return nil, nil
	}
	_ = l.web.Close() // closes open connections
	<-l.ended
	listener := l.listener
	l.web, l.listener = nil, nil
	return listener, listener.SetDeadline(time.Time{})
}

// close stops answering and listening.
func (l *lobby) close() {
	if listener, _ := l.leave(); listener != nil {
		_ = listener.Close() // the process ends
	}
}

// ServeHTTP answers a probe.
func (l *lobby) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	whom := l.whom
	l.mu.Unlock()
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	if r.URL.Path == "/livez" {
		fmt.Fprintln(w, "ok")
		return
	}
	w.Header().Set("Retry-After", "1")
	w.WriteHeader(http.StatusServiceUnavailable)
	fmt.Fprintf(w, "the node is starting and waiting for %s\n", whom)
}

// lent is a listener that another server takes over: closing it only interrupts pending
// calls to Accept.
type lent struct{ *net.TCPListener }

// Close interrupts Accept.
func (l lent) Close() error { return l.SetDeadline(time.Unix(1, 0)) }

// listen listens on an address.
func listen(ctx context.Context, addr string) (net.Listener, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		if errors.Is(err, syscall.EADDRINUSE) {
			return nil, fmt.Errorf("listen on %s: the address is in use; stop the other program, or choose another address with --addr: %w", addr, err)
		}
		return nil, fmt.Errorf("listen on %s: %w", addr, err)
	}
	return listener, nil
}
