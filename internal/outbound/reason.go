package outbound

import (
	"crypto/tls"
	"errors"
	"net"
	"net/textproto"
	"net/url"
	"os"
	"strings"
	"syscall"
)

// failure is an error of a call with a text that outsiders may read. The original error is
// available to errors.Is and errors.As.
type failure struct {
	text string
	err  error
}

func (f *failure) Error() string { return f.text }

// Unwrap returns the original error.
func (f *failure) Unwrap() error { return f.err }

// Timeout reports whether the error was a timeout.
func (f *failure) Timeout() bool {
	var timed interface{ Timeout() bool }
	return errors.As(f.err, &timed) && timed.Timeout()
}

// Reason returns a call's error without details about this side's network: the name server,
// the local address, and the addresses to which a name resolves. Errors that do not come
// from the network are returned unchanged.
func Reason(err error) error {
	var known *failure
	var name *net.DNSError
	var network *net.OpError
	switch {
	case err == nil || errors.As(err, &known):
		return err
	case errors.As(err, &name) && name.IsTimeout:
		return &failure{"the host could not be resolved in time", err}
	case errors.As(err, &name):
		return &failure{"the host cannot be resolved", err}
	case errors.As(err, &network):
		return &failure{attempted(network.Op) + ": " + cause(network), err}
	}
	if text := unquoted(err); text != err.Error() {
		return &failure{text, err}
	}
	return err
}

// unquoted returns the text of an error without quotations from an invalid response, because a
// target may repeat a secret of the request. It returns errors about certificates unchanged.
func unquoted(err error) string {
	var certificate *tls.CertificateVerificationError
	var ofClient *url.Error // of a transport whose errors have passed Reason
	var header textproto.ProtocolError
	text := err.Error()
	if errors.As(err, &certificate) || errors.As(err, &ofClient) {
		return text
	}
	before, _, quotes := strings.Cut(text, `"`)
	if errors.As(err, &header) { // quotes without quotation marks
		before, _, quotes = strings.Cut(header.Error(), ":")
	}
	if !quotes {
		return text
	}
	before = strings.TrimPrefix(before, "net/http: HTTP/1.x transport connection broken: ")
	return "the response is invalid: " + strings.TrimSuffix(strings.TrimRight(before, " :[("), "; got")
}

// attempted returns a description of the network operation.
func attempted(operation string) string {
	switch operation {
	case "dial":
		return "no connection"
	case "read":
		return "the connection broke while the response was being read"
	case "write":
		return "the connection broke while the request was being sent"
	default:
		return "the connection broke"
	}
}

// cause returns the cause of a network failure as reported by the system or TLS, which does
// not include addresses. For other causes, it returns an empty string.
func cause(network *net.OpError) string {
	var number syscall.Errno
	switch {
	case network.Timeout(), errors.Is(network, os.ErrDeadlineExceeded):
		return "it took too long"
	case errors.As(network.Err, &number):
		return number.Error()
	case network.Op == "remote error", network.Op == "local error": // reported by TLS
		return network.Err.Error()
	case errors.Is(network, net.ErrClosed):
		return "it was closed"
	default:
		return "the network failed"
	}
}
