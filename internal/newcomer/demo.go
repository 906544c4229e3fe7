//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/fairlead-io/fairlead/internal/transcript"
)

const (
	console = "http://127.0.0.1:7717"
	look    = 200 * time.Millisecond // polling interval for the console
	parting = time.Minute            // maximum time for the demo to end
)

// tryDemo runs "make run" and tries the README's examples meanwhile.
func (v *visit) tryDemo(ctx context.Context) error {
	if _, err := fetch(ctx, console+"/livez"); err == nil {
		return fmt.Errorf("another program is already listening on %s; stop it first", console)
	}
	v.say("make run")
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	demo := v.command(ctx, "make", "run")
	demo.Env = append(demo.Env, "GOFLAGS=-modcacherw -debug-actiongraph="+v.graph)
	demo.Stdout, demo.Stderr = os.Stdout, os.Stderr
	demo.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C reaches the whole group, as in a terminal
	demo.Cancel = func() error { return syscall.Kill(-demo.Process.Pid, syscall.SIGKILL) }
	if err := demo.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- demo.Wait() }()
	if err := v.awaitConsole(ctx, ended); err != nil {
		return err
	}
	cpu, err := treeCPU(demo.Process.Pid)
	if err != nil {
		return err
	}
	v.say("the console answers at %s, after %.0f s of CPU time since the clone", console, cpu.Seconds())
	if err := v.reportBuild(ctx); err != nil {
		return err
	}
	for _, readme := range []string{"README.md", "README.zh.md"} {
		if err := v.tryExamples(ctx, readme); err != nil {
			return err
		}
	}
	if err := syscall.Kill(-demo.Process.Pid, syscall.SIGINT); err != nil {
		return err
	}
	select {
	case <-ended: // make reports the interrupt
		v.say("Ctrl-C has ended the demo")
		return nil
	case <-time.After(parting):
		return errors.New("the demo keeps running after Ctrl-C")
	}
}

// awaitConsole waits until the console responds, while "make run" is running.
func (v *visit) awaitConsole(ctx context.Context, ended <-chan error) error {
	ticks := time.NewTicker(look)
	defer ticks.Stop()
	for {
		_, missing := os.Stat(filepath.Join(v.home, "fairlead-demo.db")) // otherwise it belongs to another program
		if page, err := fetch(ctx, console+"/"); err == nil && len(page) > 0 && missing == nil {
			return nil
		}
		select {
		case err := <-ended:
			return fmt.Errorf("make run exited: %w", err)
		case <-ctx.Done():
			return ctx.Err()
		case <-ticks.C:
		}
	}
}

// tryExamples runs the examples of a README.
func (v *visit) tryExamples(ctx context.Context, readme string) error {
	text, err := os.ReadFile(filepath.Join(v.home, readme))
	if err != nil {
		return err
	}
	if readme != "README.md" { // the names were already used by the examples of the other README
		if err := v.forget(ctx); err != nil {
			return err
		}
	}
	examples := transcript.Of(string(text))
	for _, e := range examples {
		got, err := e.Run(ctx, v.home, v.env)
		if err != nil {
			return fmt.Errorf("%s: $ %s\n%w%s", readme, e.Command, err, stderrOf(err))
		}
		if !e.Fits(got) {
			return fmt.Errorf("%s: $ %s\ngot\n%s\nwant\n%s", readme, e.Command, got, e.Want)
		}
	}
	v.say("%s: %d examples print what they should", readme, len(examples))
	return nil
}

// forget removes what the examples have created and what can exist only once.
func (v *visit) forget(ctx context.Context) error {
	for _, args := range [][]string{{"task", "delete", "ping"}, {"sweep", "delete", "warm"}, {"tenant", "delete", "umbrella", "--force"}} {
		if out, err := v.command(ctx, "bin/fairlead", args...).CombinedOutput(); err != nil {
			return fmt.Errorf("fairlead %v: %w\n%s", args, err, out)
		}
	}
	return nil
}

func stderrOf(err error) string {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return "\n" + string(exit.Stderr)
	}
	return ""
}

// fetch returns the body of a page.
func fetch(ctx context.Context, url string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	page, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = errors.New(answer.Status)
	}
	return page, err
}
