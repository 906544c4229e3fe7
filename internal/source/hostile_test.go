package source

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// A server cannot block the reading of a list, and errors do not reveal the URL of the
// list.
func TestNoServerHoldsAList(t *testing.T) {
	for what, answer := range map[string]string{
		"switches protocols": "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n",
		"never answers":      "",
		"begins an answer":   "HTTP/1.1 20",
		"sends no list":      "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\na\n",
		"sends half a range": "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-9/10\r\nContent-Length: 10\r\n\r\na\n",
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				conn, _, err := w.(http.Hijacker).Hijack() //nolint:forcetypeassert // the server of a test can
				if err != nil {
					t.Error(err)
					return
				}
				defer conn.Close()
				_, _ = io.WriteString(conn, answer)
				_, _ = io.Copy(io.Discard, conn)
			}))
			defer web.Close()
			lines, err := URL(web.URL, Options{Client: &http.Client{Transport: &http.Transport{}}, Timeout: 100 * time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			_, _, err = lines.Bounds(t.Context())
			if err == nil || strings.Contains(err.Error(), "->") {
				t.Errorf("it ended with %v", err)
			}
			if err := lines.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
