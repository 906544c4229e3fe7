package outbound_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/fairlead-io/fairlead/internal/outbound"
)

func TestReasonsNameNothingOfThisSide(t *testing.T) {
	here, there := &net.TCPAddr{IP: net.IPv4(10, 1, 2, 3), Port: 4321}, &net.TCPAddr{IP: net.IPv4(10, 9, 8, 7), Port: 80}
	system := func(call string, number syscall.Errno) error { return os.NewSyscallError(call, number) }
	for want, err := range map[string]error{
		"the host cannot be resolved":                                                      &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "x.internal", Server: "10.0.0.2:53", IsNotFound: true}},
		"the host could not be resolved in time":                                           &net.OpError{Op: "dial", Err: &net.DNSError{Err: "i/o timeout", Name: "x", Server: "10.0.0.2:53", IsTimeout: true}},
		"no connection: connection refused":                                                &net.OpError{Op: "dial", Net: "tcp", Source: here, Addr: there, Err: system("connect", syscall.ECONNREFUSED)},
		"the connection broke while the response was being read: connection reset by peer": fmt.Errorf("x: %w", &net.OpError{Op: "read", Net: "tcp", Source: here, Addr: there, Err: system("read", syscall.ECONNRESET)}),
		"the connection broke while the request was being sent: broken pipe":               &net.OpError{Op: "write", Net: "tcp", Source: here, Addr: there, Err: system("write", syscall.EPIPE)},
		"the connection broke while the response was being read: it was closed":            &net.OpError{Op: "read", Net: "tcp", Source: here, Addr: there, Err: net.ErrClosed},
		"no connection: it took too long":                                                  &net.OpError{Op: "dial", Source: here, Addr: there, Err: os.ErrDeadlineExceeded},
		"no connection: the network failed":                                                &net.OpError{Op: "dial", Source: here, Addr: there, Err: errors.New("10.1.2.3 failed")},
		"EOF":                                                                              io.EOF,
	} {
		got := outbound.Reason(err)
		if got.Error() != want || !errors.Is(got, err) {
			t.Errorf("%v is shown as %q, want %q", err, got, want)
		}
		if again := outbound.Reason(fmt.Errorf("y: %w", got)); !strings.HasSuffix(again.Error(), want) {
			t.Errorf("%v is shown as %q in the end", err, again)
		}
	}
	if outbound.Reason(nil) != nil {
		t.Error("no error became one")
	}
}

func TestErrorsOfTLSStay(t *testing.T) {
	target := httptest.NewTLSServer(http.NotFoundHandler())
	defer target.Close()
	target.Config.ErrorLog = nil
	transport := outbound.Transport(&http.Transport{TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}})
	request, err := http.NewRequestWithContext(context.Background(), http.MethodGet, target.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := transport.RoundTrip(request)
	if err == nil {
		_ = response.Body.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("a certificate that is not known: %v", err)
	}
}
