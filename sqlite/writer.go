package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// writer is the one goroutine that writes. It runs all waiting functions in one
// transaction, so that they share one flush of the disk.
type writer struct {
	store      *Store
	stmts      *stmts
	heads      *laneHeads
	limitCache limitCache

	mu     sync.Mutex
	first  []*request // before all others
	queue  []*request
	closed bool

	bell  chan struct{} // rung when there is something to do
	ended chan struct{}
}

// request is a function that waits for its transaction.
type request struct {
	run    func(*txn) error
	urgent bool
	state  atomic.Int32  // whether the caller or the writer owns it
	done   chan struct{} // closed when err is set
	err    error
}

// The states of a request.
const (
	queued  int32 = iota
	taken         // by the writer: the caller can only wait
	dropped       // by the caller, which stopped waiting: the writer skips it
)

const (
	// longest is how long the functions of one transaction may take together; the rest
	// wait for the next. A beat that just missed a transaction is late by about this
	// much.
	longest = 100 * time.Millisecond
	// lockPause is the pause between two tries to get the file's write lock.
	lockPause = time.Millisecond
)

var errClosed = errors.New("the store is closed")

func newWriter(s *Store) *writer {
	w := &writer{store: s, stmts: newStmts(), heads: newLaneHeads(), bell: make(chan struct{}, 1), ended: make(chan struct{})}
	go w.work()
	return w
}

// do waits until the request is committed, refused, or no longer wanted.
func (w *writer) do(ctx context.Context, r *request) error {
	r.done = make(chan struct{})
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return errClosed
	}
	if r.urgent {
		w.first = append(w.first, r)
	} else {
		w.queue = append(w.queue, r)
	}
	w.mu.Unlock()
	w.signal()
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		if r.state.CompareAndSwap(queued, dropped) {
			return fmt.Errorf("not done: %w", sqlstore.Ended(ctx))
		}
		return fmt.Errorf("outcome unknown: %w", sqlstore.Ended(ctx))
	}
}

func (w *writer) signal() {
	select {
	case w.bell <- struct{}{}:
	default:
	}
}

// stop ends the goroutine after its current transaction.
func (w *writer) stop() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.signal()
	<-w.ended
}

func (w *writer) work() {
	defer close(w.ended)
	for range w.bell {
		for group := w.take(); len(group) > 0; group = w.take() {
			w.putBack(w.commit(group))
			w.prepare()
		}
		if w.refuseAll() {
			return
		}
	}
}

// prepare prepares the statements that this transaction used, so that the next ones
// need not parse them.
func (w *writer) prepare() {
	if len(w.stmts.missing) == 0 {
		return
	}
	ctx, cancel := w.store.withTimeout(context.Background())
	defer cancel()
	w.stmts.prepareMissing(ctx, w.store.main)
}

// take empties the queues.
func (w *writer) take() []*request {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil
	}
	group := append(w.first, w.queue...)
	w.first, w.queue = nil, nil
	return group
}

func (w *writer) takeFirst() []*request {
	w.mu.Lock()
	defer w.mu.Unlock()
	first := w.first
	w.first = nil
	return first
}

func (w *writer) putBack(rest []*request) {
	if len(rest) == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queue = append(rest, w.queue...)
}

// refuseAll fails the waiting requests if the store is closed.
func (w *writer) refuseAll() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		for _, r := range append(w.first, w.queue...) {
			r.answer(errClosed)
		}
		w.first, w.queue = nil, nil
	}
	return w.closed
}

// commit runs the functions of a group in one transaction and answers them. It returns
// those for which there was no time.
func (w *writer) commit(group []*request) (rest []*request) {
	ran, rest, err := w.try(group, true)
	if errors.As(err, new(fatalError)) && len(ran) > 1 {
		// One function failed the transaction of all, so each runs in its own.
		for _, r := range ran {
			r.err = nil
			_, _, err := w.try([]*request{r}, false)
			r.answer(err)
		}
		return rest
	}
	for _, r := range ran {
		r.answer(err)
	}
	return rest
}

// fatalError is an error of a function that may have written something: its transaction
// cannot continue.
type fatalError struct{ error }

func (h fatalError) Unwrap() error { return h.error }

// try runs functions in one transaction, with more also the urgent ones that arrive
// meanwhile, and not all of them if they take long. It fails if the transaction does; a
// function that was merely refused keeps its own error.
func (w *writer) try(group []*request, more bool) (ran, rest []*request, err error) {
	tx, end, err := w.begin()
	if err != nil {
		return group, nil, err
	}
	defer end()
	t := w.store.newTxn(context.Background(), newPrepared(tx, w.stmts))
	t.laneHeads, t.limitCache = w.heads, &w.limitCache
	defer func() {
		if err != nil {
			w.limitCache.forget()
			w.heads.forget() // what they learned in this transaction was rolled back
		}
	}()
	if err := t.learnLent(); err != nil {
		return group, nil, err
	}
	var all wakes
	for start := time.Now(); len(group) > 0 && (len(ran) == 0 || time.Since(start) < longest); {
		if more {
			group = append(w.takeFirst(), group...)
		}
		r := group[0]
		group = group[1:]
		if !r.state.CompareAndSwap(queued, taken) && r.state.Load() == dropped {
			continue
		}
		ran = append(ran, r)
		t.now, t.wrote, t.notedGates, t.wakes = w.store.micros(), false, nil, wakes{}
		if r.err = r.run(t); r.err == nil {
			all.add(t.wakes)
			for lane := range t.wakes.work {
				w.heads.touch(lane)
			}
		} else if t.wrote || !isAnswer(r.err) {
			return ran, group, fatalError{r.err}
		}
	}
	t.wakes = all
	if err := t.writeCounters(); err != nil {
		return ran, group, err
	}
	if err := tx.Commit(); err != nil {
		return ran, group, fmt.Errorf("commit: %w", err)
	}
	w.heads.committed(t.counters)
	w.store.lanes.Add(all.made...)
	w.store.lanes.learn(all.read)
	w.store.wake(w.store.listener.published(t))
	return ran, group, nil
}

// answer ends the request. A request that its own function refused keeps that error.
func (r *request) answer(err error) {
	if r.err == nil {
		r.err = err
	}
	close(r.done)
}

// begin starts a transaction that has the file's write lock. Other processes may hold
// the lock for as long as one of their transactions takes. The returned function rolls
// the transaction back, unless it was committed, and gives back the connection.
func (w *writer) begin() (*sql.Tx, func(), error) {
	ctx, cancel := w.store.withTimeout(context.Background())
	defer cancel()
	conn, err := w.store.main.Conn(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("wait for the connection: %w", err)
	}
	var tx *sql.Tx
	err = patiently(ctx, func() (err error) {
		tx, err = conn.BeginTx(context.Background(), nil)
		return err
	})
	if err != nil {
		_ = conn.Close()
		return nil, nil, fmt.Errorf("wait for the write lock: %w", err)
	}
	return tx, func() {
		_ = tx.Rollback() // SQLite itself may have done it
		_ = conn.Close()
	}, nil
}

// patiently repeats f while another connection has locked the file.
func patiently(ctx context.Context, f func() error) error {
	for {
		err := f()
		if err == nil || !busy(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(lockPause):
		}
	}
}

// isAnswer reports whether an error is an answer, not a failure.
func isAnswer(err error) bool {
	for _, answer := range []error{fairlead.ErrNotFound, fairlead.ErrConflict, fairlead.ErrInvalid, fairlead.ErrLeaseLost, fairlead.ErrExpired, fairlead.ErrLimit} {
		if errors.Is(err, answer) {
			return true
		}
	}
	return false
}
