package server

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/fairlead-io/fairlead/internal/receiver"
	"github.com/fairlead-io/fairlead/internal/rest"
)

const (
	bodyPatience  = 10 * time.Second // for the body of a request, and more for what has come
	bodyRate      = 16 << 10         // bytes that buy another second
	writePatience = 30 * time.Second // for a caller to take so much of an answer:
	writePiece    = 64 << 10
)

var errSlowBody = &rest.Error{Status: http.StatusRequestTimeout, Detail: "the body arrived too slowly; send it again, faster or in parts"}

// Web is the HTTP server of a handler: HTTP/1 and HTTP/2, also without TLS, with the
// bounds that a handler cannot set. On HTTP/2 the connection has to go on too, because
// what ends a stream waits behind what is being written.
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

// withDeadlines keeps slow callers from holding a connection and what belongs to it:
// a body has to come, and an answer has to be taken, in reasonable time. It also
// bounds how long net/http waits for a body that no handler reads. How long a
// handler takes does not matter.
func withDeadlines(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn := http.NewResponseController(w)
		answer := &timedWriter{ResponseWriter: w, conn: conn, http2: r.ProtoMajor == 2}
		defer answer.extend() // net/http writes what is left
		if r.Body == nil || r.Body == http.NoBody {
			next.ServeHTTP(answer, r)
			return
		}
		timed := &timedBody{ReadCloser: r.Body, conn: conn, http2: r.ProtoMajor == 2, left: bodyPatience}
		timed.arm(time.Now())()
		own := *r
		own.Body = timed
		if r.Method == http.MethodGet || r.Method == http.MethodHead {
			own.Body, own.ContentLength = http.NoBody, 0 // what is sent with these means nothing
		}
		next.ServeHTTP(answer, &own)
	})
}

// timedBody is a body that has to come in time. What counts is how long it was waited
// for, not what the handler did between two reads.
type timedBody struct {
	io.ReadCloser
	conn  *http.ResponseController
	http2 bool
	left  time.Duration
	until time.Time // the deadline of the connection of HTTP/1
	over  bool      // it was read to its end: deadlines are net/http's again
}

// arm sets a deadline for what is read, and returns what to do once it was read. On
// HTTP/1 the deadline stays, for what net/http reads of a body that the handler leaves;
// on HTTP/2 a deadline ends a body even if it is not being waited for. Where there is
// no connection, as in some tests, there is no deadline.
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

// Read reads on. It fails if the caller is too slow.
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
		return n, errSlowBody
	}
	return n, err
}

// timedWriter is an answer that the caller has to take in time. Between two writes of a
// stream any time may pass.
type timedWriter struct {
	http.ResponseWriter
	conn  *http.ResponseController
	http2 bool
	until time.Time // the deadline of the connection
}

// arm sets a deadline for what is written, and returns what to do once it was written.
func (w *timedWriter) arm() (disarm func()) {
	if w.http2 { // where a deadline ends a stream even if nothing is being written
		return receiver.UnlessDone(writePatience, func() { _ = w.conn.SetWriteDeadline(receiver.Past) })
	}
	w.extend()
	return func() {}
}

// extend sets the deadline of the connection, unless it is about right.
func (w *timedWriter) extend() {
	if until := time.Now().Add(writePatience); until.Sub(w.until) >= time.Second {
		w.until = until
		_ = w.conn.SetWriteDeadline(until)
	}
}

// Unwrap is for http.ResponseController.
func (w *timedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Write writes piece by piece, each before a deadline of its own.
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

// FlushError flushes before the deadline.
func (w *timedWriter) FlushError() error {
	defer w.arm()()
	return w.conn.Flush()
}

// Flush is FlushError for callers that do not know it.
func (w *timedWriter) Flush() { _ = w.FlushError() }
