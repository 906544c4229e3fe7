package server_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// halfUpload is an upload whose caller sends its lines in parts.
type halfUpload struct {
	*testing.T
	conn net.Conn
}

// oneTask is a part of an upload: a task and 1 MiB of empty lines.
var oneTask = `{"target":{"id":"1","type":"wall"}}` + "\n" + strings.Repeat(strings.Repeat(" ", 1023)+"\n", 1024)

// beginUpload sends the header of an upload whose body has the given size. Nothing of the
// body has been sent.
func beginUpload(t *testing.T, connections *pipes, size int) *halfUpload {
	u := &halfUpload{T: t, conn: connections.dial()}
	u.send(fmt.Sprintf("POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\nContent-Length: %d\r\n\r\n", upload, size))
	return u
}

// send sends a part of the upload. It returns when the service has read it.
func (u *halfUpload) send(part string) {
	if _, err := io.WriteString(u.conn, part); err != nil {
		u.Error(err)
	}
}

// answer reads the response and closes the connection. The status is 0 if no response
// arrives within the given time.
func (u *halfUpload) answer(within time.Duration) (status int, header http.Header, body string) {
	defer u.conn.Close()
	_ = u.conn.SetReadDeadline(time.Now().Add(within))
	response, err := http.ReadResponse(bufio.NewReader(u.conn), nil)
	if err != nil {
		return 0, nil, err.Error()
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	return response.StatusCode, response.Header, string(text)
}

func TestUploadsOfACallerWaitForEachOther(t *testing.T) {
	inBubble(t, func(t *testing.T, connections *pipes) {
		const uploads, most = 7, 1
		finish := make(chan struct{})
		var inProgress atomic.Int32
		var all sync.WaitGroup
		for range uploads {
			all.Go(func() {
				u := beginUpload(t, connections, 2*len(oneTask))
				u.send(oneTask)
				if now := inProgress.Add(1); now > most {
					t.Errorf("%d uploads are read at once, want at most %d", now, most)
				}
				<-finish
				u.send(oneTask[:len(oneTask)/2])
				inProgress.Add(-1)
				u.send(oneTask[len(oneTask)/2:])
				if status, _, body := u.answer(time.Minute); status != http.StatusOK {
					t.Errorf("an upload is answered with %d %s", status, body)
				}
			})
		}
		synctest.Wait()
		if now := inProgress.Load(); now != most {
			t.Errorf("%d uploads are read, want %d", now, most)
		}
		close(finish)
		all.Wait()
	})
}

// A stalled upload keeps its place only while no other upload waits, even if its first
// megabyte arrived quickly.
func TestAStalledUploadLosesItsPlace(t *testing.T) {
	inBubble(t, func(t *testing.T, connections *pipes) {
		stalled := make(chan int)
		go func() {
			u := beginUpload(t, connections, len(oneTask)+1)
			u.send(oneTask)
			status, _, _ := u.answer(30 * time.Second)
			stalled <- status
		}()
		time.Sleep(5 * time.Second) // of the bubble
		u := beginUpload(t, connections, len(oneTask))
		u.send(oneTask)
		if status, _, body := u.answer(10 * time.Second); status != http.StatusOK {
			t.Errorf("the waiting upload is answered with %d %s", status, body)
		}
		if status := <-stalled; status != http.StatusRequestTimeout {
			t.Errorf("the stalled upload is answered with %d", status)
		}
	})
}

// Over HTTP/2, a stalled upload ends its own call only.
func TestAStalledUploadLosesItsPlaceOnHTTP2(t *testing.T) {
	inBubble(t, func(t *testing.T, connections *pipes) {
		transport := &http.Transport{Protocols: new(http.Protocols), DialContext: func(context.Context, string, string) (net.Conn, error) { return connections.dial(), nil }}
		transport.Protocols.SetUnencryptedHTTP2(true)
		defer transport.CloseIdleConnections()
		send := func(body io.Reader) *http.Response {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost"+upload, body)
			if err != nil {
				t.Error(err)
				return &http.Response{Body: http.NoBody}
			}
			request.Header.Set("Content-Type", "application/x-ndjson")
			response, err := transport.RoundTrip(request)
			if err != nil {
				t.Error(err)
				return &http.Response{Body: http.NoBody}
			}
			return response
		}
		rest, end := io.Pipe()
		stalled := make(chan *http.Response)
		go func() { stalled <- send(io.MultiReader(strings.NewReader(oneTask), rest)) }()
		time.Sleep(5 * time.Second) // of the bubble
		waiting := send(strings.NewReader(oneTask))
		if _ = waiting.Body.Close(); waiting.StatusCode != http.StatusOK {
			t.Errorf("the waiting upload is answered with %d", waiting.StatusCode)
		}
		lost := <-stalled
		if lost.StatusCode != http.StatusRequestTimeout {
			t.Errorf("the stalled upload is answered with %d", lost.StatusCode)
		}
		_ = end.Close()
		_ = lost.Body.Close() // waits until the body is no longer read
	})
}

func TestASlowUploadForWhichNoneWaitsIsStored(t *testing.T) {
	inBubble(t, func(t *testing.T, connections *pipes) {
		u := beginUpload(t, connections, 2*len(oneTask))
		u.send(oneTask)
		time.Sleep(40 * time.Second) // of the bubble
		u.send(oneTask)
		if status, _, body := u.answer(time.Minute); status != http.StatusOK {
			t.Errorf("it is answered with %d %s", status, body)
		}
	})
}

// An upload that gets no place is refused, and can be sent again.
func TestAnUploadWaitsForAPlaceForALimitedTime(t *testing.T) {
	inBubble(t, func(t *testing.T, connections *pipes) {
		const seconds = 15
		var all sync.WaitGroup
		all.Go(func() {
			u := beginUpload(t, connections, seconds*len(oneTask))
			for range seconds {
				u.send(oneTask)
				time.Sleep(time.Second) // of the bubble
			}
			if status, _, body := u.answer(time.Minute); status != http.StatusOK {
				t.Errorf("a steady upload is answered with %d %s", status, body)
			}
		})
		time.Sleep(time.Second) // of the bubble
		late := beginUpload(t, connections, len(oneTask))
		status, header, body := late.answer(12 * time.Second)
		if status != http.StatusServiceUnavailable || header.Get("Retry-After") == "" || !strings.Contains(body, "too many uploads are in progress") {
			t.Errorf("the late upload is answered with %d %v %s", status, header, body)
		}
		all.Wait()
	})
}
