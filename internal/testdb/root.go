package testdb

import (
	"os"
	"syscall"
)

// serverRoot returns the parent for a server's directory: a file system in memory, if it is
// large enough and the data need not be durable. A database consists of hundreds of small
// files, and tests create and drop hundreds of databases: a quarter of a server's time was
// spent allocating them on a disk. If the environment names a temporary directory,
// serverRoot returns that instead.
func serverRoot(durable bool) string {
	if !durable && os.Getenv("TMPDIR") == "" && freeBytes(memoryRoot) >= enoughMemory && writable(memoryRoot) {
		return memoryRoot
	}
	return temporaryRoot()
}

const (
	// memoryRoot is the file system in memory on Linux.
	memoryRoot = "/dev/shm"
	// enoughMemory is several times the space that the servers of a test run use.
	// Containers often have only 64 MB.
	enoughMemory = 4 << 30
)

// freeBytes returns the free space in a directory, or 0 if it does not exist.
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

// temporaryRoot returns the parent for servers' directories on disk. The path of a Unix
// socket is limited to about 100 bytes, so a deeply nested temporary directory is
// unsuitable.
func temporaryRoot() string {
	const longest = 50
	if dir := os.TempDir(); len(dir) <= longest {
		return dir
	}
	return "/tmp"
}
