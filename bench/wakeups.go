package main

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/bench"
)

// heardFairlead has a second store, as in another process, that listens for wakes of the
// first and ignores them.
type heardFairlead struct {
	*ownFairlead
	listener driver.Store
	stop     context.CancelFunc
	stopped  chan error
}

func openHeard(ctx context.Context, url, workload string) (*heardFairlead, error) {
	own, err := openFairlead(ctx, url, workload)
	if err != nil {
		return nil, err
	}
	listener, err := openStore(ctx, url)
	if err != nil {
		return nil, errors.Join(err, own.Close())
	}
	listening, stop := context.WithCancel(ctx)
	h := &heardFairlead{ownFairlead: own, listener: listener, stop: stop, stopped: make(chan error, 1)}
	heard := make(chan struct{}, 1)
	scope := &driver.Scope{Queues: []string{own.Queue}, Kinds: []string{own.Kind}}
	go func() {
		h.stopped <- listener.Listen(listening, scope, func(driver.Wake) {
			select {
			case heard <- struct{}{}:
			default:
			}
		})
	}()
	if err := h.awaitWake(ctx, heard); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return h, nil
}

// awaitWake enqueues jobs until the listener has received a wake.
func (h *heardFairlead) awaitWake(ctx context.Context, heard <-chan struct{}) error {
	const interval, patience = 50 * time.Millisecond, 10 * time.Second
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errors.New("the listener hears nothing"))
	defer cancel()
	for {
		if err := h.Enqueue(ctx, []bench.Args{bench.NewArgs()}); err != nil {
			return err
		}
		select {
		case <-heard:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(interval):
		}
	}
}

// Close also stops listening.
func (h *heardFairlead) Close() error {
	h.stop()
	return errors.Join(<-h.stopped, h.listener.Close(), h.ownFairlead.Close())
}

// openQuiet replaces PostgreSQL's notify function by one that does nothing. Everything else
// stays the same, so that the difference is the cost of notifications.
func openQuiet(ctx context.Context, url, workload string) (_ *ownFairlead, err error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	conn, err := pgx.ConnectConfig(ctx, config.ConnConfig)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	const silence = "create function public.pg_notify(text, text) returns void language sql as ''"
	if _, err := conn.Exec(ctx, silence); err != nil {
		return nil, err
	}
	return openFairlead(ctx, url+"&search_path=public,pg_catalog", workload)
}
