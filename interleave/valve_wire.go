package interleave

import (
	"bufio"
	"context"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// A protocol divides the bytes that a client sends into round trips.
type protocol interface {
	// session returns the state of a new connection.
	session() session
}

// A session is the state of one connection.
type session interface {
	// next reads what the client sends until it waits for an answer. statements is empty if
	// nothing is executed, for example while the client signs in or prepares statements.
	next(from *bufio.Reader) (sent []byte, statements []string, err error)
	// open reports whether a transaction is open on the connection.
	open() bool
	// answered sees every chunk of bytes that the server sends.
	answered(chunk []byte)
}

// A wireValve is a valve in front of a database server: a proxy for the connections of one actor.
type wireValve struct {
	shutter
	protocol   protocol
	server     string
	background func(statement string) bool // statements that belong to no call: they pass
	listener   net.Listener
	all        sync.WaitGroup
	links      map[*link]bool
}

// newWireValve starts a valve in front of a server. It is open at first.
func newWireValve(server string, p protocol, background func(string) bool) (*wireValve, error) {
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	v := &wireValve{shutter: newShutter(), protocol: p, server: server, background: background, listener: listener, links: map[*link]bool{}}
	v.all.Go(v.accept)
	return v, nil
}

func (v *wireValve) addr() string { return v.listener.Addr().String() }

// passed implements valve: each statement belongs to a round trip, and each of those is held.
func (v *wireValve) passed() []string { return nil }

// end cuts all connections and waits for the goroutines of the valve.
func (v *wireValve) end() {
	_ = v.listener.Close()
	v.cut()
	v.all.Wait()
}

// cut breaks all connections and refuses new ones, as if the process had died.
func (v *wireValve) cut() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.dead = true
	for l := range v.links {
		l.close()
	}
	v.release()
}

// inTransaction reports whether a transaction is open on one of the connections.
func (v *wireValve) inTransaction() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	for l := range v.links {
		if l.session.open() {
			return true
		}
	}
	return false
}

// A bracket follows which statements begin and end a transaction.
type bracket struct{ begun atomic.Bool }

func (b *bracket) open() bool { return b.begun.Load() }

func (b *bracket) follow(statement string) {
	for _, text := range strings.Split(statement, ";") {
		text = strings.ToLower(strings.TrimSpace(text))
		switch {
		case strings.HasPrefix(text, "begin"), strings.HasPrefix(text, "start transaction"):
			b.begun.Store(true)
		case strings.HasPrefix(text, "commit"), text == "rollback":
			b.begun.Store(false)
		}
	}
}

// ports returns the local ports of the connections to the server, by which the server knows
// them.
func (v *wireValve) ports() (ports []int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for l := range v.links {
		ports = append(ports, l.server.LocalAddr().(*net.TCPAddr).Port)
	}
	return ports
}

func (v *wireValve) accept() {
	for {
		client, err := v.listener.Accept()
		if err != nil {
			return
		}
		v.all.Go(func() { v.serve(client) })
	}
}

func (v *wireValve) serve(client net.Conn) {
	defer client.Close()
	server, err := new(net.Dialer).DialContext(context.Background(), "tcp", v.server)
	if err != nil {
		return
	}
	l := &link{client: client, server: server, session: v.protocol.session(), gone: make(chan struct{})}
	defer l.close()
	v.mu.Lock()
	dead := v.dead
	if !dead {
		v.links[l] = true
	}
	v.mu.Unlock()
	if dead {
		return
	}
	var answers sync.WaitGroup
	answers.Go(l.forwardAnswers)
	v.forward(l)
	l.close()
	answers.Wait()
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.links, l)
}

// forward forwards round trips until the connection ends.
func (v *wireValve) forward(l *link) {
	from := bufio.NewReader(l.client)
	for {
		sent, statements, err := l.session.next(from)
		if err != nil {
			return
		}
		switch v.decide(l, statements) {
		case refuse:
			return
		case lose:
			l.mute()
		}
		if _, err := l.server.Write(sent); err != nil {
			return
		}
	}
}

// decide waits for the player's decision about a round trip that it has to know of.
func (v *wireValve) decide(l *link, statements []string) decision {
	opened := v.holds()
	if opened == nil || !slices.ContainsFunc(statements, func(s string) bool { return !v.background(s) }) {
		return pass
	}
	return v.shutter.decide(statements, opened, l.gone)
}

// A link is one connection of a client through a valve.
type link struct {
	client, server net.Conn
	session        session
	gone           chan struct{}
	once           sync.Once

	mu    sync.Mutex
	muted bool
}

// mute makes the connection break when the next answer arrives.
func (l *link) mute() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.muted = true
}

func (l *link) isMuted() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.muted
}

func (l *link) close() {
	l.once.Do(func() {
		close(l.gone)
		_ = l.client.Close()
		_ = l.server.Close()
	})
}

// forwardAnswers forwards what the server sends until the connection ends.
func (l *link) forwardAnswers() {
	defer l.close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := l.server.Read(buffer)
		if err != nil || l.isMuted() {
			return
		}
		l.session.answered(buffer[:n])
		if _, err := l.client.Write(buffer[:n]); err != nil {
			return
		}
	}
}
