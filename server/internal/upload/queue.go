// Package upload limits concurrent uploads of batches and reads the tasks in them.
package upload

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead/internal/receiver"
	"github.com/fairlead-io/fairlead/server/internal/overload"
	"github.com/fairlead-io/fairlead/server/internal/rest"
)

// Maximum numbers of uploads in progress. An upload grows a node by up to 40 MiB: the tasks
// of a transaction (4 MiB, and one more line) in several forms, and the buffers of its lines.
const (
	parallelUploads = 2 // uploads of all callers
	callerUploads   = 1 // uploads of one caller
)

var errManyUploads = &rest.Error{Status: http.StatusServiceUnavailable, Detail: "too many uploads are in progress; try again later"}

// Queue limits the number of uploads in progress, and with it their memory. Uploads
// do not share the memory of other large bodies, because they can last for minutes. The
// queue is in order of arrival, except that callers with callerUploads in progress are
// passed over. Its zero value is an empty queue.
type Queue struct {
	mu      sync.Mutex
	total   int            // number of uploads in progress
	callers map[string]int // numbers of uploads in progress by caller
	waiting []*queuedUpload
}

type queuedUpload struct {
	caller   string
	admitted chan struct{} // closed when the upload may begin
}

// Enter waits until an upload of a caller may begin, but not longer than Patience. If
// it returns no error, the upload must end with leave.
func (q *Queue) Enter(ctx context.Context, caller string) error {
	u := &queuedUpload{caller: caller, admitted: make(chan struct{})}
	q.mu.Lock()
	q.waiting = append(q.waiting, u)
	q.admit()
	q.mu.Unlock()
	patient, cancel := context.WithTimeout(ctx, overload.Patience)
	defer cancel()
	select {
	case <-u.admitted:
		return nil
	case <-patient.Done():
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	at := slices.Index(q.waiting, u)
	if at < 0 {
		return nil // admitted at the last moment
	}
	q.waiting = slices.Delete(q.waiting, at, at+1)
	return errManyUploads
}

// Leave ends an upload of a caller.
func (q *Queue) Leave(caller string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.total--
	if q.callers[caller]--; q.callers[caller] == 0 {
		delete(q.callers, caller)
	}
	q.admit()
}

// admit lets waiting uploads begin for which there is a place.
func (q *Queue) admit() {
	q.waiting = slices.DeleteFunc(q.waiting, func(u *queuedUpload) bool {
		if q.total >= parallelUploads || q.callers[u.caller] >= callerUploads {
			return false
		}
		if q.callers == nil {
			q.callers = map[string]int{}
		}
		q.total++
		q.callers[u.caller]++
		close(u.admitted)
		return true
	})
}

// Wanted reports whether another upload could begin if one of the given caller ended.
func (q *Queue) Wanted(caller string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.ContainsFunc(q.waiting, func(u *queuedUpload) bool {
		return u.caller == caller || q.callers[u.caller] < callerUploads
	})
}

// paceCheck is the interval at which the pace of an upload in progress is checked.
const paceCheck = time.Second

// Body is the body of an upload in progress. While another upload waits for its
// place, it must arrive at MinRate, with pauses of up to Patience.
type Body struct {
	io.ReadCloser
	wanted func() bool // reports whether another upload waits for the place
	conn   *http.ResponseController
	done   chan struct{}
	ended  sync.WaitGroup

	mu      sync.Mutex
	reading bool
	began   time.Time     // start of the current read
	left    time.Duration // time that the caller may still take
	late    bool          // whether the upload was interrupted
}

func NewBody(body io.ReadCloser, conn *http.ResponseController, wanted func() bool) *Body {
	b := &Body{ReadCloser: body, wanted: wanted, conn: conn, done: make(chan struct{}), left: overload.Patience}
	b.ended.Go(b.watch)
	return b
}

// Stop ends the checks. Afterwards the body does not use the connection.
func (b *Body) Stop() {
	close(b.done)
	b.ended.Wait()
}

// watch interrupts a read that takes too long, also if the upload that waits for the place
// came after the start of the read.
func (b *Body) watch() {
	ticker := time.NewTicker(paceCheck)
	defer ticker.Stop()
	for {
		select {
		case <-b.done:
			return
		case <-ticker.C:
			b.interrupt()
		}
	}
}

func (b *Body) interrupt() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.reading && time.Since(b.began) >= b.left && b.wanted() {
		b.late = true
		_ = b.conn.SetReadDeadline(receiver.Past) // in-process callers have no connection and are never slow
	}
}

// Read reads from the body. It fails if the upload is too slow and another one waits.
func (b *Body) Read(p []byte) (int, error) {
	b.mu.Lock()
	b.reading, b.began = true, time.Now()
	b.mu.Unlock()
	n, err := b.ReadCloser.Read(p)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reading = false
	b.left += time.Duration(n)*time.Second/overload.MinRate - time.Since(b.began)
	b.late = b.late || b.left <= 0 && b.wanted()
	b.left = min(max(b.left, 0), overload.Patience)
	if b.late && !errors.Is(err, io.EOF) {
		return n, overload.ErrSlowBody
	}
	return n, err
}
