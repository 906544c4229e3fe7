package mysql

import (
	"context"
	"net"
	"strings"
	"sync"
	"time"
)

const (
	noWakes = "-" // the Options.WakeAddr that turns wakes between processes off

	confirmEvery = 5 * time.Second  // how often a listener registers again
	forgetAfter  = 15 * time.Second // after which a silent listener gets no more messages
)

// listener receives the wakes of other processes, as long as this process has
// listeners.
type listener struct {
	store *Store

	mu        sync.Mutex
	listeners int
	closed    bool
	cancel    context.CancelFunc // of the goroutine
	ended     chan struct{}
}

// join counts a listener; the first one starts the goroutine.
func (e *listener) join() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.listeners++; e.listeners > 1 || e.closed || e.store.options.WakeAddr == noWakes {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	e.cancel, e.ended = cancel, ended
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			e.listen(ctx)
			select { // the port could not be opened, or was lost
			case <-ctx.Done():
			case <-time.After(confirmEvery):
			}
		}
	}()
}

// leave ends the goroutine with the last listener.
func (e *listener) leave() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.listeners--; e.listeners == 0 {
		e.end()
	}
}

func (e *listener) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	e.end()
}

func (e *listener) end() {
	if e.cancel != nil {
		e.cancel()
		<-e.ended
		e.cancel = nil
	}
}

// listen receives until ctx ends or the port is lost.
func (e *listener) listen(ctx context.Context) {
	if e.store.signer.load(ctx) != nil {
		return
	}
	socket, err := (&net.ListenConfig{}).ListenPacket(ctx, "udp", e.store.options.WakeAddr)
	if err != nil {
		return
	}
	defer context.AfterFunc(ctx, func() { _ = socket.Close() })() // ends a read that waits
	defer socket.Close()
	message := make([]byte, 2*messageSize)
	e.register(ctx, socket.LocalAddr().String())
	e.store.wakeHere(&wakes{all: true, later: true, cancel: true}) // covers the wakes missed before
	confirm := time.Now().Add(confirmEvery)
	for ctx.Err() == nil {
		if !time.Now().Before(confirm) {
			e.register(ctx, socket.LocalAddr().String())
			confirm = time.Now().Add(confirmEvery)
		}
		if err := socket.SetReadDeadline(confirm); err != nil {
			return
		}
		n, _, err := socket.ReadFrom(message)
		if err == nil {
			e.hear(ctx, string(message[:n]))
		}
	}
}

// register makes the port known to other processes. If it fails, they do not wake this
// process for a while, and polling finds the jobs.
func (e *listener) register(ctx context.Context, address string) {
	ctx, cancel := e.store.withTimeout(ctx)
	defer cancel()
	if _, err := e.store.lifeline.ExecContext(ctx, e.store.sql.Register, address, e.store.notifier.host, forgetAfter.Microseconds()); err == nil {
		_, _ = e.store.lifeline.ExecContext(ctx, e.store.sql.ForgetListeners)
	}
}

func (e *listener) hear(ctx context.Context, sealed string) {
	message, ok := e.store.signer.verify(sealed)
	if !ok {
		return
	}
	words := strings.Fields(message)
	if len(words) < 2 || words[0] == e.store.notifier.tag {
		return // this process's own listeners know already
	}
	n := decodeWakes(words[1:])
	if len(n.work) > 0 && e.store.laneKeys(n.work) == nil {
		// Another process created the lane. If it cannot be looked up now, all
		// listeners are woken.
		_ = e.store.refreshLanes(ctx)
	}
	if n.room {
		n.room = false
		e.store.hub.RoomElsewhere()
	}
	e.store.wakeHere(n)
}
