package testdb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// A process is a child process that is reaped on demand. With os/exec, noticing its exit
// would require a goroutine blocked in Wait for the whole life of the process, which leak
// detectors would report in every test that shares the server. A process is not safe for
// concurrent use.
type process struct {
	pid    int
	reaped bool
}

// startProcess runs argv in a session of its own, so that Ctrl-C in the terminal reaches
// the tests and not their servers.
func startProcess(argv []string, dir string, output *os.File, runAs *syscall.Credential) (*process, error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	started, err := os.StartProcess(argv[0], argv, &os.ProcAttr{
		Dir:   dir,
		Env:   serverEnvironment(),
		Files: []*os.File{null, output, output},
		Sys:   &syscall.SysProcAttr{Setsid: true, Credential: runAs},
	})
	if err != nil {
		return nil, err
	}
	p := &process{pid: started.Pid}
	return p, started.Release()
}

// serverEnvironment returns an environment without the developer's own settings (PGOPTIONS,
// MYSQL_TCP_PORT, a locale …) for private servers.
func serverEnvironment() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C"}
}

// exited reports whether the process has ended, and reaps it if so.
func (p *process) exited() bool {
	if p.reaped {
		return true
	}
	var status syscall.WaitStatus
	pid, err := syscall.Wait4(p.pid, &status, syscall.WNOHANG, nil)
	p.reaped = pid == p.pid || errors.Is(err, syscall.ECHILD)
	return p.reaped
}

// signal sends a signal. It does nothing if the process was reaped, because its ID may
// belong to another process by now.
func (p *process) signal(signal syscall.Signal) error {
	if p.exited() {
		return nil
	}
	return syscall.Kill(p.pid, signal)
}

func (p *process) wait(ctx context.Context) error {
	if err := pollUntil(ctx, p.exited); err != nil {
		return fmt.Errorf("process %d does not exit: %w", p.pid, err)
	}
	return nil
}

// killTree kills the process and its children with SIGKILL. It stops the process first, so
// that it can neither start another child nor react to the loss of one.
func (p *process) killTree(ctx context.Context) error {
	if err := p.signal(syscall.SIGSTOP); err != nil {
		return err
	}
	family := children(p.pid)
	for _, child := range family {
		// A child that has already ended needs no signal.
		_ = syscall.Kill(child, syscall.SIGKILL)
	}
	if err := p.signal(syscall.SIGKILL); err != nil {
		return err
	}
	if err := p.wait(ctx); err != nil {
		return err
	}
	return pollUntil(ctx, func() bool {
		for _, child := range family {
			if alive(child) {
				return false
			}
		}
		return true
	})
}

// children returns the direct children of a process. Without a Linux /proc it finds none;
// PostgreSQL's children then notice on their own that their parent has ended.
func children(parent int) []int {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil
	}
	var found []int
	for _, path := range stats {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil {
			continue
		}
		if _, ppid, ok := processStat(pid); ok && ppid == parent {
			found = append(found, pid)
		}
	}
	return found
}

// alive reports whether a process is running. A zombie is not: it only waits for its new
// parent to reap it, which in a container may never happen.
func alive(pid int) bool {
	state, _, ok := processStat(pid)
	return ok && state != "Z" && state != "X"
}

// processStat reads the state letter and the parent ID of a process.
func processStat(pid int) (state string, ppid int, ok bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", 0, false
	}
	// The second field is the command's name in parentheses, which may contain any
	// characters. The other fields follow its last closing parenthesis.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 {
		return "", 0, false
	}
	ppid, err = strconv.Atoi(string(fields[1]))
	return string(fields[0]), ppid, err == nil
}

func pollUntil(ctx context.Context, done func() bool) error {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for !done() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
	return nil
}
