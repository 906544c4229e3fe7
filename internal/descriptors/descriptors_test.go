package descriptors_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/fairlead-io/fairlead/internal/descriptors"
)

func TestExhaustion(t *testing.T) {
	full := os.NewSyscallError("socket", syscall.EMFILE)
	for name, test := range map[string]struct {
		err  error
		want bool
	}{
		"nothing":               {nil, false},
		"of the process":        {fmt.Errorf("x: %w", &net.OpError{Op: "dial", Err: full}), true},
		"of the machine":        {&os.PathError{Op: "open", Path: "x", Err: syscall.ENFILE}, true},
		"while a name is asked": {&net.OpError{Op: "dial", Err: &net.DNSError{Name: "x", Err: "dial udp 10.0.0.2:53: " + full.Error()}}, true},
		"a name that is gone":   {&net.DNSError{Name: "x", Err: "no such host"}, false},
		"another number":        {os.NewSyscallError("connect", syscall.ECONNREFUSED), false},
		"a text of a target":    {errors.New("answered 500: too many open files"), false},
	} {
		if got := descriptors.Exhausted(test.err); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
