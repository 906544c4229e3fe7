// Package descriptors tells errors apart that are about file descriptors of this process.
package descriptors

import (
	"errors"
	"net"
	"strings"
	"syscall"
)

// Exhausted reports whether something failed because this process, or its machine, has as
// many files and connections open as it may. Neither the job nor its target is to blame.
func Exhausted(err error) bool {
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		return true
	}
	// A resolver keeps only the text of what kept it from asking a server.
	var unresolved *net.DNSError
	return errors.As(err, &unresolved) &&
		(strings.Contains(unresolved.Err, syscall.EMFILE.Error()) || strings.Contains(unresolved.Err, syscall.ENFILE.Error()))
}
