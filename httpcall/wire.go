package httpcall

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	idleLine  = 2 * time.Second // a connection that was not used for so long is closed
	idleLines = 256             // to one target, at most
	wireBody  = 16 << 10        // bytes that a connection takes at once, whether or not they are read
)

// wire calls targets over HTTP/1.1 without TLS, for items of sweeps. Of what a call
// costs, the larger part is what net/http does around it: two goroutines for each
// connection, which wait for each other. Here the caller's goroutine writes and then reads. What
// else there is, large bodies among it, is left to rest: a target may answer before it
// has read all of them.
type wire struct {
	dial func(ctx context.Context, network, address string) (net.Conn, error)
	rest *http.Transport

	mu    sync.Mutex
	idle  map[string][]*connection // by address; the one that was used last is the last
	clock *time.Timer              // closes what is idle for long; nil: nothing is idle
}

func newWire(rest *http.Transport) *wire {
	return &wire{dial: rest.DialContext, rest: rest, idle: map[string][]*connection{}}
}

// connection is a connection to a server. One call at a time uses it.
type connection struct {
	conn    net.Conn
	address string
	in      *bufio.Reader
	out     *bufio.Writer
	arrived []byte // before the line was made, and to be read first
	reused  bool
	left    int64 // bytes that may be read
	read    bool  // something was read since the request
	since   time.Time

	// Of a call that is watched, and under the lock of the watch.
	before, after *connection // in the order in which calls began
	until         time.Time
	watched       bool
	overdue       bool // it was ended because its time was over
}

// Read bounds what is read of an answer's headers.
func (l *connection) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, fmt.Errorf("the response headers are longer than %d bytes", maxAnswerHeaders)
	}
	var n int
	var err error
	if len(l.arrived) > 0 {
		n = copy(p, l.arrived)
		l.arrived = l.arrived[n:]
	} else {
		n, err = l.conn.Read(p)
	}
	l.left -= int64(n)
	l.read = l.read || n > 0
	return n, err
}

// empty reports whether nothing has arrived that was not read.
func (l *connection) empty() bool { return l.in.Buffered() == 0 && len(l.arrived) == 0 }

// RoundTrip makes one call.
func (w *wire) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.URL.Scheme != "http" || request.Method == http.MethodConnect || request.ContentLength < 0 || request.ContentLength > wireBody {
		return w.rest.RoundTrip(request)
	}
	if request.Body != nil {
		defer request.Body.Close()
	}
	address := address(request.URL)
	l, err := w.take(request.Context(), address)
	if err != nil {
		return nil, err
	}
	response, err := w.exchange(l, request)
	if err == nil || !l.reused || l.read || request.Context().Err() != nil {
		return response, err
	}
	// The target had closed a connection that was idle. Should it have seen the
	// request all the same, it knows the repetition by the Idempotency-Key.
	if request, err = sendable(request); err != nil {
		return nil, err
	}
	if l, err = w.open(request.Context(), address); err != nil {
		return nil, err
	}
	return w.exchange(l, request)
}

// sendable is a request that can be sent once more.
func sendable(request *http.Request) (*http.Request, error) {
	if request.Body == nil || request.Body == http.NoBody {
		return request, nil
	}
	if request.GetBody == nil {
		return nil, errors.New("the target closed the connection")
	}
	body, err := request.GetBody()
	if err != nil {
		return nil, err
	}
	repeated := *request
	repeated.Body = body
	return &repeated, nil
}

// take finds a connection, or makes one.
func (w *wire) take(ctx context.Context, address string) (*connection, error) {
	if l := w.again(address, time.Now()); l != nil {
		return l, nil
	}
	return w.open(ctx, address)
}

// again finds a connection that was used before. It is nil if there is none.
func (w *wire) again(address string, now time.Time) *connection {
	w.mu.Lock()
	lines := w.idle[address]
	if len(lines) == 0 {
		w.mu.Unlock()
		return nil
	}
	l := lines[len(lines)-1]
	w.idle[address] = lines[:len(lines)-1]
	w.mu.Unlock()
	if now.Sub(l.since) >= idleLine {
		_ = l.conn.Close() // the others are older
		return nil
	}
	l.reused = true
	return l
}

func (w *wire) open(ctx context.Context, address string) (*connection, error) {
	conn, err := w.dial(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return newLine(conn, address, nil), nil
}

// newLine makes a line of a connection on which something may have arrived already.
func newLine(conn net.Conn, address string, arrived []byte) *connection {
	l := &connection{conn: conn, address: address, arrived: arrived, left: maxAnswerHeaders, out: bufio.NewWriter(conn)}
	l.in = bufio.NewReader(l)
	return l
}

// goOn reads the answer to a request that was sent. The end of the context ends it.
func (w *wire) goOn(l *connection, request *http.Request) (Reply, error) {
	stop := context.AfterFunc(request.Context(), func() { _ = l.conn.SetDeadline(past) })
	response, err := w.receive(l, request, nil, stop)
	if err != nil {
		return Reply{}, noAnswer(request, err)
	}
	return readReply(request, response)
}

// put keeps a connection for the next call.
func (w *wire) put(l *connection) {
	l.since = time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.idle[l.address]) >= idleLines {
		_ = l.conn.Close()
		return
	}
	w.idle[l.address] = append(w.idle[l.address], l)
	if w.clock == nil {
		w.clock = time.AfterFunc(idleLine, w.expire)
	}
}

// expire closes connections that were not used for long.
func (w *wire) expire() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for address, lines := range w.idle {
		old := 0
		for old < len(lines) && time.Since(lines[old].since) >= idleLine {
			_ = lines[old].conn.Close()
			old++
		}
		if w.idle[address] = append(lines[:0], lines[old:]...); old == len(lines) {
			delete(w.idle, address)
		}
	}
	w.clock = nil
	if len(w.idle) > 0 {
		w.clock = time.AfterFunc(idleLine, w.expire)
	}
}

// CloseIdleConnections is what http.Client.CloseIdleConnections looks for.
func (w *wire) CloseIdleConnections() {
	w.rest.CloseIdleConnections()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, lines := range w.idle {
		for _, l := range lines {
			_ = l.conn.Close()
		}
	}
	clear(w.idle)
}

// past is a deadline that ends whatever a connection is at.
var past = time.Unix(1, 0)

// exchange sends a request and reads the answer, up to its body. The end of the context
// ends it.
func (w *wire) exchange(l *connection, request *http.Request) (*http.Response, error) {
	stop := context.AfterFunc(request.Context(), func() { _ = l.conn.SetDeadline(past) })
	l.read, l.left = false, maxAnswerHeaders
	unsent := firstError(request.Write(l.out), l.out.Flush())
	return w.receive(l, request, unsent, stop)
}

// receive reads an answer, up to its body. Stop is called once the connection is of no
// more use to the call; if it returns false, nor is it to others.
func (w *wire) receive(l *connection, request *http.Request, unsent error, stop func() bool) (*http.Response, error) {
	response, err := l.receive(request, unsent)
	if err != nil {
		stop()
		_ = l.conn.Close()
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("the target closed the connection")
		}
		return nil, err
	}
	b := &answerBody{wire: w, line: l, stop: stop, body: response.Body}
	b.reusable = !response.Close && !request.Close && response.StatusCode != http.StatusSwitchingProtocols
	if response.ContentLength == 0 || response.Body == http.NoBody {
		b.release(true)
		response.Body = http.NoBody
		return response, nil
	}
	response.Body = b
	return response, nil
}

// receive reads the headers of the answer. Answers that only say that another follows
// are passed over.
func (l *connection) receive(request *http.Request, unsent error) (*http.Response, error) {
	var broken *net.OpError
	if unsent != nil && !errors.As(unsent, &broken) {
		return nil, unsent
	}
	// A target that does not take all of the request may have answered before.
	for {
		response, err := http.ReadResponse(l.in, request)
		if err != nil {
			return nil, firstError(unsent, err)
		}
		response.Close = response.Close || unsent != nil
		if response.StatusCode/100 != 1 || response.StatusCode == http.StatusSwitchingProtocols {
			l.left = math.MaxInt64 // the reader of the body knows how much is enough
			return response, nil
		}
	}
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// answerBody is the body of an answer. When it was read to its end, the connection can
// be used again.
type answerBody struct {
	wire     *wire
	line     *connection
	stop     func() bool
	body     io.ReadCloser
	reusable bool
	over     bool
}

// Read reads on.
func (b *answerBody) Read(p []byte) (int, error) {
	if b.over {
		return 0, io.EOF
	}
	n, err := b.body.Read(p)
	if err != nil {
		b.release(errors.Is(err, io.EOF))
	}
	return n, err
}

// Close lets go of what was not read.
func (b *answerBody) Close() error {
	if !b.over {
		b.release(false)
	}
	return nil
}

// release is the end of the call. A connection on which more came than was asked for
// is of no use.
func (b *answerBody) release(whole bool) {
	b.over = true
	if b.stop() && whole && b.reusable && b.line.empty() {
		b.wire.put(b.line)
		return
	}
	_ = b.line.conn.Close()
}
