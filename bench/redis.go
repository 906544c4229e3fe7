package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/fairlead-io/fairlead/internal/bench"
)

// redisServer observes a Redis server on this machine.
type redisServer struct {
	pid int
}

func openRedis(ctx context.Context, url string) (_ *redisServer, err error) {
	client := redis.NewClient(&redis.Options{Addr: strings.TrimPrefix(url, "redis://")})
	defer func() { err = errors.Join(err, client.Close()) }()
	info, err := client.Info(ctx, "server").Result()
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(info) {
		if pid, ok := strings.CutPrefix(line, "process_id:"); ok {
			number, err := strconv.Atoi(strings.TrimSpace(pid))
			return &redisServer{pid: number}, err
		}
	}
	return nil, fmt.Errorf("redis does not tell its process id")
}

// Name implements bench.Server.
func (s *redisServer) Name() string { return "redis" }

// Usage implements bench.Server.
func (s *redisServer) Usage(context.Context) (bench.Usage, error) {
	cpu, err := bench.ServerTime(s.pid)
	return bench.Usage{CPU: cpu}, err
}

// HoldSnapshot implements bench.Server.
func (s *redisServer) HoldSnapshot(context.Context) (func() error, error) {
	return nil, errors.New("redis has no transactions that see a snapshot")
}

// Close implements bench.Server.
func (s *redisServer) Close() error { return nil }
