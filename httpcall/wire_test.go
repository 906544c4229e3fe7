package httpcall

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/internal/patience"
)

// scripted is a target that answers each connection's requests with texts, and then
// closes it.
type scripted struct {
	net.Listener
	conns, requests atomic.Int64
	bodies          chan string
}

func newScripted(t *testing.T, answers ...string) *scripted {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &scripted{Listener: listener, bodies: make(chan string, 100)}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			s.conns.Add(1)
			s.play(conn, answers)
		}
	}()
	t.Cleanup(func() {
		_ = listener.Close()
		<-ended
	})
	return s
}

func (s *scripted) play(conn net.Conn, answers []string) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	for _, answer := range answers {
		request, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		body, _ := io.ReadAll(request.Body)
		s.requests.Add(1)
		s.bodies <- string(body)
		if _, err := io.WriteString(conn, answer); err != nil {
			return
		}
	}
}

// post calls a target as items do.
func post(t *testing.T, caller *Caller, url, body string) (Reply, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience.Limit)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return caller.exchange(request)
}

func localCaller(t *testing.T) *Caller {
	t.Helper()
	caller := newItemCaller(mustGuard(t, true))
	t.Cleanup(caller.client.CloseIdleConnections)
	return caller
}

func TestAnswersAreRead(t *testing.T) {
	long := strings.Repeat("x", maxAnswer)
	for name, c := range map[string]struct {
		answer, body string
		status       int
		cut          bool
	}{
		"nothing":       {"HTTP/1.1 204 No Content\r\n\r\n", "", 204, false},
		"empty":         {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "", 200, false},
		"with a length": {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "hello", 200, false},
		"in chunks":     {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n", "hello", 200, false},
		"to the end":    {"HTTP/1.1 200 OK\r\n\r\nhello", "hello", 200, false},
		"of old":        {"HTTP/1.0 200 OK\r\n\r\nhello", "hello", 200, false},
		"at last":       {"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok", "ok", 201, false},
		"elsewhere":     {"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n", "", 302, false},
		"another kind":  {"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", "", 101, false},
		"just so long":  {fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", maxAnswer, long), long, 200, false},
		"too long":      {fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", maxAnswer+1, long+"y"), long, 200, true},
	} {
		t.Run(name, func(t *testing.T) {
			target, caller := newScripted(t, c.answer), localCaller(t)
			for range 2 { // the second connects anew: the target has gone
				reply, err := post(t, caller, "http://"+target.Addr().String(), "item")
				if err != nil || reply.Status != c.status || string(reply.Body) != c.body || reply.Cut != c.cut {
					t.Fatalf("got %d %.20q %v: %v", reply.Status, reply.Body, reply.Cut, err)
				}
				if got := <-target.bodies; got != "item" {
					t.Errorf("it was sent %q", got)
				}
			}
		})
	}
}

func TestAnswersThatAreNone(t *testing.T) {
	for name, c := range map[string]struct{ answer, want string }{
		"nothing":          {"", "closed the connection"},
		"no HTTP":          {"220 smtp ready\r\n", "malformed"},
		"half a body":      {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel", "read the response"},
		"too long headers": {"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 2*maxAnswerHeaders) + "\r\n\r\n", "the response headers are longer than 65536 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			target := newScripted(t, c.answer)
			_, err := post(t, localCaller(t), "http://"+target.Addr().String(), "item")
			var failed *Error
			if !errors.As(err, &failed) || failed.Class != ClassConnect || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v", err)
			}
			if n := target.requests.Load(); n != 1 {
				t.Errorf("it was called %d times", n)
			}
		})
	}
}

// One connection serves calls that follow each other, until one side closes it.
func TestConnectionsAreUsedAgain(t *testing.T) {
	answer := "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
	target, caller := newScripted(t, answer, answer, answer), localCaller(t)
	for i := range 7 { // the target closes a connection after three without a word
		if _, err := post(t, caller, "http://"+target.Addr().String(), fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
		if got := <-target.bodies; got != fmt.Sprint(i) {
			t.Errorf("call %d sent %q", i, got)
		}
	}
	if conns, requests := target.conns.Load(), target.requests.Load(); conns != 3 || requests != 7 {
		t.Errorf("there were %d connections and %d requests", conns, requests)
	}
}

func TestConnectionsAreLetGo(t *testing.T) {
	for name, first := range map[string]string{
		"that the target closes":   "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
		"on which more came":       "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok HTTP/1.1 500 Oh\r\n\r\n",
		"of which much was unread": fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", 2*maxAnswer, strings.Repeat("x", 2*maxAnswer)),
	} {
		t.Run(name, func(t *testing.T) {
			target, caller := newScripted(t, first, first), localCaller(t)
			for range 2 {
				if reply, err := post(t, caller, "http://"+target.Addr().String(), "item"); err != nil || reply.Status != 200 {
					t.Fatalf("got %d: %v", reply.Status, err)
				}
			}
			if n := target.conns.Load(); n != 2 {
				t.Errorf("there were %d connections", n)
			}
		})
	}
}

// An answer that was not asked for is not taken for that of the next call, wherever it
// waits.
func TestAConnectionWithMoreThanWasAskedForIsLetGo(t *testing.T) {
	const more = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong"
	answer := func(size int) string {
		head := "HTTP/1.1 200 OK\r\nContent-Length: 4000\r\n\r\n"
		padding := size - len(head) - 4000 - len("X: \r\n")
		return strings.Replace(head, "\r\n", "\r\nX: "+strings.Repeat("x", padding)+"\r\n", 1) + strings.Repeat("y", 4000)
	}
	for _, size := range []int{4090, 4096, 5000} { // a line reads 4096 bytes at once
		conn, other := net.Pipe()
		defer other.Close()
		w := localCaller(t).wire
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://there/", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		reply, err := w.goOn(newLine(conn, "there:80", []byte(answer(size)+more)), request)
		if err != nil || len(reply.Body) != 4000 {
			t.Errorf("of %d bytes: %d in the body, %v", size, len(reply.Body), err)
		}
		if w.again("there:80", time.Now()) != nil {
			t.Errorf("after %d bytes the connection is used again", size)
		}
	}
}

func TestACallEndsWithItsContext(t *testing.T) {
	held := make(chan struct{})
	target := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hangs" {
			<-held
		}
	}))
	defer target.Close()
	defer close(held)
	caller := localCaller(t)
	for _, path := range []string{"/fine", "/hangs", "/fine"} {
		ctx, cancel := context.WithTimeout(t.Context(), patience.Limit)
		if path == "/hangs" {
			ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.URL+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		_, err = caller.exchange(request)
		cancel()
		var failed *Error
		if timedOut := errors.As(err, &failed) && failed.Class == ClassTimeout; timedOut != (path == "/hangs") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestBodiesOfAnySizeAreSent(t *testing.T) {
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, err := io.Copy(io.Discard, r.Body)
		fmt.Fprint(w, n, err)
	}))
	defer target.Close()
	caller := localCaller(t)
	for _, size := range []int{0, 1, wireBody, wireBody + 1, maxBody} {
		reply, err := post(t, caller, target.URL, strings.Repeat("x", size))
		if want := fmt.Sprint(size, nil); err != nil || string(reply.Body) != want {
			t.Errorf("of %d bytes it got %s: %v", size, reply.Body, err)
		}
	}
}

func TestTheGuardSeesEveryConnection(t *testing.T) {
	target := newScripted(t, "HTTP/1.1 204 No Content\r\n\r\n")
	_, err := post(t, newItemCaller(mustGuard(t, false)), "http://"+target.Addr().String(), "item")
	var denied *DeniedError
	if !errors.As(err, &denied) || target.conns.Load() != 0 {
		t.Errorf("after %d connections the error is %v", target.conns.Load(), err)
	}
}

func TestIdleConnectionsAreClosed(t *testing.T) {
	answer := "HTTP/1.1 204 No Content\r\n\r\n"
	target, caller := newScripted(t, answer, answer), localCaller(t)
	w := newWire(newTransport(mustGuard(t, true), nil))
	over := callerOver(w)
	if _, err := post(t, over, "http://"+target.Addr().String(), "item"); err != nil {
		t.Fatal(err)
	}
	w.mu.Lock()
	for _, lines := range w.idle {
		lines[0].since = lines[0].since.Add(-idleLine)
	}
	w.mu.Unlock()
	w.expire()
	if len(w.idle) != 0 || w.clock != nil {
		t.Errorf("idle are %v", w.idle)
	}
	if _, err := post(t, caller, "http://"+target.Addr().String(), "item"); err != nil {
		t.Fatal(err)
	}
	if n := target.conns.Load(); n != 2 {
		t.Errorf("there were %d connections", n)
	}
}

func mustGuard(t *testing.T, local bool) *Guard {
	t.Helper()
	guard, err := NewGuard(nil, local)
	if err != nil {
		t.Fatal(err)
	}
	return guard
}
