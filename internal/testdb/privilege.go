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

// unprivileged returns the user to run a server as: its own when that exists,
// else "nobody". PostgreSQL and PgBouncer refuse to run as root, and the others
// need not. When we are not root ourselves it returns nil, which means us.
//
// Servers are started as that user instead of being asked to switch to it, so
// that what they do before the switch cannot leave files of root's behind.
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

// giveTo changes the owner of a file, or of a directory and all within.
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
