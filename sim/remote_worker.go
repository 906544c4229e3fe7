package sim

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/server"
	"github.com/fairlead-io/fairlead/worker"
)

// workRemotely runs a remote worker until the process is told to end.
func (o orders) workRemotely(ctx context.Context) error {
	mux := fairlead.NewMux()
	handleFiles(mux)
	return worker.Run(ctx, mux, worker.Options{
		Server: o.Server, Name: o.Name, Slots: o.Node.Slots,
		Poll: o.Node.Poll, Beat: o.Node.Beat, Lease: o.Node.Lease, Grace: o.Node.Grace,
		Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
}

// runAndServe runs a node and a server for remote workers until the process is told to end.
func (o orders) runAndServe(ctx context.Context, store driver.Store, node *engine.Engine) error {
	listener, err := listenAgain(ctx, o.Serve)
	if err != nil {
		return err
	}
	known, ok := store.(server.Store)
	if !ok {
		return errors.Join(errors.New("the store cannot be served"), listener.Close())
	}
	service, err := server.New(node, known, server.Options{
		Log: slog.New(slog.NewTextHandler(os.Stderr, nil)), Stopping: ctx.Done(),
		Workers: server.WorkerOptions{Poll: o.Node.Poll, Beat: o.Node.Beat, Lease: o.Node.Lease, Grace: o.Node.Grace},
	})
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	web := server.Web(service)
	served, kept := make(chan error, 1), make(chan error, 1)
	working, idle := context.WithCancel(context.WithoutCancel(ctx))
	go func() { served <- web.Serve(listener) }()
	go func() { kept <- service.Run(working) }()
	err = node.Run(ctx)
	err = errors.Join(err, web.Close())
	idle()
	if end := <-served; !errors.Is(end, http.ErrServerClosed) {
		err = errors.Join(err, fmt.Errorf("serve: %w", end))
	}
	return errors.Join(err, <-kept)
}

// listenAgain listens at the address of a killed server, which may not be free immediately.
func listenAgain(ctx context.Context, address string) (net.Listener, error) {
	const again = 50 * time.Millisecond
	for begun := time.Now(); ; {
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
		if err == nil || time.Since(begun) > GiveUp {
			return listener, err
		}
		if err := rest(ctx, again); err != nil {
			return nil, err
		}
	}
}
