package main

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"github.com/fairlead-io/fairlead/internal/bench"
)

const (
	asynqTask  = "bench"
	asynqQueue = "default"
	// asynqDone is the key under which asynq stores completed tasks.
	asynqDone = "asynq:{" + asynqQueue + "}:completed"
	// asynqKeep is their retention: the default retention of the other systems.
	asynqKeep = 24 * time.Hour
	// asynqCallers is the number of callers that share a batch. Each call waits for a sync of
	// Redis's log, which covers all calls that arrived before it.
	asynqCallers = 64
	// asynqConnections is large enough for all callers.
	asynqConnections = 100
)

// asynqSystem is asynq on Redis.
type asynqSystem struct {
	redis  *redis.Client
	client *asynq.Client
	option asynq.RedisClientOpt
	tuning asynqTuning
}

// asynqTuning is the configuration of asynq.
type asynqTuning struct {
	servers int // number of servers in one process
	config  asynq.Config
}

// tunedAsynq polls often for tasks. A server processes tasks one after the other, and each
// time waits for a sync of Redis's log, so several servers share the syncs.
func tunedAsynq() asynqTuning {
	return asynqTuning{servers: 16, config: asynq.Config{Concurrency: 25, TaskCheckInterval: 20 * time.Millisecond}}
}

// defaultAsynq uses one server that runs as many tasks concurrently as there are CPUs.
func defaultAsynq() asynqTuning { return asynqTuning{servers: 1} }

func openAsynq(url string, tuning asynqTuning) *asynqSystem {
	tuning.config.LogLevel = asynq.FatalLevel
	option := asynq.RedisClientOpt{Addr: strings.TrimPrefix(url, "redis://"), PoolSize: asynqConnections}
	return &asynqSystem{
		redis:  redis.NewClient(&redis.Options{Addr: option.Addr}),
		client: asynq.NewClient(option),
		option: option,
		tuning: tuning,
	}
}

// Enqueue distributes the batch over concurrent callers, because asynq stores one task per
// call.
func (s *asynqSystem) Enqueue(ctx context.Context, batch []bench.Args) error {
	group, ctx := errgroup.WithContext(ctx)
	callers := min(asynqCallers, len(batch))
	for caller := range callers {
		group.Go(func() error {
			for i := caller; i < len(batch); i += callers {
				payload, err := json.Marshal(batch[i])
				if err != nil {
					return err
				}
				if _, err := s.client.EnqueueContext(ctx, asynq.NewTask(asynqTask, payload), asynq.Retention(asynqKeep)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// Work runs the servers.
func (s *asynqSystem) Work(ctx context.Context, events bench.Events) error {
	handler := asynq.HandlerFunc(func(_ context.Context, task *asynq.Task) error {
		var args bench.Args
		if err := json.Unmarshal(task.Payload(), &args); err != nil {
			return err
		}
		events.Started(args.Waited())
		return nil
	})
	for range s.tuning.servers {
		server := asynq.NewServer(s.option, s.tuning.config)
		if err := server.Start(handler); err != nil {
			return err
		}
		defer server.Shutdown()
	}
	return s.countCompleted(ctx, events)
}

// countCompleted reports completed tasks until ctx ends. asynq does not report when the
// completion of a task is durable, so countCompleted queries Redis.
func (s *asynqSystem) countCompleted(ctx context.Context, events bench.Events) error {
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	var known int64
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		completed, err := s.redis.ZCard(ctx, asynqDone).Result()
		if err != nil && ctx.Err() == nil {
			return err
		}
		for ; known < completed; known++ {
			events.Ended()
		}
	}
}

// Close closes the connections.
func (s *asynqSystem) Close() error { return errors.Join(s.client.Close(), s.redis.Close()) }
