package testdb

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/fairlead-io/fairlead/internal/patience"
)

const (
	startTimeout = patience.Limit
	probeTimeout = 20 * time.Second
	stopTimeout  = time.Minute
	pollInterval = 5 * time.Millisecond
)

// Options configures a private server. The zero value suits tests.
type Options struct {
	// Durable runs the server with the durability of production: a commit is on
	// disk before it is acknowledged. Otherwise nothing is synced, which loses
	// commits when the machine crashes, but not when the server is killed.
	Durable bool
	// Settled prefers a port that depends only on the server's program and the directory
	// from which it is started. Tests that found the server at that port before need not
	// run again, because go test caches results by the environment variables that tests
	// read.
	Settled bool
}

// A Server is a private server process with its own data directory and port. Keep a
// reference to it while the server is needed: like an open file, it is closed when it
// becomes garbage. Its methods are safe for concurrent use.
type Server struct {
	spec   spec
	dir    string
	port   int
	keeper *keeper

	mu      sync.Mutex
	process *process // nil while the server is down
}

// A spec describes how to run one kind of server. The server's directory belongs to runAs,
// contains an empty subdirectory "data", and is the place of the Unix socket.
type spec struct {
	name    string
	runAs   *syscall.Credential
	durable bool // the data must be on a disk
	port    int  // preferred; 0 for any

	// fill writes the initial content of the data directory, which is then handed over to
	// runAs. It may be nil.
	fill func(ctx context.Context, data string) error
	// command returns the absolute path of the program and its arguments. It writes
	// configuration files into dir if necessary.
	command func(dir string, port int) ([]string, error)
	// ready returns an error unless the server responds. It connects through the socket in
	// dir, because another process's server may be listening on the port.
	ready func(ctx context.Context, dir string, port int) error
	url   func(addr string) string

	// terminate requests an orderly shutdown. discard requests the fastest end that leaves
	// nothing behind outside the directory.
	terminate, discard syscall.Signal
}

// start runs a server in a new directory and waits until it responds.
func start(ctx context.Context, spec spec) (_ *Server, err error) {
	dir, err := os.MkdirTemp(serverRoot(spec.durable), "fairlead-"+strings.ToLower(spec.name)+"-")
	if err != nil {
		return nil, err
	}
	keeper, err := startKeeper(dir, spec.discard)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	s := &Server{spec: spec, dir: dir, keeper: keeper}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("start %s: %w", spec.name, err), s.Stop())
		}
	}()

	data := filepath.Join(dir, "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		return nil, err
	}
	if spec.fill != nil {
		if err := spec.fill(ctx, data); err != nil {
			return nil, err
		}
	}
	if err := giveTo(spec.runAs, dir); err != nil {
		return nil, err
	}
	// Between choosing a free port and listening on it, another process may take it.
	const attempts = 5
	preferred := spec.port
	for range attempts {
		if s.port, err = freePort(ctx, preferred); err != nil {
			return nil, err
		}
		preferred = 0
		if err = s.launch(ctx); !errors.Is(err, errPortTaken) {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// URL returns the URL of the server. For a database server, it grants administrator rights.
func (s *Server) URL() string { return s.spec.url(s.Addr()) }

// Addr returns the server's address as host:port.
func (s *Server) Addr() string { return net.JoinHostPort(loopback, strconv.Itoa(s.port)) }

// Dir returns the server's directory, which contains its data, log and Unix socket.
func (s *Server) Dir() string { return s.dir }

// PID returns the process ID of the server, or 0 while it is down. A PostgreSQL server
// consists of this process and its children.
func (s *Server) PID() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil {
		return 0
	}
	return s.process.pid
}

// Kill kills the server and its children with SIGKILL, all at once, like a crash.
// [Server.Restart] starts it again with all committed data.
func (s *Server) Kill() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	if err := s.process.killTree(ctx); err != nil {
		return fmt.Errorf("kill %s: %w", s.spec.name, err)
	}
	s.process = nil
	return s.keeper.watch(0)
}

// Restart starts the server again with the same data and port, and waits until it responds.
// A running server is shut down cleanly first.
func (s *Server) Restart(ctx context.Context) error {
	if err := s.end(ctx, s.spec.terminate); err != nil {
		return fmt.Errorf("restart %s: %w", s.spec.name, err)
	}
	if err := s.launch(ctx); err != nil {
		return fmt.Errorf("restart %s: %w", s.spec.name, err)
	}
	return nil
}

// Stop stops the server and removes its directory. Further calls do nothing.
func (s *Server) Stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	err := s.end(ctx, s.spec.discard)
	if err != nil {
		err = s.Kill()
	}
	return errors.Join(err, s.keeper.close())
}

// end signals the server and waits for its exit.
func (s *Server) end(ctx context.Context, signal syscall.Signal) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil {
		return nil
	}
	if err := s.process.signal(signal); err != nil {
		return err
	}
	if err := s.process.wait(ctx); err != nil {
		return err
	}
	s.process = nil
	return s.keeper.watch(0)
}

// errPortTaken means that another process listens on the server's port.
var errPortTaken = errors.New("port already in use")

// launch starts the process and waits until it responds.
func (s *Server) launch(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process != nil {
		return errors.New("already running")
	}

	argv, err := s.spec.command(s.dir, s.port)
	if err != nil {
		return err
	}
	// Truncated, so that the log contains only this start.
	log, err := os.Create(s.logPath())
	if err != nil {
		return err
	}
	process, err := startProcess(argv, s.dir, log, s.spec.runAs)
	if err := firstError(err, log.Close()); err != nil {
		return err
	}
	s.process = process
	if err := s.keeper.watch(process.pid); err != nil {
		return err
	}
	err = s.awaitReady(ctx)
	if process.exited() {
		s.process = nil
		return firstError(s.keeper.watch(0), err)
	}
	return err
}

func (s *Server) awaitReady(ctx context.Context) error {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		if s.process.exited() {
			return s.explainExit()
		}
		probe, cancel := context.WithTimeout(ctx, probeTimeout)
		err := s.spec.ready(probe, s.dir, s.port)
		cancel()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w while waiting for it to answer: %w", ctx.Err(), err)
		case <-ticker.C:
		}
	}
}

func (s *Server) explainExit() error {
	log, err := os.ReadFile(s.logPath())
	if err != nil {
		return fmt.Errorf("exited during start, and its log is unreadable: %w", err)
	}
	if strings.Contains(string(log), "Address already in use") {
		return errPortTaken
	}
	const tail = 2000
	log = log[max(0, len(log)-tail):]
	return fmt.Errorf("exited during start; its log ends with:\n%s", log)
}

func (s *Server) logPath() string { return filepath.Join(s.dir, "log") }

const loopback = "127.0.0.1"

// Ports of servers are below the range from which the system takes local ports of outgoing
// connections. Otherwise, while a server is down, a client that keeps reconnecting could be
// given the server's port and even connect to itself, and the restart would fail.
const lowestPort, firstEphemeralPort = 10_000, 32_768

// freePort returns a port on which no process listens. It returns the preferred port if
// that is set and free.
func freePort(ctx context.Context, preferred int) (int, error) {
	const attempts = 100
	var listening net.ListenConfig
	var lastErr error
	port := preferred
	for range attempts {
		if port == 0 {
			port = lowestPort + rand.IntN(firstEphemeralPort-lowestPort)
		}
		listener, err := listening.Listen(ctx, "tcp", net.JoinHostPort(loopback, strconv.Itoa(port)))
		if err == nil {
			return port, listener.Close()
		}
		port, lastErr = 0, err
	}
	return 0, fmt.Errorf("no free port: %w", lastErr)
}

// port returns the preferred port for a server's program; 0 means any.
func (o Options) port(ctx context.Context, program string) (int, error) {
	if !o.Settled {
		return 0, nil
	}
	version, err := versionOf(ctx, program)
	if err != nil {
		return 0, err
	}
	directory, err := os.Getwd()
	if err != nil {
		return 0, err
	}
	sum := sha256.Sum256(fmt.Appendln(nil, version, directory, o.Durable))
	return lowestPort + int(binary.BigEndian.Uint16(sum[:]))%(firstEphemeralPort-lowestPort), nil
}
