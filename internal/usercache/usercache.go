// Package usercache stores files of test runs between runs, in the user's cache directory,
// and synchronizes the processes that use them.
package usercache

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// Dir returns the directory with the given name in the user's cache. It creates the
// directory if necessary.
func Dir(name string) (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		// Without a home directory, the cache lasts as long as the temporary directory.
		base = filepath.Join(os.TempDir(), fmt.Sprintf("cache-%d", os.Geteuid()))
	}
	dir := filepath.Join(base, name)
	return dir, os.MkdirAll(dir, 0o700)
}

// WithLock runs fn while no other process holds the lock at path. If a process ends, the
// kernel releases its lock.
func WithLock(path string, fn func() error) (err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX)
		if err == nil {
			return fn()
		}
		if !errors.Is(err, syscall.EINTR) {
			return fmt.Errorf("lock %s: %w", path, err)
		}
	}
}
