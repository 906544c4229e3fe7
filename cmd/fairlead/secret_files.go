package main

import (
	"log/slog"
	"os"
)

// openToAll reports whether every user of this machine can read or change a file.
func openToAll(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o007 != 0
}

// warnIfOpen logs a warning if every user of this machine can read or change the secret
// file of a flag. The server starts anyway, because all users may be trusted.
func warnIfOpen(log *slog.Logger, flag, path string) {
	if openToAll(path) {
		log.Warn("the file of "+flag+" holds a secret, and every user of this machine can read or change it: chmod 600 it, or mount it with mode 0400", "file", path)
	}
}
