package bench

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// clockTick is the unit of times in /proc/PID/stat on every Linux.
const clockTick = 10 * time.Millisecond

// procStat contains information about a process from /proc.
type procStat struct {
	parent int
	own    time.Duration // CPU time
	cpu    time.Duration // its own CPU time and that of its ended children
}

func readProcStat(pid int) (procStat, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return procStat{}, err
	}
	return parseProcStat(raw)
}

// parseProcStat parses fields 4 (parent) and 14 to 17 (times). Field 2 is a name in
// parentheses that may contain anything: counting starts after it.
func parseProcStat(raw []byte) (procStat, error) {
	const afterName, parent, firstTime, lastOwnTime, lastTime = 3, 4, 14, 15, 17
	fields := bytes.Fields(raw[bytes.LastIndexByte(raw, ')')+1:])
	if len(fields) <= lastTime-afterName {
		return procStat{}, fmt.Errorf("malformed process status %q", raw)
	}
	number := func(field int) (int, error) { return strconv.Atoi(string(fields[field-afterName])) }
	var stat procStat
	var err error
	if stat.parent, err = number(parent); err != nil {
		return procStat{}, err
	}
	for field := firstTime; field <= lastTime; field++ {
		ticks, err := number(field)
		if err != nil {
			return procStat{}, err
		}
		stat.cpu += time.Duration(ticks) * clockTick
		if field == lastOwnTime {
			stat.own = stat.cpu
		}
	}
	return stat, nil
}

// ServerTime returns the CPU time of a server process and all its children.
func ServerTime(pid int) (time.Duration, error) {
	server, running, err := family(pid)
	if err != nil {
		return 0, fmt.Errorf("read CPU time of the server: %w", err)
	}
	return server.cpu + running, nil
}

// ChildrenTime returns the CPU time of this process's children, both ended and running.
func ChildrenTime() (time.Duration, error) {
	own, running, err := family(os.Getpid())
	if err != nil {
		return 0, fmt.Errorf("read CPU time of children: %w", err)
	}
	return own.cpu - own.own + running, nil
}

// family returns a process, and the CPU time of its running children.
func family(pid int) (parent procStat, running time.Duration, err error) {
	if parent, err = readProcStat(pid); err != nil {
		return procStat{}, 0, err
	}
	paths, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return procStat{}, 0, err
	}
	for _, path := range paths {
		child, err := strconv.Atoi(filepath.Base(path))
		if err != nil {
			continue
		}
		// A child that ended in the meantime is now counted by its parent.
		if stat, err := readProcStat(child); err == nil && stat.parent == pid {
			running += stat.cpu
		}
	}
	return parent, running, nil
}

// isProgram reports whether a process on this machine runs one of the programs.
func isProgram(pid int, names ...string) bool {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil {
		return false
	}
	for _, name := range names {
		if strings.HasPrefix(string(raw), name) {
			return true
		}
	}
	return false
}

// bytesWritten returns the number of bytes that this process has written so far, to files
// and elsewhere, or zero if it is unknown.
func bytesWritten() int64 {
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		var written int64
		if n, _ := fmt.Sscanf(line, "wchar: %d", &written); n == 1 {
			return written
		}
	}
	return 0
}
