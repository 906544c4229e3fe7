// Package descriptors recognizes errors caused by a lack of file descriptors in this
// process.
package descriptors

import (
	"errors"
	"net"
	"strings"
	"syscall"
)

// Exhausted reports whether err was caused by this process or machine reaching its limit of
// open files and connections. In that case neither the job nor its target is at fault.
func Exhausted(err error) bool {
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		return true
	}
	// A resolver's error contains only the text of the error that prevented the query.
	var unresolved *net.DNSError
	return errors.As(err, &unresolved) &&
		(strings.Contains(unresolved.Err, syscall.EMFILE.Error()) || strings.Contains(unresolved.Err, syscall.ENFILE.Error()))
}
