package postgres

import (
	"cmp"
	"context"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Listen calls wake whenever there may be new work for the scope, until ctx ends.
func (s *Store) Listen(ctx context.Context, scope *driver.Scope, wake func(driver.Wake)) error {
	s.listener.hub.Listen(ctx, scope, s.listener.open, wake)
	return nil
}

const (
	noListening = "-" // as Options.ListenURL

	reconnectFirst   = 50 * time.Millisecond
	reconnectSlowest = 5 * time.Second
)

// listener receives the notifications of other processes on one connection. All scopes
// share it; the first one opens it.
type listener struct {
	store   *Store
	hub     *sqlstore.Hub
	channel string
	at      *pgxpool.Config // nil = nowhere

	mu   sync.Mutex
	stop context.CancelFunc // nil until opened
	done chan struct{}
}

func newListener(s *Store, hub *sqlstore.Hub, channel string, at *pgxpool.Config) *listener {
	return &listener{store: s, hub: hub, channel: channel, at: at}
}

func (e *listener) open() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.stop != nil || e.at == nil {
		return
	}
	var ctx context.Context
	ctx, e.stop = context.WithCancel(context.Background())
	e.done = make(chan struct{})
	go e.loop(ctx)
}

func (e *listener) close() {
	e.mu.Lock()
	stop := e.stop
	if stop == nil {
		e.stop = func() {} // it cannot be opened again
	}
	e.mu.Unlock()
	if stop != nil {
		stop()
		<-e.done
	}
}

// loop listens until it is closed, and connects again whenever the connection is lost.
// Wakes are hints, so errors need no other handling.
func (e *listener) loop(ctx context.Context) {
	defer close(e.done)
	pause := reconnectFirst
	for ctx.Err() == nil {
		if e.listen(ctx) {
			pause = reconnectFirst
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		pause = min(2*pause, reconnectSlowest)
	}
}

// listen passes wakes on until the connection fails. It reports whether it was
// listening at all.
func (e *listener) listen(ctx context.Context) bool {
	conn, err := e.connect(ctx)
	if err != nil {
		return false
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = conn.Close(closing)
	}()
	e.pass(wakes{all: true, later: true, cancel: true}) // covers the wakes missed before
	for {
		notification, err := conn.WaitForNotification(ctx)
		if err != nil {
			return true
		}
		e.hear(ctx, notification.Payload)
	}
}

func (e *listener) connect(ctx context.Context) (*pgx.Conn, error) {
	ctx, cancel := e.store.withTimeout(ctx)
	defer cancel()
	conn, err := connectAs(ctx, e.at)
	if err != nil {
		return nil, err
	}
	if found, err := describe(ctx, conn); err != nil || found.pooled {
		_ = conn.Close(ctx)
		return nil, cmp.Or(err, errListenPooled)
	}
	if _, err := conn.Exec(ctx, "listen "+pgx.Identifier{e.channel}.Sanitize()); err != nil {
		_ = conn.Close(ctx)
		return nil, err
	}
	return conn, nil
}

func (e *listener) hear(ctx context.Context, payload string) {
	words := strings.Fields(payload)
	if len(words) == 0 || words[0] == e.store.notifier.tag {
		return // this process's own listeners know already
	}
	n := decodeWakes(words[1:])
	if laneKeys(e.store.lanes.Lanes, maps.Keys(n.lanes)) == nil {
		// Another process created the lane. If it cannot be looked up now, all scopes
		// are woken.
		_ = e.store.refreshLanes(ctx, 0)
		if laneKeys(e.store.lanes.Lanes, maps.Keys(n.lanes)) == nil {
			e.store.lanes.anew.Store(true) // it is an old lane that had been retired
		}
	}
	e.pass(n)
}

func (e *listener) pass(n wakes) {
	if n.cancel {
		e.hub.Cancel()
	}
	if n.later {
		e.hub.Later()
	}
	if n.all {
		e.store.laneCursors.rewindAll()
		e.store.laneHeads.touchAll()
	}
	for lane, before := range n.lanes {
		if before {
			e.store.laneCursors.rewind(lane)
		}
		e.store.laneHeads.touch(lane)
	}
	if n.freed {
		e.hub.RoomElsewhere()
	}
	switch {
	case n.all:
		e.hub.Work(nil)
	case len(n.lanes) > 0:
		e.hub.Work(laneKeys(e.store.lanes.Lanes, maps.Keys(n.lanes)))
	}
}
