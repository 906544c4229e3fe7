package main

import (
	"bufio"
	"os"
	"os/exec"
	"regexp"
	"syscall"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/internal/patience"
)

// process is the real program with serve running, in a process of its own.
type process struct {
	served
	*exec.Cmd
	found chan string   // where it serves
	tmp   string        // its temporary directory
	ended chan struct{} // closed when it has
}

var servedAt = regexp.MustCompile(`url=(https?://\S+)`)

// startProcess starts serve and waits until it serves.
func startProcess(t *testing.T, args ...string) *process {
	t.Helper()
	p := launchProcess(t, args...)
	p.awaitServing(t)
	return p
}

// launchProcess starts serve.
func launchProcess(t *testing.T, args ...string) *process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{Cmd: exec.CommandContext(t.Context(), self, append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)...), tmp: t.TempDir()}
	p.Env = append(os.Environ(), asProgram+"=1", "TMPDIR="+p.tmp)
	log, err := p.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.kill() })
	p.found, p.ended = make(chan string, 1), make(chan struct{})
	go func() {
		defer close(p.ended)
		for lines := bufio.NewScanner(log); lines.Scan(); {
			if m := servedAt.FindStringSubmatch(lines.Text()); m != nil {
				p.found <- m[1]
			}
		}
	}()
	return p
}

// awaitServing waits until it serves.
func (p *process) awaitServing(t *testing.T) {
	t.Helper()
	select {
	case p.url = <-p.found:
	case <-p.ended:
		t.Fatal("serve ended before it served")
	case <-time.After(patience.Limit):
		t.Fatal("serve does not serve")
	}
}

// kill ends the process as a crash would.
func (p *process) kill() {
	if p.ProcessState == nil {
		_ = p.Process.Signal(syscall.SIGKILL)
		_ = p.Wait()
	}
}
