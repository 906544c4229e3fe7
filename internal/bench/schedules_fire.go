package bench

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/schedule"
)

// node returns a node that runs jobs of schedules, and calls started when a handler starts.
func (s *Schedules) node(queue string, started func(*fairlead.Job)) Scheduler {
	return &firingNode{store: s.Store, queue: queue, slots: s.Slots, started: started}
}

// firingNode is a node with the engine's default settings. Its jobs come only from
// schedules.
type firingNode struct {
	store   driver.Store
	queue   string
	slots   int
	started func(*fairlead.Job)
}

// Enqueue implements Scheduler.
func (*firingNode) Enqueue(context.Context, []Args) error {
	return errors.New("jobs come from schedules")
}

// Work implements Scheduler.
func (n *firingNode) Work(ctx context.Context, events Events) error {
	mux := fairlead.NewMux()
	fairlead.NewKind[Args](KindOwn).Handle(mux, func(_ context.Context, job *fairlead.Job, _ Args) error {
		n.started(job)
		return nil
	})
	return engine.Run(ctx, n.store, mux, engine.Options{
		Name: "bench", Slots: n.slots, Queues: []engine.Queue{{Name: n.queue}}, Retention: keepAll(),
		Logger:   slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
		Observer: &endings{ended: events.Ended},
	})
}

// starts contains the start times of handlers, by job.
type starts struct {
	mu sync.Mutex
	at map[int64]time.Time
}

func (s *starts) started(job *fairlead.Job) {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, again := s.at[job.ID]; !again {
		s.at[job.ID] = now
	}
}

// punctual measures the delays of handlers.
func (s *Schedules) punctual(ctx context.Context, queue string, f *ScheduleFigures) error {
	ahead, err := s.clockAhead(ctx)
	if err != nil {
		return err
	}
	starts, tally := &starts{at: map[int64]time.Time{}}, newTally()
	working, stop := startWork(ctx, s.node(queue, starts.started), Events{Ended: tally.end})
	err = s.fires(working, queue, ahead, tally, f)
	if err := firstError(stop(), err); err != nil {
		return err
	}
	lateness, err := s.lateness(ctx, queue, starts, ahead, f.RunsDue == f.Jobs)
	if err != nil {
		return err
	}
	f.LatenessP50, f.LatenessP99, f.LatenessMax = millis(quantile(lateness, 0.5)), millis(quantile(lateness, 0.99)), millis(quantile(lateness, 1))
	return nil
}

// fires stores schedules that are due every second and waits for all their runs.
func (s *Schedules) fires(working context.Context, queue string, ahead time.Duration, tally *tally, f *ScheduleFigures) error {
	// Before the first schedule is due, all must be stored and the node must be idle.
	const lead, each = 3 * time.Second, 20 * time.Millisecond
	from := time.Now().Add(ahead + lead + time.Duration(s.Rate)*each).Truncate(time.Second)
	if err := s.putFiring(working, queue, from); err != nil {
		return err
	}
	if late := time.Since(from.Add(-ahead)); late > 0 {
		return fmt.Errorf("storing %[2]d schedules took %[1]v too long: use a lower --rate", late, s.Rate)
	}
	// Start the meter before, because that takes some time and would delay the first runs.
	m, err := startMeter(working, s.Server)
	if err != nil {
		return err
	}
	if err := pass(working, time.Until(from.Add(-ahead))); err != nil {
		return err
	}
	f.SchedulesFiring = s.Rate
	f.RunsDue = int64(s.Rate) * int64(s.Seconds)
	defer s.Progress.watch(SchedulesWorkload, f.RunsDue, tally.ended.Load)()
	runs, err := s.awaitRuns(working, tally, f.RunsDue)
	if err != nil {
		return err
	}
	used, err := m.stop()
	used.elapsed = time.Since(from.Add(-ahead))
	f.Result = used.perJob(runs)
	return err
}

// errTooMany ends the wait for runs if the machine does not keep up.
var errTooMany = errors.New("timed out: due schedules did not run")

// awaitRuns waits until the given number of runs have ended, and returns the number of
// ended runs. The wait is limited: if the machine does not keep up, the result is the
// number reached.
func (s *Schedules) awaitRuns(working context.Context, tally *tally, due int64) (int64, error) {
	const patience = time.Minute
	working, cancel := context.WithTimeoutCause(working, s.duration()+patience, errTooMany)
	defer cancel()
	err := tally.await(working, due)
	runs := tally.ended.Load()
	if errors.Is(err, errTooMany) && runs > 0 {
		err = nil
	}
	return runs, err
}

// putFiring stores schedules that fire each second for some time.
func (s *Schedules) putFiring(ctx context.Context, queue string, from time.Time) error {
	client := schedule.NewClient(s.Store)
	for i := range s.Rate {
		job := fairlead.NewKind[Args](KindOwn).Job(NewArgs())
		job.Queue = queue
		begin := from
		if !s.AtOnce {
			begin = from.Add(time.Duration(i) * time.Second / time.Duration(s.Rate))
		}
		schedule := schedule.Schedule{
			Name: firingName(queue, i), Every: time.Second, StartsAt: begin, EndsAt: begin.Add(time.Duration(s.Seconds) * time.Second),
			Job: *job, CatchUp: schedule.CatchUpFull,
		}
		if _, err := client.Put(ctx, schedule); err != nil {
			return err
		}
	}
	return nil
}

func firingName(queue string, i int) string { return fmt.Sprintf("%s firing %d", queue, i) }

// lateness compares the start times of handlers with the due times of their runs. Unless
// all runs have ended, it leaves out those that were not started.
func (s *Schedules) lateness(ctx context.Context, queue string, starts *starts, ahead time.Duration, all bool) ([]time.Duration, error) {
	client := schedule.NewClient(s.Store)
	var late []time.Duration
	for i := range s.Rate {
		sc, err := client.Get(ctx, firingName(queue, i))
		if err != nil {
			return nil, err
		}
		fires, err := client.Fires(ctx, schedule.FireFilter{Schedule: sc.ID, Limit: int(s.Seconds) + 1})
		if err != nil {
			return nil, err
		}
		if all && len(fires) != int(s.Seconds) {
			return nil, fmt.Errorf("schedule %s has %d runs, not %d", sc.Name, len(fires), int(s.Seconds))
		}
		for _, fire := range fires {
			at, ok := starts.at[fire.Job]
			if !ok && !all {
				continue
			}
			if !ok {
				return nil, fmt.Errorf("run %d never started on this node: is another node using this database?", fire.Job)
			}
			late = append(late, at.Add(ahead).Sub(fire.Due))
		}
	}
	return late, nil
}

// clockAhead returns how far the database's clock is ahead of the local one, according to
// the fastest of several queries.
func (s *Schedules) clockAhead(ctx context.Context) (ahead time.Duration, err error) {
	const looks = 20
	quickest := time.Hour
	for range looks {
		asked := time.Now()
		now, err := s.Store.Now(ctx)
		if err != nil {
			return 0, err
		}
		if took := time.Since(asked); took < quickest {
			quickest, ahead = took, now.Sub(asked.Add(took/2))
		}
	}
	return ahead, nil
}
