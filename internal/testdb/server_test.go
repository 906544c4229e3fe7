package testdb_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/internal/tier"
)

func TestKillAndRestartKeepsCommittedData(t *testing.T) {
	tier.Long(t, "kills servers of its own")
	for _, database := range databases {
		t.Run(database.name, func(t *testing.T) {
			server := startServer(t, database.start)
			db := open(t, server.URL())
			mustExec(t, db, "CREATE TABLE committed (id int PRIMARY KEY)")
			const rows = 100
			for id := range rows {
				mustExec(t, db, fmt.Sprintf("INSERT INTO committed VALUES (%d)", id))
			}
			pid := server.PID()

			if err := server.Kill(); err != nil {
				t.Fatal(err)
			}
			if testdb.Alive(pid) || server.PID() != 0 {
				t.Errorf("process %d survived, server says %d", pid, server.PID())
			}
			if err := open(t, server.URL()).PingContext(t.Context()); err == nil {
				t.Error("the killed server still answers")
			}
			if err := server.Restart(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := count(t, open(t, server.URL()), "SELECT count(*) FROM committed"); got != rows {
				t.Errorf("%d of %d committed rows are left", got, rows)
			}
		})
	}
}

func TestRestartOfRunningServerKeepsDataAndAddress(t *testing.T) {
	tier.Long(t, "restarts servers of its own")
	for _, database := range databases {
		t.Run(database.name, func(t *testing.T) {
			server := startServer(t, database.start)
			mustExec(t, open(t, server.URL()), "CREATE TABLE kept (id int)")
			url, pid := server.URL(), server.PID()
			if err := server.Restart(t.Context()); err != nil {
				t.Fatal(err)
			}
			if server.URL() != url || server.PID() == pid {
				t.Errorf("restarted as %s, process %d; was %s, process %d", server.URL(), server.PID(), url, pid)
			}
			if got := count(t, open(t, url), "SELECT count(*) FROM kept"); got != 0 {
				t.Errorf("an empty table has %d rows after the restart", got)
			}
		})
	}
}

// Settled servers have the same port as before, unless it is taken.
func TestASettledServerKeepsItsPort(t *testing.T) {
	tier.Long(t, "restarts servers of its own")
	settled := func(ctx context.Context, options testdb.Options) (*testdb.Server, error) {
		options.Settled = true
		return testdb.StartPostgres(ctx, options)
	}
	first := startServer(t, settled)
	if second := startServer(t, settled); second.Addr() == first.Addr() {
		t.Errorf("both are at %s", first.Addr())
	}
	if err := first.Stop(); err != nil {
		t.Fatal(err)
	}
	if third := startServer(t, settled); third.Addr() != first.Addr() {
		t.Errorf("it was at %s and is now at %s", first.Addr(), third.Addr())
	}
}

func TestStopLeavesNoProcessAndNoDirectory(t *testing.T) {
	tier.Long(t, "starts servers of its own")
	postgres := startServer(t, testdb.StartPostgres)
	kinds := map[string]func(context.Context, testdb.Options) (*testdb.Server, error){
		"postgres": testdb.StartPostgres,
		"mysql":    testdb.StartMySQL,
		"redis":    testdb.StartRedis,
		"pgbouncer": func(ctx context.Context, _ testdb.Options) (*testdb.Server, error) {
			return testdb.StartPgBouncer(ctx, postgres.URL())
		},
	}
	for name, start := range kinds {
		t.Run(name, func(t *testing.T) {
			server := startServer(t, start)
			pid, dir := server.PID(), server.Dir()
			if _, err := os.Stat(dir); err != nil {
				t.Fatal(err)
			}
			for range 2 { // stopping again does nothing
				if err := server.Stop(); err != nil {
					t.Fatal(err)
				}
			}
			if testdb.Alive(pid) {
				t.Errorf("process %d still runs", pid)
			}
			if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s still exists: %v", dir, err)
			}
		})
	}
}

func TestDurableServersAcknowledgeOnlyWhatIsOnDisk(t *testing.T) {
	tier.Long(t, "starts servers that wait for the disk")
	settings := []struct {
		name, query, want string
		start             func(context.Context, testdb.Options) (*testdb.Server, error)
	}{
		{"postgres", "SELECT current_setting('fsync') || ',' || current_setting('synchronous_commit')", "on,on", testdb.StartPostgres},
		{"mysql", "SELECT CONCAT(@@innodb_flush_log_at_trx_commit, ',', @@innodb_flush_method)", "1,O_DIRECT", testdb.StartMySQL},
	}
	for _, setting := range settings {
		t.Run(setting.name, func(t *testing.T) {
			server := startServer(t, func(ctx context.Context, options testdb.Options) (*testdb.Server, error) {
				options.Durable = true
				return setting.start(ctx, options)
			})
			var got string
			if err := open(t, server.URL()).QueryRowContext(t.Context(), setting.query).Scan(&got); err != nil {
				t.Fatal(err)
			}
			if got != setting.want {
				t.Errorf("settings are %s, want %s", got, setting.want)
			}
		})
	}
}

func TestServerEndsWithItsOwner(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience.Limit)
	defer cancel()
	owner := exec.CommandContext(ctx, os.Args[0])
	owner.Env = append(os.Environ(), ownerEnv+"=1")
	owner.Stderr = os.Stderr
	output, err := owner.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := owner.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	var dir string
	_, scanErr := fmt.Fscanln(bufio.NewReader(output), &pid, &dir)
	if err := owner.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = owner.Wait() // reports the kill
	if scanErr != nil {
		t.Fatalf("the owner did not start a server: %v", scanErr)
	}

	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for {
		_, err := os.Stat(dir)
		if !testdb.Alive(pid) && errors.Is(err, fs.ErrNotExist) {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("process %d runs: %t; its directory: %v", pid, testdb.Alive(pid), err)
		case <-ticker.C:
		}
	}
}

// ownerEnv makes the test binary start a server and wait until it is killed.
const ownerEnv = "FAIRLEAD_TESTDB_OWNER"

func beTheOwnerIfAsked() {
	if os.Getenv(ownerEnv) == "" {
		return
	}
	server, err := testdb.StartPostgres(context.Background(), testdb.Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(server.PID(), server.Dir())
	_, _ = io.Copy(io.Discard, os.Stdin) // which is never closed
	runtime.KeepAlive(server)
}

func startServer(t *testing.T, start func(context.Context, testdb.Options) (*testdb.Server, error)) *testdb.Server {
	t.Helper()
	server, err := start(t.Context(), testdb.Options{})
	if errors.Is(err, testdb.ErrUnavailable) && !testdb.Required() {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	return server
}
