package server

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

// BeatWorker extends the lease of a worker, and returns which jobs it is to stop.
func (s *Workers) BeatWorker(ctx context.Context, in *fairleadv1.BeatWorkerRequest) (*fairleadv1.BeatWorkerResponse, error) {
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

// awaitStop waits until a caller may have asked to cancel a job of the worker.
func (s *Workers) awaitStop(ctx context.Context, id fairlead.NodeID, wait time.Duration) {
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

// hasNew reports whether a worker has not heard of one of the jobs to stop.
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

// beat is one sign of life of a worker. It returns how long it is until the next of
// its jobs is over its time.
func (s *Workers) beat(ctx context.Context, id fairlead.NodeID, lease time.Duration) (*fairleadv1.BeatWorkerResponse, time.Duration, error) {
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

// inspection is a look at what a worker runs.
type inspection struct {
	answer         driver.BeatAnswer
	node           *fairlead.Node
	grace, timeout time.Duration

	stops   []*fairleadv1.StopJob
	overdue []fairlead.Settlement // of jobs that should have stopped a grace ago
	next    time.Duration         // until another job is over its time
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

// stop asks the worker to stop a job. A grace after it was first asked, it gives up on the
// job. A server that has just started asks first, however late the job is: the worker may
// have ended the run, or never have heard of it, and could not say so while no server
// answered.
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

// settleOverdue ends runs that the worker would not end. What it says of them
// later is too late.
func (s *Workers) settleOverdue(ctx context.Context, c *crew, overdue []fairlead.Settlement) error {
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

// reportEvery is how often what workers started is reported: often enough for
// statistics to show the last minute.
const reportEvery = 5 * time.Second

// report passes on to the store what workers have started through this server. If that
// fails, a later beat does it.
func (s *Workers) report(ctx context.Context) {
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
