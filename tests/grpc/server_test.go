package grpc

import (
	"bufio"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/fairlead-io/fairlead/internal/testprogram"
)

func TestMain(m *testing.M) {
	defer testprogram.Remove()
	m.Run()
}

// lease is the lease of a node or worker that must never lose it, however busy the machine
// is.
const lease = 5 * time.Minute

// connect starts the program and connects to it. flags override the default flags.
func connect(t *testing.T, flags ...string) *grpc.ClientConn {
	t.Helper()
	args := append([]string{
		"serve", "--addr", "127.0.0.1:0", "--db", "sqlite://" + filepath.Join(t.TempDir(), "jobs.db"),
		"--beat", "200ms", "--lease", lease.String(), "--poll", "100ms",
	}, flags...)
	program := exec.CommandContext(t.Context(), testprogram.Path(t), args...)
	program.Cancel = func() error { return program.Process.Signal(syscall.SIGTERM) }
	log, err := program.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	address := ""
	lines := bufio.NewScanner(log)
	for address == "" && lines.Scan() {
		if m := regexp.MustCompile(`url=http://(\S+)`).FindStringSubmatch(lines.Text()); m != nil {
			address = m[1]
		}
	}
	if address == "" {
		t.Fatal("the program ended before it served")
	}
	logged := make(chan struct{})
	go func() {
		defer close(logged)
		for lines.Scan() { // a full pipe would block the program
			_ = lines.Text()
		}
	}()
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = conn.Close()
		_ = program.Process.Signal(syscall.SIGTERM)
		<-logged
		_ = program.Wait()
	})
	return conn
}
