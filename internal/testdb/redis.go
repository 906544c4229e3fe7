package testdb

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"syscall"
)

// StartRedis starts a private Redis server, used by the benchmarks of other schedulers. A
// durable server appends every write to a file and syncs it before it responds; otherwise
// nothing is written. StartRedis returns [ErrUnavailable] if Redis is neither installed nor
// installable.
func StartRedis(ctx context.Context, options Options) (*Server, error) {
	program, err := findOrInstall(ctx, "redis-server", func(context.Context) (string, error) {
		return lookPath("redis-server", "/usr/bin")
	})
	if err != nil {
		return nil, err
	}
	runAs, err := unprivileged("redis")
	if err != nil {
		return nil, err
	}
	appendOnly := "no"
	if options.Durable {
		appendOnly = "yes"
	}
	return start(ctx, spec{
		name:    "Redis",
		runAs:   runAs,
		durable: options.Durable,
		command: func(dir string, port int) ([]string, error) {
			return []string{
				program,
				"--bind", loopback,
				"--port", strconv.Itoa(port),
				"--unixsocket", redisSocket(dir),
				"--dir", filepath.Join(dir, "data"),
				"--save", "",
				"--appendonly", appendOnly,
				"--appendfsync", "always",
			}, nil
		},
		ready:     probeRedis,
		url:       func(addr string) string { return "redis://" + addr },
		terminate: syscall.SIGTERM,
		discard:   syscall.SIGKILL,
	})
}

func redisSocket(dir string) string { return filepath.Join(dir, "redis.sock") }

// probeRedis sends a PING in the protocol's one-line form, to avoid a dependency on a
// client library.
func probeRedis(ctx context.Context, dir string, _ int) (err error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "unix", redisSocket(dir))
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, conn.Close()) }()
	if deadline, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(deadline); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprint(conn, "PING\r\n"); err != nil {
		return err
	}
	answer, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		return err
	}
	if answer != "+PONG\r\n" {
		return fmt.Errorf("redis answered %q to PING", answer)
	}
	return nil
}
