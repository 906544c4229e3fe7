package server_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/server"
)

// pipes is a listener with connections in memory, whose deadlines follow the clock of a
// synctest bubble.
type pipes struct {
	accepted chan net.Conn
	closed   chan struct{}
	once     sync.Once
}

func newPipes() *pipes { return &pipes{accepted: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.accepted:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (*pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

// dial opens a connection.
func (p *pipes) dial() net.Conn {
	ours, theirs := net.Pipe()
	p.accepted <- theirs
	return ours
}

// inBubble serves the API in a bubble, where callers need no token and a node can paint
// walls.
func inBubble(t *testing.T, test func(t *testing.T, connections *pipes)) {
	synctest.Test(t, func(t *testing.T) {
		store := sqlitetest.Open(t)
		if _, err := store.Join(t.Context(), fairlead.Node{Name: "test", Kinds: []string{"wall.paint"}}, time.Hour); err != nil {
			t.Fatal(err)
		}
		service, err := server.New(node(true), store, server.Options{Version: "test", Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		connections := newPipes()
		web := server.Web(service)
		web.IdleTimeout = 5 * time.Second
		served := make(chan error)
		go func() { served <- web.Serve(connections) }()
		test(t, connections)
		_ = web.Close()
		<-served
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
}

// endsBy fails unless the service ends the connection within a time of the bubble.
func endsBy(t *testing.T, what string, conn net.Conn, patience time.Duration) {
	t.Helper()
	_ = conn.SetReadDeadline(time.Now().Add(patience))
	if _, err := io.Copy(io.Discard, conn); err != nil {
		t.Errorf("%s: the connection is still there after %s: %v", what, patience, err)
	}
}

// A caller that sends its body byte by byte loses its connection, whatever it calls and
// whether or not the body is of use there.
func TestABodyThatDripsEndsItsConnection(t *testing.T) {
	for _, place := range []struct{ path, kind string }{
		{"/api/v1/jobs", "application/json"},
		{"/api/v1/jobs/1/cancel", "application/json"},
		{"/api/v1/batches/upload?name=n&type=paint", "text/csv"},
		{"/api/v1/callbacks/1", "application/json"},
		{"/api/v1/nowhere", "application/json"},
		{"/livez", "text/plain"},
		{"/openapi.json", "text/plain"},
		{"/fairlead.v1.JobService/EnqueueJobs", "application/proto"},
		{"/fairlead.v1.JobService/EnqueueJobs", "application/json"},
		{"/fairlead.v1.JobService/EnqueueJobs", "application/grpc-web"},
		{"/fairlead.v1.JobService/WatchJob", "application/connect+proto"},
		{"/fairlead.v1.JobService/Nothing", "application/proto"},
	} {
		for _, length := range []string{"Content-Length: 100000", "Transfer-Encoding: chunked"} {
			t.Run(place.path+" as "+place.kind+", "+length, func(t *testing.T) {
				inBubble(t, func(t *testing.T, connections *pipes) {
					conn := connections.dial()
					defer conn.Close()
					dripped := make(chan struct{})
					go func() {
						defer close(dripped)
						_, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: %s\r\n%s\r\n\r\n", place.path, place.kind, length)
						for err == nil {
							time.Sleep(2 * time.Second) // of the bubble
							_, err = io.WriteString(conn, "1\r\n \r\n")
						}
					}()
					endsBy(t, place.path, conn, 20*time.Second)
					_ = conn.Close()
					<-dripped
				})
			})
		}
	}
}

// A body may take its time as long as it comes: a slow line is no attack.
func TestABodyThatComesSteadilyIsRead(t *testing.T) {
	inBubble(t, func(t *testing.T, connections *pipes) {
		conn := connections.dial()
		defer conn.Close()
		const parts, size = 30, 300 << 10
		go func() {
			_, _ = fmt.Fprintf(conn, "POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n", 25+parts*size)
			_, _ = io.WriteString(conn, `{"jobs":[{"kind":"noop"}]`)
			for i := range parts {
				time.Sleep(time.Second) // of the bubble
				part := make([]byte, size)
				for j := range part {
					part[j] = ' '
				}
				if i == parts-1 {
					part[size-1] = '}'
				}
				_, _ = conn.Write(part)
			}
		}()
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			t.Errorf("it was answered with %s", response.Status)
		}
	})
}

// A caller that takes nothing of its answer loses its connection.
func TestAnAnswerThatIsNotTakenEndsItsConnection(t *testing.T) {
	for _, path := range []string{"/openapi.json", "/docs", "/api/v1/events", "/livez", "/api/v1/jobs"} {
		t.Run(path, func(t *testing.T) {
			inBubble(t, func(t *testing.T, connections *pipes) {
				conn := connections.dial()
				defer conn.Close()
				if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Minute) // of the bubble; meanwhile nothing is read
				endsBy(t, path, conn, time.Second)
			})
		})
	}
}

// An answer that is taken slowly is sent whole.
func TestAnAnswerThatIsTakenSlowlyIsSentWhole(t *testing.T) {
	inBubble(t, func(t *testing.T, connections *pipes) {
		conn := connections.dial()
		defer conn.Close()
		if _, err := io.WriteString(conn, "GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		began := time.Now()
		for err == nil {
			time.Sleep(5 * time.Second) // of the bubble
			_, err = io.CopyN(io.Discard, response.Body, 16<<10)
		}
		if !errors.Is(err, io.EOF) || time.Since(began) < time.Minute {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
	})
}

// A stream on which little happens is not taken for a slow caller.
func TestAQuietStreamStaysOpen(t *testing.T) {
	inBubble(t, func(t *testing.T, connections *pipes) {
		conn := connections.dial()
		defer conn.Close()
		if _, err := io.WriteString(conn, "GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(conn)
		_ = conn.SetReadDeadline(time.Now().Add(10 * time.Minute))
		for beats := 0; beats < 20; {
			line, err := lines.ReadString('\n')
			if err != nil {
				t.Fatalf("the stream ended after %d beats: %v", beats, err)
			}
			if line == ":\n" {
				beats++
			}
		}
	})
}

// Over HTTP/2, a slow body ends its call, and other calls on the connection continue.
func TestABodyThatDripsEndsItsCallOfGRPC(t *testing.T) {
	for _, method := range []string{"JobService/EnqueueJobs", "JobService/WatchJob", "SystemService/WatchEvents"} {
		t.Run(method, func(t *testing.T) {
			inBubble(t, func(t *testing.T, connections *pipes) {
				transport := &http.Transport{Protocols: new(http.Protocols), DialContext: func(context.Context, string, string) (net.Conn, error) { return connections.dial(), nil }}
				transport.Protocols.SetUnencryptedHTTP2(true)
				defer transport.CloseIdleConnections()
				body, dripping := io.Pipe()
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				defer cancel()
				request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost/fairlead.v1."+method, body)
				if err != nil {
					t.Fatal(err)
				}
				request.Header.Set("Content-Type", "application/grpc")
				dripped := make(chan struct{})
				go func() {
					defer close(dripped)
					_, err := dripping.Write([]byte{0, 0, 0, 1, 0}) // a message of 256 bytes follows
					for err == nil {
						time.Sleep(2 * time.Second) // of the bubble
						_, err = dripping.Write([]byte{0})
					}
				}()
				response, err := transport.RoundTrip(request)
				if err != nil {
					t.Fatalf("the call is still open: %v", err)
				}
				if _, err := io.Copy(io.Discard, response.Body); err != nil {
					t.Errorf("the answer has no end: %v", err)
				}
				status := response.Header.Get("Grpc-Status") + response.Trailer.Get("Grpc-Status")
				if want := "4"; status != want {
					t.Errorf("the call ended with the code %s, want %s", status, want)
				}
				_ = response.Body.Close()
				_ = body.Close()
				<-dripped
			})
		})
	}
}

// frozen is a connection whose owner stops reading.
type frozen struct {
	net.Conn
	mu    sync.Mutex
	until chan struct{}
}

func (f *frozen) Read(p []byte) (int, error) {
	f.mu.Lock()
	until := f.until
	f.mu.Unlock()
	if until != nil {
		<-until
	}
	return f.Conn.Read(p)
}

// freeze makes the owner read nothing more until it is thawed.
func (f *frozen) freeze() (thaw func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.until = make(chan struct{})
	return func() { close(f.until) }
}

// Over HTTP/2 answers that are not taken end their handlers too.
func TestAnAnswerThatIsNotTakenEndsItsHandlerOnHTTP2(t *testing.T) {
	inBubble(t, func(t *testing.T, connections *pipes) {
		var conn *frozen
		transport := &http.Transport{Protocols: new(http.Protocols), DialContext: func(context.Context, string, string) (net.Conn, error) {
			conn = &frozen{Conn: connections.dial()}
			return conn, nil
		}}
		transport.Protocols.SetUnencryptedHTTP2(true)
		get := func(ctx context.Context, path string) error {
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://localhost"+path, nil)
			if err != nil {
				return err
			}
			response, err := transport.RoundTrip(request)
			if err != nil {
				return err
			}
			defer response.Body.Close()
			_, err = io.Copy(io.Discard, response.Body)
			return err
		}
		if err := get(t.Context(), "/livez"); err != nil {
			t.Fatal(err)
		}
		thaw := conn.freeze()
		ctx, cancel := context.WithCancel(t.Context())
		var calls sync.WaitGroup
		for range 20 {
			calls.Go(func() { _ = get(ctx, "/openapi.json") })
		}
		time.Sleep(10 * time.Minute) // of the bubble
		stacks := make([]byte, 4<<20)
		if n := strings.Count(string(stacks[:runtime.Stack(stacks, true)]), "server.(*timedWriter)"); n > 0 {
			t.Errorf("%d handlers still write after ten minutes", n)
		}
		_ = conn.Close()
		thaw()
		cancel()
		calls.Wait()
		transport.CloseIdleConnections()
	})
}
