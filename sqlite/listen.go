package sqlite

import (
	"context"
	"database/sql"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead/driver"
)

// Listen calls wake when there may be new work for the scope, until ctx ends.
func (s *Store) Listen(ctx context.Context, scope *driver.Scope, wake func(driver.Wake)) error {
	defer s.listener.leave()
	s.hub.Listen(ctx, scope, s.listener.join, wake)
	return nil
}

// wake wakes the listeners of this process.
func (s *Store) wake(n wakes) {
	if n.token > 0 {
		s.tokens.In(n.token)
	}
	if n.all {
		s.hub.Work(nil)
	} else if len(n.work) > 0 {
		s.hub.Work(slices.Collect(maps.Values(n.work)))
	}
	if n.freed {
		s.hub.Room()
	}
	if n.later {
		s.hub.Later()
	}
	if n.cancel {
		s.hub.Cancel()
	}
}

// listener looks for what other processes commit to the file, as long as this process
// has listeners. What this process commits wakes them at once, without it.
type listener struct {
	store *Store

	mu        sync.Mutex
	listeners int
	closed    bool
	cancel    context.CancelFunc // of the goroutine
	ended     chan struct{}

	told     sync.Mutex
	counters map[counter]int64 // of the last wakes that were passed on
}

func newListener(s *Store) *listener { return &listener{store: s, counters: map[counter]int64{}} }

// join counts a listener; the first one starts the goroutine.
func (w *listener) join() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.listeners++
	if w.listeners > 1 || w.closed || w.store.readers == nil || w.store.options.Poll < 0 {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	w.cancel, w.ended = cancel, ended
	go func() {
		defer close(ended)
		w.look(ctx)
	}()
}

// leave ends the goroutine with the last listener.
func (w *listener) leave() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.listeners--; w.listeners == 0 {
		w.end()
	}
}

// stop ends the goroutine for good.
func (w *listener) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	w.end()
}

func (w *listener) end() {
	if w.cancel != nil {
		w.cancel()
		<-w.ended
		w.cancel = nil
	}
}

// published returns the wakes after a commit of this process: its own, and those of
// other processes if they committed before.
func (w *listener) published(t *txn) wakes {
	if t.counters.now == nil {
		return t.wakes
	}
	n := w.since(t.counters.read)
	n.add(t.wakes)
	w.since(t.counters.now)
	return n
}

// since returns the wakes since the last ones that were passed on, by the counters.
func (w *listener) since(read map[counter]int64) wakes {
	w.told.Lock()
	defer w.told.Unlock()
	n := wakes{
		all:    read[workCounter] > w.counters[workCounter],
		later:  read[laterCounter] > w.counters[laterCounter],
		cancel: read[cancelCounter] > w.counters[cancelCounter],
	}
	for _, name := range []counter{workCounter, laterCounter, cancelCounter} {
		w.counters[name] = max(w.counters[name], read[name])
	}
	return n
}

const (
	// quickest is the pause between two looks while the file changes.
	quickest = 2 * time.Millisecond
	// calm is after how many looks without a change the pauses grow.
	calm = 100
)

// look asks the database repeatedly whether it was changed. It asks less often if
// nothing changed for a while, because each look wakes up the process.
func (w *listener) look(ctx context.Context) {
	slowest := w.store.options.Poll
	pause, vain := min(quickest, slowest), 0
	timer := time.NewTimer(pause)
	defer timer.Stop()
	var eye changeReader
	defer eye.close()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		read, err := eye.look(ctx, w.store)
		if err != nil { // polling by the nodes continues without it
			eye.close()
			pause = slowest
		}
		if n := w.since(read); n.all || n.later || n.cancel {
			w.store.wake(n)
			pause, vain = min(quickest, slowest), 0
		} else if vain++; vain > calm {
			pause = min(pause+pause/8, slowest)
		}
		timer.Reset(pause)
	}
}

// changeReader has a separate connection: whether the database was changed depends on
// the connection that asks.
type changeReader struct {
	conn    *sql.Conn
	ask     *sql.Stmt
	version int64
}

// look returns the counters if the database was changed since the last look.
func (e *changeReader) look(ctx context.Context, s *Store) (map[counter]int64, error) {
	if e.conn == nil {
		if err := e.open(ctx, s); err != nil {
			return nil, err
		}
	}
	var version int64
	// A context that can end would cost more than the query.
	if err := e.ask.QueryRowContext(context.Background()).Scan(&version); err != nil || version == e.version {
		return nil, err
	}
	e.version = version
	t := s.newTxn(ctx, e.conn)
	err := t.readCounters()
	return t.counters.now, err
}

func (e *changeReader) open(ctx context.Context, s *Store) (err error) {
	if e.conn, err = s.readers.Conn(ctx); err != nil {
		return err
	}
	e.ask, err = e.conn.PrepareContext(ctx, s.sql.DataVersion)
	return err
}

// close gives the connection back. It closes the statement too, because SQLite keeps
// the file open while the statement lives.
func (e *changeReader) close() {
	if e.ask != nil {
		_ = e.ask.Close()
	}
	if e.conn != nil {
		_ = e.conn.Close()
	}
	*e = changeReader{}
}
