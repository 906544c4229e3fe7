package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/fairlead-io/fairlead/internal/bench"
)

// Compared systems.
const (
	systemFairlead         = "fairlead"
	systemFairleadHeard    = "fairlead-heard" // another process listens for wakes
	systemFairleadQuiet    = "fairlead-quiet" // without wakes
	systemRiver            = "river"          // tuned for throughput
	systemRiverDefaults    = "river-defaults" // configured as in its documentation
	systemRiverSQLite      = "river-sqlite"   // separate program: see riversqlite
	systemAsynq            = "asynq"          // tuned for throughput
	systemAsynqDefaults    = "asynq-defaults"
	systemGraphile         = "graphile" // tuned for throughput
	systemGraphileDefaults = "graphile-defaults"
	systemFloor            = "floor" // lower bound for all schedulers
)

// Commands of the processes that peers starts.
const (
	orderCommand  = "order"  // makes one measurement
	workerCommand = "worker" // runs handlers for a measurement in another process
)

// system is a scheduler with its database.
type system interface {
	bench.Scheduler
	io.Closer
}

// openSystem connects to a database of the system's own and creates its schema.
func openSystem(ctx context.Context, name, url, workload string) (system, error) {
	switch name {
	case systemFairlead:
		return openFairlead(ctx, url, workload)
	case systemFairleadHeard:
		return openHeard(ctx, url, workload)
	case systemFairleadQuiet:
		return openQuiet(ctx, url, workload)
	case systemRiver:
		return openRiver(ctx, url, tunedRiver())
	case systemRiverDefaults:
		return openRiver(ctx, url, defaultRiver())
	case systemAsynq:
		return openAsynq(url, tunedAsynq()), nil
	case systemAsynqDefaults:
		return openAsynq(url, defaultAsynq()), nil
	case systemGraphile:
		return openGraphile(ctx, url, workload, tunedGraphile())
	case systemGraphileDefaults:
		return openGraphile(ctx, url, workload, defaultGraphile())
	case systemFloor:
		return openFloor(ctx, url)
	default:
		return nil, fmt.Errorf("unknown system %q", name)
	}
}

func openServer(ctx context.Context, url string) (bench.Server, error) {
	if strings.HasPrefix(url, "redis://") {
		return openRedis(ctx, url)
	}
	return bench.OpenServer(ctx, url)
}

// serveOrder performs one measurement, as the main function of its process.
func serveOrder(ctx context.Context, stdin io.Reader, stdout io.Writer) error {
	return bench.ServeOrder(ctx, stdin, stdout, func(ctx context.Context, order bench.Order) (_ bench.Result, err error) {
		system, err := openSystem(ctx, order.System, order.URL, order.Spec.Workload)
		if err != nil {
			return bench.Result{}, fmt.Errorf("open %s: %w", order.System, err)
		}
		defer func() { err = errors.Join(err, system.Close()) }()
		server, err := openServer(ctx, order.URL)
		if err != nil {
			return bench.Result{}, err
		}
		defer func() { err = errors.Join(err, server.Close()) }()
		b := bench.Bench{Spec: order.Spec, Scheduler: system, Server: server}
		if _, apart := system.(*graphileSystem); apart {
			b.Client = bench.ChildrenTime
		}
		if order.Processes == 2 {
			if b.Scheduler, err = remote(system, order); err != nil {
				return bench.Result{}, err
			}
		}
		return b.Run(ctx)
	})
}

// remote makes the handlers run in another process.
func remote(s system, order bench.Order) (bench.Scheduler, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return &bench.Remote{
		Scheduler: s,
		Command:   []string{program, workerCommand},
		Post:      bench.Post{System: order.System, URL: order.URL, Workload: order.Spec.Workload},
	}, nil
}

// serveWorker runs handlers, as the main function of that process.
func serveWorker(ctx context.Context, stdin io.Reader, stdout io.Writer) (err error) {
	input := bufio.NewReader(stdin)
	post, err := bench.ReadPost(input)
	if err != nil {
		return err
	}
	system, err := openSystem(ctx, post.System, post.URL, post.Workload)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, system.Close()) }()
	return bench.ServeWork(ctx, system, input, stdout)
}
