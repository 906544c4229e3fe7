package grpc

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

var binary string // the program that is tested

func TestMain(m *testing.M) {
	directory, err := os.MkdirTemp("", "fairlead-grpc")
	if err != nil {
		panic(err)
	}
	binary = filepath.Join(directory, "fairlead")
	build := exec.CommandContext(context.Background(), "go", "build", "-o", binary, "./cmd/fairlead")
	build.Dir, build.Stderr = "../..", os.Stderr
	if err := build.Run(); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(directory)
	os.Exit(code)
}

// connect starts the program and connects to it.
func connect(t *testing.T) *grpc.ClientConn {
	t.Helper()
	program := exec.CommandContext(t.Context(), binary, "serve", "--addr", "127.0.0.1:0",
		"--db", "sqlite://"+filepath.Join(t.TempDir(), "jobs.db"), "--beat", "200ms", "--lease", "1s", "--poll", "100ms")
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
		for lines.Scan() { // what it cannot write would hold it up
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
