package browser

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"syscall"
	"testing"

	"github.com/fairlead-io/fairlead/internal/patience"
)

// program builds the program once.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "fairlead-browser-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "fairlead")
	build := exec.Command("go", "build", "-o", path, "./cmd/fairlead")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if code == 0 && allTestsRan() {
		code = everyActionWasDone()
	}
	if browser, err := chromium(); err == nil {
		stop(browser)
	}
	if path, err := program(); err == nil {
		_ = os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

// allTestsRan reports whether none was left out, be it by a flag or because there is no
// browser.
func allTestsRan() bool {
	_, err := chromium()
	return err == nil && flag.Lookup("test.run").Value.String() == "" && flag.Lookup("test.skip").Value.String() == "" && !testing.Short()
}

// everyActionWasDone returns 1 if there is something that a person can do by the console
// and that no test has done in both languages.
func everyActionWasDone() (code int) {
	all, err := actions()
	if err != nil {
		fmt.Fprintln(os.Stderr, "the actions of the console are not known:", err)
		return 1
	}
	missing, err := done.missing(all)
	if err != nil || len(missing) > 0 {
		fmt.Fprintf(os.Stderr, "no test has done %q, %v\n", missing, err)
		return 1
	}
	return 0
}

// serve starts the program with an embedded database, and returns its address. It ends
// with the test.
func serve(t *testing.T, file string, flags ...string) (url string) {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	args := append([]string{"serve", "--addr", "127.0.0.1:0", "--db", "sqlite://" + file, "--drain-timeout", "1s"}, flags...)
	serving := exec.CommandContext(ctx, path, args...)
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
	t.Cleanup(func() {
		cancel()
		<-ended
		_ = serving.Wait() // it was told to end
	})
	select {
	case url = <-found:
		return url
	case <-ended:
		t.Fatal("the program ended at once")
	}
	return ""
}
