package workers

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/driver"
)

const (
	forever = time.Duration(math.MaxInt64)
	// leaseGap is the interval between the claims of one call: each job that ends anywhere may
	// free capacity.
	leaseGap = 10 * time.Millisecond
)

// waiting is a call that waits for jobs.
type waiting struct {
	workers *Service
	crew    *crew
	until   *time.Timer
	freed   <-chan struct{} // closed when slots of the worker become free on this server
	news    chan driver.Wake
	end     func()
}

// newWaiting starts to listen, if the call may wait at all. The caller must call end of the
// result.
func (s *Service) newWaiting(ctx context.Context, id fairlead.NodeID, wait time.Duration) *waiting {
	w := &waiting{workers: s, crew: s.crewOf(id), end: func() {}}
	w.freed = w.crew.whenFreed()
	if wait <= 0 {
		return w
	}
	w.until = time.NewTimer(wait)
	var stop func()
	w.news, stop = s.listen(ctx, id, driver.WakeWork, driver.WakeRoom)
	w.end = func() {
		w.until.Stop()
		stop()
	}
	return w
}

// forJobs waits until there may be jobs, and reports whether to look for them.
func (w *waiting) forJobs(ctx context.Context) bool {
	if w.until == nil {
		return false
	}
	poll := time.NewTimer(w.workers.options.Poll)
	defer poll.Stop()
	select {
	case <-w.news:
	case <-w.freed:
	case <-poll.C:
	case <-w.until.C:
		return false
	case <-ctx.Done():
		return false
	case <-w.workers.stopping:
		return false
	}
	w.freed = w.crew.whenFreed()
	gap := time.NewTimer(leaseGap)
	defer gap.Stop()
	select {
	case <-gap.C:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

// listen passes on the wanted wakes of a worker until stop is called. At most one pending
// wake is retained. listen returns once it is listening, so that later wakes are not
// missed. Listening is cheap, because all listeners of a store share one connection.
func (s *Service) listen(ctx context.Context, id fairlead.NodeID, wanted ...driver.Wake) (news chan driver.Wake, stop func()) {
	news = make(chan driver.Wake, 1)
	ctx, cancel := context.WithCancel(ctx)
	begun, ended := make(chan struct{}), make(chan struct{})
	begin := sync.OnceFunc(func() { close(begun) })
	go func() {
		defer close(ended)
		defer begin() // if listening fails, polling replaces the wakes
		s.hear(ctx, id, func(wake driver.Wake) {
			if wake == driver.WakeListening {
				begin()
			}
			for _, w := range wanted {
				if w == wake {
					select {
					case news <- wake:
					default:
					}
				}
			}
		})
	}()
	<-begun
	return news, func() {
		cancel()
		<-ended
	}
}

// hear listens for a worker until ctx ends, if possible.
func (s *Service) hear(ctx context.Context, id fairlead.NodeID, wake func(driver.Wake)) {
	if node, err := s.roster.find(ctx, id); err == nil {
		_ = s.store.Listen(ctx, driver.ScopeOf(&node), wake)
	}
}

// aliveEvery is the interval at which a stream of news sends a sign of life.
const aliveEvery = 15 * time.Second

// newsOf contains the possible values in WorkerNews.
var newsOf = map[driver.Wake]string{driver.WakeWork: "work", driver.WakeRoom: "room", driver.WakeCancel: "cancel"}

// WatchWorker sends a hint to a worker whenever there may be something new for it.
func (s *Service) WatchWorker(ctx context.Context, in *fairleadv1.WatchWorkerRequest, send func(*fairleadv1.WorkerNews) error) error {
	ctx, err := s.sessions.enter(ctx, in)
	if err != nil {
		return err
	}
	id := fairlead.NodeID(in.GetId())
	if _, err := s.roster.find(ctx, id); err != nil {
		return err
	}
	work, stopWork := s.listen(ctx, id, driver.WakeWork, driver.WakeRoom)
	defer stopWork()
	cancels, stopCancels := s.listen(ctx, id, driver.WakeCancel)
	defer stopCancels()
	alive := time.NewTicker(aliveEvery)
	defer alive.Stop()
	what := "alive" // tells the caller that the stream is open
	for {
		if err := send(&fairleadv1.WorkerNews{What: what}); err != nil {
			return err
		}
		select {
		case wake := <-work:
			what = newsOf[wake]
		case wake := <-cancels:
			what = newsOf[wake]
		case <-alive.C:
			what = "alive"
		case <-ctx.Done():
			return nil
		case <-s.stopping:
			return nil
		}
	}
}
