package sqlite_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/fairlead-io/fairlead/sqlite"
)

// locksOn counts the locks that this process has on a file.
func locksOn(t *testing.T, path string) (locks int) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	all, err := os.ReadFile("/proc/locks")
	if err != nil {
		t.Fatal(err)
	}
	inode := fmt.Sprintf(":%d ", info.Sys().(*syscall.Stat_t).Ino) //nolint:forcetypeassert // it is one on Linux
	for line := range strings.Lines(string(all)) {
		if strings.Contains(line, inode) && strings.Contains(line, fmt.Sprintf(" %d ", os.Getpid())) {
			locks++
		}
	}
	return locks
}

// A process loses all its locks on a file when it closes any handle of it. Without them
// another process may remove the log that this one writes to.
func TestASecondStoreOfAFileLeavesTheLocksOfTheFirst(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jobs.db")
	first, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	if locksOn(t, path) == 0 {
		t.Fatal("a store has no lock on its file")
	}
	second, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if locksOn(t, path) == 0 {
		t.Error("the locks are gone")
	}
}
