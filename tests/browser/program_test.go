package browser

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"regexp"
	"sync"
	"syscall"
	"testing"

	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/internal/testprogram"
)

func TestMain(m *testing.M) {
	code := m.Run()
	stopBrowser()
	if ripe.dir != "" {
		_ = os.RemoveAll(ripe.dir) // it is in a temporary directory
	}
	testprogram.Remove()
	os.Exit(code)
}

// serve starts the program with an embedded database and returns its address. The program
// ends with the test, or when stop is called.
func serve(t *testing.T, file string, flags ...string) (url string, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	args := append([]string{"serve", "--addr", "127.0.0.1:0", "--db", "sqlite://" + file, "--drain-timeout", "1s"}, flags...)
	serving := exec.CommandContext(ctx, testprogram.Path(t), args...)
	serving.Cancel = func() error { return serving.Process.Signal(syscall.SIGTERM) }
	serving.WaitDelay = patience.Limit
	out, err := serving.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := serving.Start(); err != nil {
		t.Fatal(err)
	}
	found := make(chan string, 1)
	ended := make(chan struct{})
	go func() { // ends with the program
		defer close(ended)
		address := regexp.MustCompile(`msg=serving url=(\S+)`)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if match := address.FindStringSubmatch(lines.Text()); match != nil {
				found <- match[1]
			}
		}
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		<-ended
		_ = serving.Wait() // the signal that ends it is reported as an error
	})
	t.Cleanup(stop)
	select {
	case url = <-found:
	case <-ended:
		t.Fatal("the program ended at once")
	}
	return url, stop
}
