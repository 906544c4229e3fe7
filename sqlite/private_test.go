//go:build unix

package sqlite

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/fairlead-io/fairlead"
)

// modes are those of a database's files, by their names.
func modes(t *testing.T, dir string) map[string]fs.FileMode {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]fs.FileMode{}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			t.Fatal(err)
		}
		found[entry.Name()] = info.Mode().Perm()
	}
	return found
}

// used opens a database, writes to it, and looks at its files meanwhile.
func used(t *testing.T, path string) map[string]fs.FileMode {
	t.Helper()
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if err := fairlead.NewClient(s).Enqueue(t.Context(), &fairlead.Job{Kind: "a"}); err != nil {
		t.Fatal(err)
	}
	return modes(t, filepath.Dir(path))
}

func TestFilesAreTheirOwnersOnly(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	dir := t.TempDir()
	found := used(t, filepath.Join(dir, "jobs.db"))
	for _, name := range []string{"jobs.db", "jobs.db-wal", "jobs.db-shm"} {
		if found[name] != 0o600 {
			t.Errorf("%s has mode %o", name, found[name])
		}
	}
}

func TestFilesThatExistKeepTheirMode(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	path := filepath.Join(t.TempDir(), "jobs.db")
	if err := os.WriteFile(path, nil, 0o640); err != nil {
		t.Fatal(err)
	}
	for name, mode := range used(t, path) {
		if mode != 0o640 {
			t.Errorf("%s has mode %o", name, mode)
		}
	}
}
