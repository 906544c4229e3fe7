package outbound_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead/internal/outbound"
)

// A response that switches protocols has no body, and its connection is closed: no context
// would end reads from it.
func TestAnAnswerThatSwitchesProtocolsEndsAtOnce(t *testing.T) {
	closed := make(chan struct{})
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack() //nolint:forcetypeassert // the server of a test supports it
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
		_, _ = io.Copy(io.Discard, conn)
		_ = conn.Close()
		close(closed)
	}))
	defer target.Close()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, target.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := outbound.Transport(&http.Transport{}).RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if body, err := io.ReadAll(response.Body); err != nil || len(body) > 0 || response.StatusCode != http.StatusSwitchingProtocols {
		t.Errorf("the answer is %d %q (%v)", response.StatusCode, body, err)
	}
	<-closed
}

// Errors contain no part of an invalid response, in which a target may repeat a secret.
func TestErrorsDoNotQuoteAnInvalidResponse(t *testing.T) {
	for _, answer := range []string{
		"HTTP/1.1 s3cret OK\r\n\r\n", "s3cret\r\n\r\n", "HTTP/s3cret 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\n s3cret: 1\r\n\r\n", "HTTP/1.1 200 OK\r\ns3cret\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: s3cret\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: s3cret\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: s3cret\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\ns3cret\r\n",
	} {
		target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = io.WriteString(conn, answer)
			_ = conn.Close()
		}))
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, target.URL, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := outbound.Transport(&http.Transport{}).RoundTrip(request)
		if err == nil {
			_, err = io.ReadAll(response.Body)
			_ = response.Body.Close()
			err = outbound.Reason(err)
		}
		if err == nil || strings.Contains(err.Error(), "s3cret") || !strings.Contains(err.Error(), "invalid") {
			t.Errorf("%q fails with: %v", answer, err)
		}
		target.Close()
	}
}
