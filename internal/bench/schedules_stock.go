package bench

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/schedule"
)

// stock contains schedules that are not due for a long time.
type stock struct {
	*Schedules
	client *schedule.Client
	queue  string
	due    time.Time    // due time of the first one; the others follow a millisecond apart
	made   atomic.Int64 // number stored so far
	model  int64        // the first one
}

// scheduleCopier is a server that can store many schedules at once, because storing a
// million of them one by one would take longer than the measurement.
type scheduleCopier interface {
	// copySchedules stores copies of a schedule, each a millisecond later than the one before.
	// Their names contain the numbers in [first, end).
	copySchedules(ctx context.Context, model int64, first, end int) error
	// tidySchedules does the maintenance that the server would do on its own some time after
	// many schedules were stored, so that it is not measured.
	tidySchedules(ctx context.Context) error
}

func newStock(s *Schedules) *stock {
	const far = 30 * 24 * time.Hour
	return &stock{Schedules: s, client: schedule.NewClient(s.Store), queue: OwnQueue(), due: time.Now().Add(far).Truncate(time.Second)}
}

// way describes how schedules are stored.
func (s *stock) way() string {
	if _, ok := s.Server.(scheduleCopier); ok {
		return "copies by SQL"
	}
	return "PutSchedule"
}

// fill stores schedules until there are as many as requested.
func (s *stock) fill(ctx context.Context, items int) error {
	defer s.Progress.watch("schedules stored", int64(items), s.made.Load)()
	if s.made.Load() == 0 {
		first, err := s.put(ctx, 0)
		if err != nil {
			return err
		}
		s.model = first.ID
		s.made.Add(1)
	}
	if server, ok := s.Server.(scheduleCopier); ok {
		return s.copy(ctx, server, items)
	}
	return s.putAll(ctx, items)
}

// copy stores schedules in batches.
func (s *stock) copy(ctx context.Context, server scheduleCopier, items int) error {
	const batch = 20_000
	for made := int(s.made.Load()); made < items; made = int(s.made.Load()) {
		end := min(items, made+batch)
		if err := server.copySchedules(ctx, s.model, made, end); err != nil {
			return err
		}
		s.made.Store(int64(end))
	}
	return nil
}

// putAll stores schedules one by one, from several callers.
func (s *stock) putAll(ctx context.Context, items int) error {
	const callers = 16
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(callers)
	for i := int(s.made.Load()); i < items && ctx.Err() == nil; i++ {
		group.Go(func() error {
			_, err := s.put(ctx, i)
			s.made.Add(1)
			return err
		})
	}
	return group.Wait()
}

func (s *stock) put(ctx context.Context, i int) (schedule.Schedule, error) {
	job := fairlead.NewKind[Args](KindOwn).Job(NewArgs())
	job.Queue = s.queue
	return s.client.Put(ctx, schedule.Schedule{
		Name: fmt.Sprintf("%s stored %d", s.queue, i), Every: 24 * time.Hour, StartsAt: s.due.Add(time.Duration(i) * time.Millisecond), Job: *job,
	})
}
