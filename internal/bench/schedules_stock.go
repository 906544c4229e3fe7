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

// stock is schedules that are not due for long.
type stock struct {
	*Schedules
	client *schedule.Client
	queue  string
	due    time.Time    // of the first; the others follow a millisecond apart
	made   atomic.Int64 // so far
	model  int64        // the first one
}

// scheduleCopier is a server that can store many schedules at once, as one by one
// a million of them would take longer than what is measured.
type scheduleCopier interface {
	// copySchedules stores copies of a schedule, each a millisecond later than the
	// one before, with the numbers from first on and below end in their names.
	copySchedules(ctx context.Context, model int64, first, end int) error
	// tidySchedules does now what the server would do on its own some time after
	// many schedules were stored, and which is not to be measured.
	tidySchedules(ctx context.Context) error
}

func newStock(s *Schedules) *stock {
	const far = 30 * 24 * time.Hour
	return &stock{Schedules: s, client: schedule.NewClient(s.Store), queue: OwnQueue(), due: time.Now().Add(far).Truncate(time.Second)}
}

// way names how schedules are stored.
func (s *stock) way() string {
	if _, ok := s.Server.(scheduleCopier); ok {
		return "copies by SQL"
	}
	return "PutSchedule"
}

// fill stores schedules until there are so many.
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

// copy stores them a batch at a time.
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

// putAll stores them one by one, from several callers.
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
