package cli

import (
	"fmt"
	"io"
	"os"
)

// OpenToAll reports whether every user of this machine can read or change a file.
func OpenToAll(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o007 != 0
}

// WarnIfOpen prints a warning about a file that holds a secret, if every user of this machine can
// read or change it. The command continues, because all users may be trusted.
func WarnIfOpen(warnings io.Writer, path, secret string) {
	if OpenToAll(path) {
		fmt.Fprintf(warnings, "fairlead: %s contains %s, and every user of this machine can read or change it: run chmod 600 on it\n", path, secret)
	}
}
