package testdb

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// unprivileged returns the user to run a server as: its own user if that exists, and
// otherwise "nobody". PostgreSQL and PgBouncer refuse to run as root, and the others need
// no root rights. If this process does not run as root, unprivileged returns nil, which
// means the current user.
//
// Servers are started as that user rather than asked to switch to it, so that files created
// before the switch cannot belong to root.
func unprivileged(preferred string) (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	account, err := user.Lookup(preferred)
	if err != nil {
		account, err = user.Lookup("nobody")
	}
	if err != nil {
		return nil, fmt.Errorf("no unprivileged user to run a server as: %w", err)
	}
	uid, uidErr := strconv.ParseUint(account.Uid, 10, 32)
	gid, gidErr := strconv.ParseUint(account.Gid, 10, 32)
	if err := errors.Join(uidErr, gidErr); err != nil {
		return nil, fmt.Errorf("user %s: %w", account.Username, err)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}

// giveTo changes the owner of a file, or of a directory and everything in it.
func giveTo(owner *syscall.Credential, path string) error {
	if owner == nil {
		return nil
	}
	return filepath.WalkDir(path, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, int(owner.Uid), int(owner.Gid))
	})
}
