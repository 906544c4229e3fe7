package server_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// post sends a request over a connection of its own, and returns the status and the
// text of the answer.
func (p *pipes) post(path, headers string, body []byte) (status int, text string) {
	conn := p.dial()
	defer conn.Close()
	go func() {
		_, _ = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n%sContent-Length: %d\r\n\r\n", path, headers, len(body))
		_, _ = conn.Write(body)
	}()
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	raw, _ := io.ReadAll(response.Body)
	return response.StatusCode, string(raw)
}

// What a packed request may become at most is reserved only until it was decoded: calls
// that wait leave the memory to others.
func TestPackedRequestsThatWaitLeaveRoom(t *testing.T) {
	inBubble(t, func(t *testing.T, connections *pipes) {
		_, text := connections.post("/fairlead.v1.WorkerService/JoinWorker", "", []byte(`{"name":"w","kinds":["k"],"slots":1,"lease":"300s"}`))
		var joined struct{ ID, Session string }
		if err := json.Unmarshal([]byte(text), &joined); err != nil {
			t.Fatal(err)
		}
		lease := gzipped([]byte(fmt.Sprintf(`{"id":%q,"session":%q,"wait":"60s"}`, joined.ID, joined.Session)))
		var all sync.WaitGroup
		for range 40 {
			all.Go(func() {
				if status, text := connections.post("/fairlead.v1.WorkerService/LeaseJobs", "Content-Encoding: gzip\r\n", lease); status != http.StatusOK {
					t.Errorf("a worker that waits: %d %s", status, text)
				}
			})
		}
		time.Sleep(5 * time.Second) // of the bubble
		enqueue := gzipped([]byte(`{"jobs":[{"kind":"noop","args":"` + strings.Repeat("a", 100<<10) + `"}]}`))
		if status, text := connections.post("/api/v1/jobs", "Content-Encoding: gzip\r\n", enqueue); status != http.StatusOK {
			t.Errorf("another caller: %d %s", status, text)
		}
		all.Wait()
	})
}

// Large bodies that come slowly do not keep the memory from others for long.
func TestSlowLargeBodiesLeaveRoom(t *testing.T) {
	inBubble(t, func(t *testing.T, connections *pipes) {
		var all sync.WaitGroup
		for _, size := range []int{16 << 20, 8 << 20} {
			conn := connections.dial()
			defer conn.Close()
			all.Go(func() { _, _ = io.Copy(io.Discard, conn) })
			all.Go(func() {
				_, err := fmt.Fprintf(conn, "POST /fairlead.v1.JobService/ListJobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", size)
				for part := bytes.Repeat([]byte(" "), 17<<10); err == nil; {
					_, err = conn.Write(part)
					time.Sleep(time.Second) // of the bubble
				}
			})
		}
		ordinary := []byte(`{"jobs":[{"kind":"noop","args":"` + strings.Repeat("a", 100<<10) + `"}]}`)
		refused := 0
		for range 20 {
			time.Sleep(15 * time.Second) // of the bubble
			if status, _ := connections.post("/api/v1/jobs", "", ordinary); status != http.StatusOK {
				refused++
			}
		}
		if refused > 1 {
			t.Errorf("%d of 20 ordinary requests were refused", refused)
		}
		all.Wait()
	})
}

// A packed request for which there is no memory is to be sent again, not to be mended.
func TestAPackedRequestWithoutMemoryIsUnavailable(t *testing.T) {
	inBubble(t, func(t *testing.T, connections *pipes) {
		conn := connections.dial()
		defer conn.Close()
		taken := make(chan struct{})
		go func() {
			_, _ = fmt.Fprintf(conn, "POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n", 16<<20)
			_, _ = conn.Write(bytes.Repeat([]byte(" "), 15<<20)) // which may take a minute
			close(taken)
		}()
		<-taken
		packed := gzipped([]byte(`{"jobs":[{"kind":"noop","args":"` + strings.Repeat("ab", 2<<20) + `"}]}`))
		if status, text := connections.post("/api/v1/jobs", "Content-Encoding: gzip\r\n", packed); status != http.StatusServiceUnavailable {
			t.Errorf("%d %s", status, text)
		}
	})
}
