package workers

import (
	"context"
	"errors"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/verdict"
)

// Reasons of StopJob.
const (
	stopCancelled = "cancelled"
	stopTimeout   = "timeout"
)

// BeatWorker extends a worker's lease and returns the jobs that the worker must stop.
func (s *Service) BeatWorker(ctx context.Context, in *fairleadv1.BeatWorkerRequest) (*fairleadv1.BeatWorkerResponse, error) {
	ctx, err := s.sessions.enter(ctx, in)
	if err != nil {
		return nil, err
	}
	lease, err := s.leaseOf(in.GetLease())
	if err != nil {
		return nil, err
	}
	wait, err := waitOf(in.GetWait(), s.beatOf(lease))
	if err != nil {
		return nil, err
	}
	id := fairlead.NodeID(in.GetId())
	out, next, err := s.beat(ctx, id, lease)
	if err != nil || wait <= 0 || hasNew(out.GetCancel(), in.GetHeard()) {
		return out, err
	}
	s.awaitStop(ctx, id, min(wait, max(next, time.Millisecond)))
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	out, _, err = s.beat(ctx, id, lease)
	return out, err
}

// awaitStop waits until the cancellation of a job of the worker may have been requested.
func (s *Service) awaitStop(ctx context.Context, id fairlead.NodeID, wait time.Duration) {
	news, stop := s.listen(ctx, id, driver.WakeCancel)
	defer stop()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-news:
	case <-timer.C:
	case <-ctx.Done():
	case <-s.stopping:
	}
}

// hasNew reports whether stops contains a job that the worker does not know of.
func hasNew(stops []*fairleadv1.StopJob, heard []*fairleadv1.Lease) bool {
	known := make(map[driver.Held]bool, len(heard))
	for _, h := range heard {
		known[driver.Held{ID: h.GetId(), Fence: h.GetFence()}] = true
	}
	for _, stop := range stops {
		if !known[driver.Held{ID: stop.GetId(), Fence: stop.GetFence()}] {
			return true
		}
	}
	return false
}

// beat performs one heartbeat of a worker. It returns the time until the next of its jobs
// exceeds its timeout.
func (s *Service) beat(ctx context.Context, id fairlead.NodeID, lease time.Duration) (*fairleadv1.BeatWorkerResponse, time.Duration, error) {
	ctx, cancel := s.brief(ctx)
	defer cancel()
	node, err := s.roster.find(ctx, id)
	if err != nil {
		return nil, 0, err
	}
	held, err := s.store.Held(ctx, id)
	if err != nil {
		return nil, 0, err
	}
	answer, err := s.store.Beat(ctx, driver.Beat{Node: id, Lease: lease, Idle: max(0, node.Slots-len(held))})
	if err != nil {
		if errors.Is(err, fairlead.ErrLeaseLost) {
			s.forget(id)
			err = errGone(id)
		}
		return nil, 0, err
	}
	c := s.crewOf(id)
	running, err := s.running(ctx, c, held)
	if err != nil {
		return nil, 0, err
	}
	inspection := inspection{answer: answer, grace: s.options.Grace, timeout: s.options.Timeout, node: &node, next: forever}
	inspection.look(c, running)
	if err := s.settleOverdue(ctx, c, inspection.overdue); err != nil {
		return nil, 0, err
	}
	s.report(ctx)
	return &fairleadv1.BeatWorkerResponse{Lease: durationpb.New(lease), Cancel: inspection.stops, Drain: answer.Drain}, inspection.next, nil
}

// inspection is a check of the jobs that a worker runs.
type inspection struct {
	answer         driver.BeatAnswer
	node           *fairlead.Node
	grace, timeout time.Duration

	stops   []*fairleadv1.StopJob
	overdue []fairlead.Settlement // jobs that should have stopped at least a grace period ago
	next    time.Duration         // time until another job exceeds its timeout
}

func (i *inspection) look(c *crew, running []*leased) {
	wished := make(map[driver.Held]bool, len(i.answer.Cancel))
	for _, h := range i.answer.Cancel {
		wished[h] = true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range running {
		late := i.answer.Now.Sub(l.job.StartedAt) - verdict.Timeout(l.job, driver.EntryOf(i.node, l.job.Kind), i.timeout)
		switch {
		case wished[heldOf(l.job)]:
			i.stop(l, stopCancelled, verdict.ErrCancelled)
		case late >= 0:
			i.stop(l, stopTimeout, verdict.ErrTimeout)
		default:
			i.next = min(i.next, -late)
		}
	}
}

// stop tells the worker to stop a job. It gives up on the job a grace period after the
// first request. A server that has just started always makes a request first, however late
// the job is: the worker may have ended the run, or may not know of the request, and could
// not report that while no server responded.
func (i *inspection) stop(l *leased, reason string, cause error) {
	if l.told.IsZero() {
		l.told = time.Now()
	}
	job, since := l.job, time.Since(l.told)
	if since < i.grace {
		i.next = min(i.next, i.grace-since)
		i.stops = append(i.stops, &fairleadv1.StopJob{Id: job.ID, Fence: job.Fence, Reason: reason})
		return
	}
	i.overdue = append(i.overdue, verdict.Decide(job, driver.EntryOf(i.node, job.Kind), errors.Join(verdict.ErrStuck, cause), cause, nil))
}

// settleOverdue ends runs that the worker has failed to end. Later reports by the worker
// are ignored.
func (s *Service) settleOverdue(ctx context.Context, c *crew, overdue []fairlead.Settlement) error {
	if len(overdue) == 0 {
		return nil
	}
	settled, err := s.store.Settle(ctx, overdue)
	if err != nil {
		return err
	}
	var ended []driver.Held
	for i, settlement := range overdue {
		if settled[i] != fairlead.SettledHeld { // the next inspection finds it again
			ended = append(ended, driver.Held{ID: settlement.ID, Fence: settlement.Fence})
		}
	}
	c.settled(ended)
	return nil
}

// reportEvery is the interval at which started jobs are reported: often enough for
// statistics on the last minute.
const reportEvery = 5 * time.Second

// report passes the jobs that workers have started through this server to the store. After
// a failure, a later heartbeat tries again.
func (s *Service) report(ctx context.Context) {
	s.mu.Lock()
	due := time.Since(s.reported) >= reportEvery
	if due {
		s.reported = time.Now()
	}
	s.mu.Unlock()
	if !due {
		return
	}
	taken := s.starts.Take()
	if len(taken) == 0 {
		return
	}
	if err := s.store.Report(ctx, taken); err != nil {
		s.starts.GiveBack(taken)
	}
}
