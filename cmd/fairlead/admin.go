package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/fairlead-io/fairlead/server"
)

// admin is a separate port for profiles and metrics, out of reach of the service's callers.
type admin struct {
	listener net.Listener
	web      *http.Server
	ended    chan struct{}
}

// startAdmin serves the admin port. With an empty address it does nothing.
func startAdmin(ctx context.Context, addr string, metrics http.Handler, log *slog.Logger) (*admin, error) {
	if addr == "" {
		return &admin{}, nil
	}
	addr, open, err := adminAddress(addr)
	if err != nil {
		return nil, err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("--admin-addr: listen on %s: %w", addr, err)
	}
	if open {
		log.Warn("other machines can read profiles and metrics without authentication", "addr", listener.Addr().String())
	} else {
		log.Info("serving profiles and metrics", "addr", listener.Addr().String())
	}
	a := &admin{
		listener: listener, ended: make(chan struct{}),
		web: &http.Server{Handler: server.Admin(metrics, open), ErrorLog: server.ErrorLog(log), ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10},
	}
	go func() {
		defer close(a.ended)
		if err := a.web.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			log.Error("admin server failed", "error", err)
		}
	}()
	return a, nil
}

// adminAddress returns the address to listen on, and whether other machines can reach it.
// They can only if the flag names a host; without one, the host is this machine.
func adminAddress(addr string) (address string, open bool, err error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "", false, usagef("--admin-addr %q must be HOST:PORT, or :PORT for this machine only: %w", addr, err)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port), !isLoopback(host), nil
}

// isLoopback reports whether a host can only be this machine.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// stop closes the port and waits until it is closed. A profile in progress is interrupted.
func (a *admin) stop() {
	if a.web == nil {
		return
	}
	_ = a.web.Close() // the listener is closed even after an error
	<-a.ended
}
