// Package overload limits the memory and the time that requests and responses take.
package overload

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/fairlead-io/fairlead/internal/receiver"
	"github.com/fairlead-io/fairlead/server/internal/rest"
)

const (
	Patience      = 10 * time.Second // for the body of a request, plus more time for received data
	bodyRate      = 16 << 10         // bytes that extend the deadline by one second
	writePatience = 30 * time.Second // for the caller to receive writePiece bytes of a response
	writePiece    = 64 << 10
)

var ErrSlowBody = &rest.Error{Status: http.StatusRequestTimeout, Detail: "the body arrived too slowly; send it again, faster or in parts"}

// Web returns an HTTP server for handler. The server supports HTTP/1 and HTTP/2, with and
// without TLS, and has the limits that a handler cannot set itself. On HTTP/2, it also has a
// timeout for writes to the connection, because the frame that ends a stream waits for
// earlier writes to finish.
func Web(handler http.Handler) *http.Server {
	web := &http.Server{
		Handler: handler, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		Protocols: new(http.Protocols), HTTP2: &http.HTTP2Config{WriteByteTimeout: writePatience, MaxConcurrentStreams: callerStreams},
	}
	web.Protocols.SetHTTP1(true)
	web.Protocols.SetHTTP2(true)
	web.Protocols.SetUnencryptedHTTP2(true) // for gRPC
	return web
}

// WithDeadlines prevents slow callers from holding a connection and its resources: a body
// must arrive, and a response must be received, in reasonable time. It also limits how long
// net/http waits for a body that no handler reads. It does not limit the duration of a
// handler.
func WithDeadlines(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn := http.NewResponseController(w)
		answer := &timedWriter{ResponseWriter: w, conn: conn, http2: r.ProtoMajor == 2}
		defer answer.extend() // for the data that net/http writes after the handler
		if r.Body == nil || r.Body == http.NoBody {
			next.ServeHTTP(answer, r)
			return
		}
		timed := &timedBody{ReadCloser: r.Body, conn: conn, http2: r.ProtoMajor == 2, left: Patience}
		timed.arm(time.Now())()
		own := *r
		own.Body = timed
		if r.Method == http.MethodGet || r.Method == http.MethodHead {
			own.Body, own.ContentLength = http.NoBody, 0 // a body has no meaning in these requests
		}
		next.ServeHTTP(answer, &own)
	})
}

// timedBody is a body that must arrive in time. It measures the time spent waiting for
// data, not the time between two reads.
type timedBody struct {
	io.ReadCloser
	conn  *http.ResponseController
	http2 bool
	left  time.Duration
	until time.Time // deadline of the HTTP/1 connection
	over  bool      // whether the body was read to its end; net/http then sets the deadlines again
}

// arm sets a deadline for a read, and returns a function to call after the read. On HTTP/1
// the deadline stays, because net/http may read the rest of a body that the handler leaves.
// On HTTP/2 a deadline would end a body even if the handler does not wait for it. Without a
// connection, as in some tests, there is no deadline.
func (b *timedBody) arm(now time.Time) (disarm func()) {
	if b.http2 {
		return receiver.UnlessDone(b.left, func() { _ = b.conn.SetReadDeadline(receiver.Past) })
	}
	if until := now.Add(b.left); until.Sub(b.until) >= time.Second {
		b.until = until
		_ = b.conn.SetReadDeadline(until)
	}
	return func() {}
}

// Read reads from the body. It fails if the caller is too slow.
func (b *timedBody) Read(p []byte) (int, error) {
	if b.over {
		return 0, io.EOF
	}
	began := time.Now()
	disarm := b.arm(began)
	n, err := b.ReadCloser.Read(p)
	disarm()
	b.over = errors.Is(err, io.EOF)
	b.left += time.Duration(n)*time.Second/bodyRate - time.Since(began)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return n, ErrSlowBody
	}
	return n, err
}

// timedWriter is a response that the caller must receive in time. Any time may pass between
// two writes of a stream.
type timedWriter struct {
	http.ResponseWriter
	conn  *http.ResponseController
	http2 bool
	until time.Time // deadline of the connection
}

// arm sets a deadline for a write, and returns a function to call after the write.
func (w *timedWriter) arm() (disarm func()) {
	if w.http2 { // on HTTP/2 a deadline ends a stream even if nothing is being written
		return receiver.UnlessDone(writePatience, func() { _ = w.conn.SetWriteDeadline(receiver.Past) })
	}
	w.extend()
	return func() {}
}

// extend sets the deadline of the connection, unless it is already accurate to a second.
func (w *timedWriter) extend() {
	if until := time.Now().Add(writePatience); until.Sub(w.until) >= time.Second {
		w.until = until
		_ = w.conn.SetWriteDeadline(until)
	}
}

// Unwrap returns the wrapped writer, for http.ResponseController.
func (w *timedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Write writes in pieces, each with a deadline of its own.
func (w *timedWriter) Write(p []byte) (written int, err error) {
	for {
		n, err := w.writePiece(p[written:min(len(p), written+writePiece)])
		if written += n; err != nil || written == len(p) {
			return written, err
		}
	}
}

func (w *timedWriter) writePiece(p []byte) (int, error) {
	defer w.arm()()
	return w.ResponseWriter.Write(p)
}

// FlushError flushes with a deadline.
func (w *timedWriter) FlushError() error {
	defer w.arm()()
	return w.conn.Flush()
}

// Flush calls FlushError, for callers that do not know FlushError.
func (w *timedWriter) Flush() { _ = w.FlushError() }
