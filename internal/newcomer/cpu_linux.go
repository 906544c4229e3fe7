package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of times in /proc, the same on all machines that Go supports.
const tick = 10 * time.Millisecond

// treeCPU returns the CPU time of a process and all its descendants that are running or
// were waited for.
func treeCPU(root int) (time.Duration, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0, err
	}
	parents, used := map[int]int{}, map[int]time.Duration{}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			continue // the process has ended
		}
		// The second field is a name, which may contain spaces and parentheses.
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if len(fields) < 15 {
			continue
		}
		parents[pid], _ = strconv.Atoi(fields[1])
		for _, field := range fields[11:15] { // user and system, its own and its children's
			ticks, _ := strconv.ParseInt(field, 10, 64)
			used[pid] += time.Duration(ticks) * tick
		}
	}
	sum := used[root]
	for pid := range parents {
		if pid != root && descends(pid, root, parents) {
			sum += used[pid]
		}
	}
	return sum, nil
}

func descends(pid, root int, parents map[int]int) bool {
	for ; pid > 1; pid = parents[pid] {
		if pid == root {
			return true
		}
	}
	return false
}
