package mysql

import (
	"context"
	"crypto/rand"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// The server cannot notify, so processes wake each other. A process that listens opens
// a UDP port and registers it in the listener table (see listener). A process with
// wakes sends them there, signed with a secret that is in the database. A datagram is a
// hint: it may be lost, and it contains only where to look.

const (
	notifyEvery = 5 * time.Millisecond  // between two messages of one process
	askEvery    = time.Second           // how old the list of listeners may be
	askEmpty    = 50 * time.Millisecond // how old it may be if it is empty
	messageSize = 1200                  // bytes: fits into one packet on any network
)

// notifier sends this process's wakes to other processes, outside of any transaction
// and a moment later, so that enqueueing never waits for it.
type notifier struct {
	store *Store
	tag   string // identifies this store's own messages
	host  string // the machine whose loopback addresses can be used

	mu      sync.Mutex
	pending wakes
	bell    chan struct{} // rung when pending is no longer empty
	stop    context.CancelFunc
	ended   chan struct{}
}

func newNotifier(s *Store) *notifier {
	ctx, stop := context.WithCancel(context.Background())
	host, _ := os.Hostname() // an empty name does no harm
	m := &notifier{store: s, tag: rand.Text()[:8], host: host, bell: make(chan struct{}, 1), stop: stop, ended: make(chan struct{})}
	go func() {
		defer close(m.ended)
		m.run(ctx)
	}()
	return m
}

func (m *notifier) close() {
	m.stop()
	<-m.ended
}

func (m *notifier) notify(n *wakes) {
	if n.none() || m.store.options.WakeAddr == noWakes {
		return
	}
	m.mu.Lock()
	m.pending.add(n)
	m.mu.Unlock()
	select {
	case m.bell <- struct{}{}:
	default:
	}
}

// run sends what is pending until ctx ends. A failure is a lost wake: polling finds the
// jobs.
func (m *notifier) run(ctx context.Context) {
	var listeners []netip.AddrPort
	var asked time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-m.bell:
		}
		m.mu.Lock()
		message := m.tag + m.pending.encode()
		m.pending = wakes{}
		m.mu.Unlock()
		if age := time.Since(asked); age > askEvery || age > askEmpty && len(listeners) == 0 {
			if found, err := m.listeners(ctx); err == nil {
				listeners, asked = found, time.Now()
			}
		}
		if len(listeners) > 0 && m.store.signer.load(ctx) == nil {
			send(m.store.signer.sign(message), listeners)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(notifyEvery):
		}
	}
}

func send(message string, listeners []netip.AddrPort) {
	socket, err := net.ListenUDP("udp", nil)
	if err != nil {
		return
	}
	defer socket.Close()
	for _, address := range listeners {
		_, _ = socket.WriteToUDPAddrPort([]byte(message), address)
	}
}

// listeners returns the registered ports, without loopback ports of other machines.
func (m *notifier) listeners(ctx context.Context) ([]netip.AddrPort, error) {
	ctx, cancel := m.store.withTimeout(ctx)
	defer cancel()
	rows, err := m.store.lifeline.QueryContext(ctx, m.store.sql.Listeners)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []netip.AddrPort
	for rows.Next() {
		var text, host string
		if err := rows.Scan(&text, &host); err != nil {
			return nil, err
		}
		address, err := netip.ParseAddrPort(text)
		if err == nil && (!address.Addr().IsLoopback() || host == m.host) {
			found = append(found, address)
		}
	}
	return found, rows.Err()
}

// encode writes wakes as words: "*" for work anywhere, the number of each lane with
// work, "room", "later", "cancel".
func (n *wakes) encode() string {
	var b strings.Builder
	lanes := make([]int32, 0, len(n.work))
	for lane := range n.work {
		lanes = append(lanes, lane)
	}
	slices.Sort(lanes)
	for _, lane := range lanes {
		b.WriteString(" " + strconv.Itoa(int(lane)))
	}
	if n.all || b.Len() > messageSize {
		b.Reset()
		b.WriteString(" *")
	}
	if n.room {
		b.WriteString(" room")
	}
	if n.later {
		b.WriteString(" later")
	}
	if n.cancel {
		b.WriteString(" cancel")
	}
	return b.String()
}

func decodeWakes(words []string) *wakes {
	n := &wakes{}
	for _, word := range words {
		switch word {
		case "*":
			n.all = true
		case "room":
			n.room = true
		case "later":
			n.later = true
		case "cancel":
			n.cancel = true
		default:
			if lane, err := strconv.ParseInt(word, 10, 32); err == nil {
				n.addWork(int32(lane))
			}
		}
	}
	return n
}
