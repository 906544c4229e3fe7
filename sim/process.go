package sim

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// process is a worker process. It belongs to one goroutine.
type process struct {
	name string
	pid  int
	life *os.File // the worker ends when this is closed, however this process ends
	log  string
	gone bool
	code int // exit code once gone; negative after a signal

	unbegun bool // whether the process was told to end before it had started to work
}

// startProcess runs a program as a worker. Without a program it runs this one again.
func startProcess(program string, o orders) (*process, error) {
	if program == "" {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		program = self
	}
	text, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p := &process{name: o.Name, life: writer, log: filepath.Join(o.Dir, o.Name+".log")}
	log, err := os.Create(p.log)
	if err != nil {
		return nil, errors.Join(err, reader.Close(), writer.Close())
	}
	started, err := os.StartProcess(program, []string{program}, &os.ProcAttr{
		Dir:   o.Dir,
		Env:   append(os.Environ(), workerEnv+"="+string(text)),
		Files: []*os.File{reader, log, log},
		// Use a separate process group: if this process dies while the worker is stopped, the
		// system ends the worker as a stopped orphan.
		Sys: &syscall.SysProcAttr{Setpgid: true},
	})
	err = errors.Join(err, reader.Close(), log.Close())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start worker %s: %w", o.Name, err), writer.Close())
	}
	p.pid = started.Pid
	return p, started.Release()
}

// kill ends the process like a crash, and returns when it is dead.
func (p *process) kill() error {
	if err := p.signal(syscall.SIGKILL); err != nil {
		return err
	}
	return p.await(0)
}

// stop suspends the process, and returns when it is suspended.
func (p *process) stop() error {
	if err := p.signal(syscall.SIGSTOP); err != nil {
		return err
	}
	return p.await(syscall.WUNTRACED)
}

// resume resumes the process.
func (p *process) resume() error { return p.signal(syscall.SIGCONT) }

// exited reports whether the process has ended.
func (p *process) exited() bool {
	if !p.gone {
		_ = p.await(syscall.WNOHANG) // if the state is unknown, treat it as running
	}
	return p.gone
}

// signal sends a signal, unless the process is gone, because its ID may have been reused.
func (p *process) signal(signal syscall.Signal) error {
	if p.exited() {
		return fmt.Errorf("worker %s ended by itself with code %d; see its log:\n%s", p.name, p.code, p.tail())
	}
	if err := syscall.Kill(p.pid, signal); err != nil {
		return fmt.Errorf("signal worker %s: %w", p.name, err)
	}
	return nil
}

// await waits for a change of the process and records whether it has ended.
func (p *process) await(options int) error {
	for !p.gone {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(p.pid, &status, options, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil:
			return fmt.Errorf("wait for worker %s: %w", p.name, err)
		case pid == 0 || status.Stopped():
			return nil
		}
		p.gone, p.code = true, status.ExitStatus()
		p.unbegun = status.Signaled() && status.Signal() == syscall.SIGTERM // a signal that a working worker handles
		return p.life.Close()
	}
	return nil
}

// tail returns the end of the process's log.
func (p *process) tail() string {
	log, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	const enough = 4000
	return string(log[max(0, len(log)-enough):])
}
