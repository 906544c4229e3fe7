package testdb

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
)

// A keeper is a shell that briefly outlives this process to stop a server and remove its
// directory. It reads from a pipe whose other end only this process holds, so it notices
// the end of this process even after a panic, a test timeout or SIGKILL. (The kernel's own
// mechanism, a parent-death signal, follows the thread that started the server, is dropped
// by servers that change their user, and does not remove a directory.)
type keeper struct {
	shell *exec.Cmd
	pipe  *os.File

	closing  sync.Once
	closeErr error
}

// keeperScript takes the signal and the directory as arguments. Each line of its input is
// the ID of the process to watch from then on, or empty. Removing the directory may fail
// while the server is still writing.
const keeperScript = `
while read -r line; do pid=$line; done
[ -z "$pid" ] || kill -"$1" "$pid" 2>/dev/null
attempt=0
until rm -rf "$2" 2>/dev/null; do
	[ $((attempt += 1)) -lt 100 ] || exit 1
	sleep 0.1
done
`

func startKeeper(dir string, discard syscall.Signal) (*keeper, error) {
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	shell := exec.CommandContext(context.Background(),
		"/bin/sh", "-c", keeperScript, "keeper", strconv.Itoa(int(discard)), dir)
	shell.Stdin = reader
	shell.Dir = "/"
	// A separate session protects it from Ctrl-C in the terminal.
	shell.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = firstError(shell.Start(), reader.Close())
	if err != nil {
		return nil, fmt.Errorf("start keeper of %s: %w", dir, firstError(err, writer.Close()))
	}
	return &keeper{shell: shell, pipe: writer}, nil
}

// watch sets the process to stop at the end; 0 means none.
func (k *keeper) watch(pid int) error {
	line := "\n"
	if pid != 0 {
		line = strconv.Itoa(pid) + "\n"
	}
	_, err := k.pipe.WriteString(line)
	return err
}

// close makes the keeper stop the server and remove the directory now, and waits for it.
func (k *keeper) close() error {
	k.closing.Do(func() {
		k.closeErr = firstError(k.pipe.Close(), k.shell.Wait())
		if k.closeErr != nil {
			k.closeErr = fmt.Errorf("clean up after server: %w", k.closeErr)
		}
	})
	return k.closeErr
}
