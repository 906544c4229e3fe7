// Package receiver cuts off clients that receive an answer too slowly, because others wait for
// the memory of the answer.
package receiver

import (
	"net/http"
	"sync"
	"time"
)

// Past is a deadline that has passed.
var Past = time.Unix(1, 0)

// piece is how many bytes are written before the time is checked again.
const piece = 64 << 10

// Writer fails once the receiver has taken longer than some patience, and a second more for
// each rate of bytes that were written.
type Writer struct {
	http.ResponseWriter
	conn     *http.ResponseController
	patience time.Duration
	rate     int
	written  int
	waited   time.Duration
}

// NewWriter returns a Writer. A rate is bytes a second.
func NewWriter(w http.ResponseWriter, patience time.Duration, rate int) *Writer {
	return &Writer{ResponseWriter: w, conn: http.NewResponseController(w), patience: patience, rate: rate}
}

// Unwrap is for http.ResponseController.
func (w *Writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Flush is for callers that do not know http.ResponseController.
func (w *Writer) Flush() { _ = w.conn.Flush() }

// Write writes piece by piece.
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

// UnlessDone does something after a time, unless what it returns was called before. Once
// that has returned it is not done any more, nor under way: a stream of HTTP/2 must not
// be touched when its handler has ended.
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
