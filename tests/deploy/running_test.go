package deploy

import (
	"bufio"
	"bytes"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/internal/testprogram"
)

// running is a running process of the program.
type running struct {
	*exec.Cmd
	url    string
	log    bytes.Buffer // complete once ended is closed
	served chan string
	ended  chan struct{}
}

// start runs the program with exactly the given environment. The process ends with the
// test.
func start(t *testing.T, args []string, variables map[string]string) *running {
	t.Helper()
	path := testprogram.Path(t)
	p := &running{Cmd: exec.CommandContext(t.Context(), path, args...), served: make(chan string, 1), ended: make(chan struct{})}
	p.Env = []string{} // instead of the environment of this process
	for name, value := range variables {
		p.Env = append(p.Env, name+"="+value)
	}
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p.Stdout, p.Stderr = in, in
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	_ = in.Close() // the process has its own copy
	go func() {    // ends with the process
		defer close(p.ended)
		defer out.Close()
		serving := regexp.MustCompile(`(?:msg=serving |"msg":"serving",)"?url"?[=:]"?(https?://[^\s"]+)`)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			p.log.Write(append(lines.Bytes(), '\n'))
			if match := serving.FindSubmatch(lines.Bytes()); match != nil {
				p.served <- string(match[1])
			}
		}
	}()
	t.Cleanup(func() {
		_ = p.Process.Kill() // it may have ended already
		<-p.ended
		_ = p.Wait()
	})
	return p
}

// ends waits for the end of the process, which must succeed, and returns its output.
func (p *running) ends(t *testing.T) []byte {
	t.Helper()
	select {
	case <-p.ended:
	case <-time.After(patience.Limit):
		t.Fatalf("%q does not end", p.Args)
	}
	if err := p.Wait(); err != nil {
		t.Fatalf("%q: %v\n%s", p.Args, err, p.log.Bytes())
	}
	return p.log.Bytes()
}

// serves waits until the node serves.
func (p *running) serves(t *testing.T) {
	t.Helper()
	select {
	case p.url = <-p.served:
	case <-p.ended:
		t.Fatalf("%q ended\n%s", p.Args, p.log.Bytes())
	case <-time.After(patience.Limit):
		t.Fatalf("%q does not serve", p.Args)
	}
}

// becomesReady waits until the program's own health check succeeds.
func (p *running) becomesReady(t *testing.T) {
	t.Helper()
	path := testprogram.Path(t)
	deadline := time.Now().Add(patience.Limit)
	for {
		check := exec.CommandContext(t.Context(), path, "ready", "--server", p.url)
		check.Env = []string{}
		out, err := check.CombinedOutput()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the node is not ready: %s", out)
		}
	}
}

// stops asks the node to stop, like a supervisor, and waits until it has ended.
func (p *running) stops(t *testing.T) {
	t.Helper()
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	p.ends(t)
}

// replaceAddr makes a node listen on a free port of this machine only.
func replaceAddr(args []string) (replaced []string) {
	for _, arg := range args {
		if strings.HasPrefix(arg, "--addr=") {
			arg = "--addr=127.0.0.1:0"
		}
		replaced = append(replaced, arg)
	}
	return replaced
}

func hostOf(t *testing.T, text string) string {
	t.Helper()
	parsed, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed.Host
}

func withDatabase(t *testing.T, text, name string) string {
	t.Helper()
	parsed, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	parsed.Path = "/" + name
	return parsed.String()
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
