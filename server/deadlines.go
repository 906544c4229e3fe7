package server

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/fairlead-io/fairlead/internal/rest"
)

const (
	bodyPatience  = 10 * time.Second // for the body of a request, and more for what has come
	bodyRate      = 16 << 10         // bytes that buy another second
	writePatience = 30 * time.Second // for a caller to take what one write has for it
)

var errSlowBody = &rest.Error{Status: http.StatusRequestTimeout, Detail: "the body came too slowly; send it again, faster or in parts"}

// withDeadlines keeps slow callers from holding a connection and what belongs to it:
// a body has to come, and an answer has to be taken, in reasonable time. It also
// bounds how long net/http waits for a body that no handler reads. How long a
// handler takes does not matter.
func withDeadlines(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn := http.NewResponseController(w)
		answer := &timedWriter{ResponseWriter: w, conn: conn}
		defer answer.arm() // net/http writes what is left
		if r.Body == nil || r.Body == http.NoBody {
			next.ServeHTTP(answer, r)
			return
		}
		timed := &timedBody{ReadCloser: r.Body, conn: conn, left: bodyPatience}
		timed.arm(time.Now())
		own := *r
		own.Body = timed
		next.ServeHTTP(answer, &own)
	})
}

// timedBody is a body that has to come in time. What counts is how long it was waited
// for, not what the handler did between two reads.
type timedBody struct {
	io.ReadCloser
	conn  *http.ResponseController
	left  time.Duration
	until time.Time // the deadline of the connection
}

// arm sets the deadline of the connection, unless it is about right. Where there is
// no connection, as in some tests, there is no deadline.
func (b *timedBody) arm(now time.Time) {
	if until := now.Add(b.left); until.Sub(b.until) >= time.Second {
		b.until = until
		_ = b.conn.SetReadDeadline(until)
	}
}

// Read reads on. It fails if the caller is too slow.
func (b *timedBody) Read(p []byte) (int, error) {
	began := time.Now()
	b.arm(began)
	n, err := b.ReadCloser.Read(p)
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
	conn *http.ResponseController
}

func (w *timedWriter) arm()    { _ = w.conn.SetWriteDeadline(time.Now().Add(writePatience)) }
func (w *timedWriter) disarm() { _ = w.conn.SetWriteDeadline(time.Time{}) }

// Unwrap is for http.ResponseController.
func (w *timedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Write writes before the deadline.
func (w *timedWriter) Write(p []byte) (int, error) {
	w.arm()
	defer w.disarm()
	return w.ResponseWriter.Write(p)
}

// FlushError flushes before the deadline.
func (w *timedWriter) FlushError() error {
	w.arm()
	defer w.disarm()
	return w.conn.Flush()
}

// Flush is FlushError for callers that do not know it.
func (w *timedWriter) Flush() { _ = w.FlushError() }
