package main

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/internal/testdb"
)

// starting is serve on its way up.
type starting struct {
	addr  string
	lines chan string
	exit  chan int
}

// freeAddress returns an address without a listener.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

func launchServe(t *testing.T, args ...string) *starting {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	s := &starting{addr: freeAddress(t), lines: make(chan string, 1000), exit: make(chan int, 1)}
	reader, writer := io.Pipe()
	go func() {
		s.exit <- run(ctx, append([]string{"serve", "--addr", s.addr}, args...), io.Discard, writer)
		writer.Close()
	}()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for lines := bufio.NewScanner(reader); lines.Scan(); {
			s.lines <- lines.Text()
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	return s
}

// says waits for a line of the log.
func (s *starting) says(t *testing.T, text string) string {
	t.Helper()
	limit := time.After(patience.Limit)
	for {
		select {
		case line := <-s.lines:
			if strings.Contains(line, text) {
				return line
			}
		case <-limit:
			t.Fatalf("the log does not say %q", text)
		}
	}
}

// probe asks for a path until it is answered.
func (s *starting) probe(t *testing.T, path string) (int, string) {
	t.Helper()
	for end := time.Now().Add(patience.Limit); time.Now().Before(end); {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.addr+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			continue // it begins to listen when it has said that it waits
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, string(body)
	}
	t.Fatal("it does not answer")
	return 0, ""
}

func TestAStartWaitsForAFileThatAnotherProcessHasLocked(t *testing.T) {
	file := filepath.Join(t.TempDir(), "jobs.db")
	db, err := sql.Open("sqlite", "file:"+file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(t.Context(), "begin exclusive"); err != nil {
		t.Fatal(err)
	}
	s := launchServe(t, "--db", "sqlite://"+file)
	if line := s.says(t, "startup waiting"); !strings.Contains(line, `for="another process that has the file locked"`) {
		t.Errorf("the log says %s", line)
	}
	if status, text := s.probe(t, "/readyz"); status != http.StatusServiceUnavailable || !strings.Contains(text, "waiting for another process") {
		t.Errorf("/readyz is %d %s", status, text)
	}
	if status, text := s.probe(t, "/livez"); status != http.StatusOK || text != "ok\n" {
		t.Errorf("/livez is %d %s", status, text)
	}
	if _, err := conn.ExecContext(t.Context(), "rollback"); err != nil {
		t.Fatal(err)
	}
	s.says(t, "startup continuing")
	s.says(t, "joined")
	if status, text := s.probe(t, "/readyz"); status != http.StatusOK {
		t.Errorf("/readyz is %d %s", status, text)
	}
}

func TestAStartWaitsForADatabaseThatDoesNotAnswer(t *testing.T) {
	direct, err := url.Parse(testdb.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	relay := testdb.NewRelay(t, "")
	through := *direct
	through.Host = relay.Addr()
	s := launchServe(t, "--db", through.String())
	if line := s.says(t, "startup waiting"); !strings.Contains(line, `for="the database to respond"`) || !strings.Contains(line, "because=") {
		t.Errorf("the log says %s", line)
	}
	relay.Lead(direct.Host)
	s.says(t, "startup continuing")
	s.says(t, "joined")
}

func TestAStartGivesUpAfterItsTime(t *testing.T) {
	db := fmt.Sprintf("postgres://u:s3cret@%s/x?sslmode=disable", freeAddress(t))
	for wait, said := range map[string]string{"0": "", "1ms": "(--db-wait)"} {
		if _, errs := typed(t, 6, "serve", "--addr", "127.0.0.1:0", "--db", db, "--db-wait", wait); !strings.Contains(errs, said) || strings.Contains(errs, "s3cret") {
			t.Errorf("with %s: %s", wait, errs)
		}
	}
	if _, errs := typed(t, exitUsage, "serve", "--addr", "127.0.0.1:0", "--db", db, "--db-wait", "-1s"); !strings.Contains(errs, "--db-wait") {
		t.Error(errs)
	}
}
