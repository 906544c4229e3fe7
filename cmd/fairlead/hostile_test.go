package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/internal/tier"
)

// hostile is a target that may do anything to a connection.
type hostile struct {
	url string
	mu  sync.Mutex
	all []net.Conn
}

func newHostile(t *testing.T, scheme string, serve func(conn net.Conn)) *hostile {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := &hostile{url: scheme + "://" + listener.Addr().String() + "/"}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			h.mu.Lock()
			h.all = append(h.all, conn)
			h.mu.Unlock()
			serving.Go(func() {
				defer conn.Close()
				serve(conn)
			})
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		h.mu.Lock()
		for _, conn := range h.all {
			_ = conn.Close()
		}
		h.mu.Unlock()
		serving.Wait()
	})
	return h
}

// silence says nothing until the caller has gone.
func silence(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }

// says answers each request with a text. Then it sends more repeatedly, for ever. If more
// is empty, it sends nothing further.
func says(text, more string, every time.Duration) func(net.Conn) {
	return func(conn net.Conn) {
		if _, err := http.ReadRequest(bufio.NewReader(conn)); err != nil {
			return
		}
		_, err := io.WriteString(conn, text)
		if more == "" {
			silence(conn)
			return
		}
		ticks := time.NewTicker(max(every, time.Microsecond))
		defer ticks.Stop()
		for err == nil {
			<-ticks.C
			_, err = io.WriteString(conn, more)
		}
	}
}

// hostileTargets returns targets that never end their responses.
func hostileTargets(ctx context.Context) map[string]func(net.Conn) {
	const slowly = 50 * time.Millisecond
	var inflated bytes.Buffer
	zip := gzip.NewWriter(&inflated)
	_, _ = zip.Write([]byte("x"))
	_ = zip.Flush()
	chunk := fmt.Sprintf("%x\r\n%s\r\n", inflated.Len(), inflated.String())
	empty := "5\r\n\x00\x00\x00\xff\xff\r\n" // a stored block of no bytes
	return map[string]func(net.Conn){
		"never reads":                          func(net.Conn) { <-ctx.Done() },
		"never answers":                        silence,
		"switches protocols":                   says("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", "", 0),
		"switches protocols and talks":         says("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n", "x", slowly),
		"switches protocols with a length":     says("HTTP/1.1 101 X\r\nContent-Length: 100\r\n\r\nx", "", 0),
		"says that it goes on":                 says("HTTP/1.1 100 Continue\r\n\r\n", "", 0),
		"says early hints for ever":            says("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n", "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n", 0),
		"says early hints for ever and slowly": says("HTTP/1.1 103 Early Hints\r\n\r\n", "HTTP/1.1 103 Early Hints\r\n\r\n", slowly),
		"begins an answer":                     says("HTTP/1.1 200 O", "", 0),
		"sends headers for ever":               says("HTTP/1.1 200 OK\r\n", "X-More: and more\r\n", 0),
		"sends a header slowly":                says("HTTP/1.1 200 OK\r\nX-Long: ", "x", slowly),
		"sends a body slowly":                  says("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n", "x", slowly),
		"sends no body":                        says("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n", "", 0),
		"sends a body without an end":          says("HTTP/1.1 200 OK\r\n\r\nx", "", 0),
		"sends chunks slowly":                  says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n", slowly),
		"sends an extension for ever":          says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", "x=y;", 0),
		"sends trailers slowly":                says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\n\r\n1\r\nx\r\n0\r\n", "X: y\r\n", slowly),
		"sends what inflates to nothing":       says("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"+chunk, strings.Repeat(empty, 8), time.Millisecond),
		"closes one half": func(conn net.Conn) {
			_ = conn.(*net.TCPConn).CloseWrite() //nolint:forcetypeassert // listeners of TCP make no others
			silence(conn)
		},
	}
}

// A target may do anything: the call ends after its timeout, and its slot is free again.
// There are fewer slots than hostile calls.
func TestNoTargetHoldsACallBeyondItsTime(t *testing.T) {
	t.Parallel()
	s := newSurfaces(t, false, "--slots", "12")
	waiting := map[string]map[string]ended{}
	all := tier.Size(t, false, true, "every target holds its calls until their time is over")
	for what, serve := range hostileTargets(t.Context()) {
		if !all && !slices.Contains([]string{"never answers", "switches protocols", "sends a body slowly"}, what) {
			continue
		}
		target := newHostile(t, "http", serve)
		waiting["a target that "+what] = s.begin(target.url)
		if !strings.HasPrefix(what, "switches") { // the business has ten seconds to answer, and each asks in turn
			continue
		}
		if out, fine := s.ask("POST", sweepsPath, object{"name": s.name(), "kind": "noop", "to": 3, "gate": object{"before_create": target.url}}); fine {
			t.Errorf("a sweep was created by a target that %s: %v", what, out)
		}
	}
	waiting["a target that never begins TLS"] = s.begin(newHostile(t, "https", silence).url)
	for what, calls := range waiting {
		s.await(what, calls)
	}
	ids := s.must("POST", "/api/v1/jobs", object{"jobs": []object{{"kind": "noop"}}})["ids"].([]any)
	if job := s.node.finished(t, ids[0].(string)); job["state"] != "succeeded" {
		t.Errorf("a job after all of them ended as %v", job["state"])
	}
}
