// Package receiver disconnects clients that receive a response too slowly, because other
// requests wait for the response's memory.
package receiver

import (
	"net/http"
	"sync"
	"time"
)

// Past is a deadline in the past. Setting it cancels pending I/O immediately.
var Past = time.Unix(1, 0)

// piece is the number of bytes written between two checks of the time.
const piece = 64 << 10

// Writer is an http.ResponseWriter that fails if the receiver is too slow. The receiver may
// take a grace period plus one second for every rate bytes written.
type Writer struct {
	http.ResponseWriter
	conn     *http.ResponseController
	patience time.Duration
	rate     int
	written  int
	waited   time.Duration
}

// NewWriter returns a Writer with the grace period patience. rate is in bytes per second.
func NewWriter(w http.ResponseWriter, patience time.Duration, rate int) *Writer {
	return &Writer{ResponseWriter: w, conn: http.NewResponseController(w), patience: patience, rate: rate}
}

// Unwrap returns the underlying ResponseWriter, for http.ResponseController.
func (w *Writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Flush implements http.Flusher, for callers that do not use http.ResponseController.
func (w *Writer) Flush() { _ = w.conn.Flush() }

// Write writes p in pieces and checks the elapsed time for each of them.
func (w *Writer) Write(p []byte) (written int, err error) {
	for {
		n, err := w.writePiece(p[written:min(len(p), written+piece)])
		if written += n; err != nil || written == len(p) {
			return written, err
		}
	}
}

func (w *Writer) writePiece(p []byte) (int, error) {
	left := w.patience + time.Duration(w.written)*time.Second/time.Duration(w.rate) - w.waited
	began := time.Now()
	defer UnlessDone(max(0, left), func() { _ = w.conn.SetWriteDeadline(Past) })()
	n, err := w.ResponseWriter.Write(p)
	w.written, w.waited = w.written+n, w.waited+time.Since(began)
	return n, err
}

// UnlessDone calls expire after the given time unless done is called first. Once done has
// returned, expire is not running and will not run. This matters because an HTTP/2 stream must
// not be used after its handler has returned.
func UnlessDone(after time.Duration, expire func()) (done func()) {
	var mu sync.Mutex
	over := false
	timer := time.AfterFunc(after, func() {
		mu.Lock()
		defer mu.Unlock()
		if !over {
			expire()
		}
	})
	return func() {
		mu.Lock()
		defer mu.Unlock()
		over = true
		timer.Stop()
	}
}
