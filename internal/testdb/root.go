package testdb

import (
	"os"
	"syscall"
)

// serverRoot returns the directory for a server's directory: in memory if
// there is much of it and nothing has to be durable. A database is hundreds of
// small files, and tests make and drop hundreds of databases: a quarter of a
// server's time went into finding room for them on a disk. A temporary
// directory that the environment names is used instead.
func serverRoot(durable bool) string {
	if !durable && os.Getenv("TMPDIR") == "" && freeBytes(memoryRoot) >= enoughMemory && writable(memoryRoot) {
		return memoryRoot
	}
	return temporaryRoot()
}

const (
	// memoryRoot is where Linux has a file system in memory.
	memoryRoot = "/dev/shm"
	// enoughMemory is several times what the servers of a test run fill. In a
	// container, there are often only 64 MB.
	enoughMemory = 4 << 30
)

// freeBytes returns 0 if there is no such directory.
func freeBytes(dir string) uint64 {
	var system syscall.Statfs_t
	if err := syscall.Statfs(dir, &system); err != nil || system.Bsize <= 0 {
		return 0
	}
	return system.Bavail * uint64(system.Bsize)
}

func writable(dir string) bool {
	const readWriteEnter = 7
	return syscall.Access(dir, readWriteEnter) == nil
}

// temporaryRoot returns the directory for the servers' directories. The path
// of a Unix socket may have only about 100 bytes, so a deep temporary
// directory is no place for one.
func temporaryRoot() string {
	const longest = 50
	if dir := os.TempDir(); len(dir) <= longest {
		return dir
	}
	return "/tmp"
}
