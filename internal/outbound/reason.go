package outbound

import (
	"errors"
	"net"
	"os"
	"syscall"
)

// failure is an error of a call as others may read it. The error itself stays within
// reach of errors.Is and errors.As.
type failure struct {
	text string
	err  error
}

func (f *failure) Error() string { return f.text }

// Unwrap is the error as it was.
func (f *failure) Unwrap() error { return f.err }

// Timeout reports whether the error was one of time.
func (f *failure) Timeout() bool {
	var timed interface{ Timeout() bool }
	return errors.As(f.err, &timed) && timed.Timeout()
}

// Reason is an error of a call without what it says of this side's network: the server
// of names that was asked, the address that was called from, and the addresses that a
// name leads to. What is none of the network's errors stays as it is.
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
	return err
}

// attempted is what the network was doing.
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

// cause is why the network failed: what the system or TLS says, which knows no
// addresses. Of other causes nothing is said.
func cause(network *net.OpError) string {
	var number syscall.Errno
	switch {
	case network.Timeout(), errors.Is(network, os.ErrDeadlineExceeded):
		return "it took too long"
	case errors.As(network.Err, &number):
		return number.Error()
	case network.Op == "remote error", network.Op == "local error": // of TLS
		return network.Err.Error()
	case errors.Is(network, net.ErrClosed):
		return "it was closed"
	default:
		return "the network failed"
	}
}
