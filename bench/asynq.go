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
	// asynqDone is where asynq keeps the tasks that it has completed.
	asynqDone = "asynq:{" + asynqQueue + "}:completed"
	// asynqKeep is how long: as long as the others keep theirs by default.
	asynqKeep = 24 * time.Hour
	// asynqCallers share a batch. Each call waits for a sync of Redis's log,
	// which serves all calls that came meanwhile.
	asynqCallers = 64
	// asynqConnections is enough for all of them.
	asynqConnections = 100
)

// asynqSystem is asynq on Redis.
type asynqSystem struct {
	redis  *redis.Client
	client *asynq.Client
	option asynq.RedisClientOpt
	tuning asynqTuning
}

// asynqTuning is how asynq is run.
type asynqTuning struct {
	servers int // in one process
	config  asynq.Config
}

// tunedAsynq looks often for tasks. One server takes one task after the other,
// and each time waits for a sync of Redis's log: several share the syncs.
func tunedAsynq() asynqTuning {
	return asynqTuning{servers: 16, config: asynq.Config{Concurrency: 25, TaskCheckInterval: 20 * time.Millisecond}}
}

// defaultAsynq is one server that runs as many tasks at once as there are CPUs.
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

// Enqueue shares the batch among concurrent callers: asynq stores one task per
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

// countCompleted tells of completed tasks until ctx ends. asynq does not say
// when the completion of a task is durable, so Redis is asked.
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
