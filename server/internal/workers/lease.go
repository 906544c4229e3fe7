package workers

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/message"
	"github.com/fairlead-io/fairlead/internal/verdict"
	"github.com/fairlead-io/fairlead/server/internal/caller"
	"github.com/fairlead-io/fairlead/server/internal/overload"
	"github.com/fairlead-io/fairlead/server/internal/rest"
)

// longestWait limits how long a call may wait for jobs: less than the timeout of common
// proxies.
const longestWait = time.Minute

// Values of LeaseJobsRequest.suspects.
const (
	onlySuspects = "only"
	noSuspects   = "none"
)

// LeaseJobs leases jobs to a worker. If no jobs are ready, it waits.
func (s *Service) LeaseJobs(ctx context.Context, in *fairleadv1.LeaseJobsRequest) (*fairleadv1.LeaseJobsResponse, error) {
	ctx, err := s.sessions.enter(ctx, in)
	if err != nil {
		return nil, err
	}
	wait, err := waitOf(in.GetWait(), longestWait)
	if err != nil {
		return nil, err
	}
	w := s.newWaiting(ctx, fairlead.NodeID(in.GetId()), wait)
	defer w.end()
	for {
		jobs, drain, share, err := s.leaseWithin(ctx, w.crew, in)
		if err != nil {
			return nil, err
		}
		answer := &fairleadv1.LeaseJobsResponse{Jobs: messagesOf(jobs), Drain: drain}
		share.Settle(proto.Size(answer))
		if len(jobs) > 0 || !w.forJobs(ctx) {
			return answer, nil
		}
	}
}

func messagesOf(jobs []*fairlead.Job) (out []*fairleadv1.Job) {
	for _, job := range jobs {
		out = append(out, message.Job(job))
	}
	return out
}

// leaseWithin leases jobs to a worker within the memory limits for responses. The caller
// must release the returned share. While the size of the jobs is unknown, leaseWithin
// reserves little memory, because many workers may use the same token. If that is too
// little, it releases the jobs and leases again once there is memory for large jobs.
func (s *Service) leaseWithin(ctx context.Context, c *crew, in *fairleadv1.LeaseJobsRequest) (jobs []*fairlead.Job, drain bool, share *overload.Reservation, err error) {
	for {
		if share, err = overload.Reserve(ctx, c.share()); err != nil {
			return nil, false, nil, err
		}
		if jobs, drain, err = s.lease(ctx, c, in); err != nil {
			share.Settle(0)
			return nil, false, nil, err
		}
		size := 0
		for _, job := range jobs {
			size += len(job.Args) + len(job.Memo) + len(job.Progress)
		}
		if c.expect(size); share.Covers(size) {
			return jobs, drain, share, nil
		}
		share.Settle(0)
		if err := s.unsent(ctx, c, jobs, false); err != nil {
			return nil, false, nil, err
		}
	}
}

// share returns the memory to reserve for the next lease of the worker.
func (c *crew) share() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.large {
		return overload.LargeShare
	}
	return overload.SmallShare
}

// expect records the size of the jobs leased last, because the next ones are probably
// similar.
func (c *crew) expect(bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.large = overload.ShareFor(bytes) > overload.SmallShare
}

// waitOf returns the duration for which a call waits, limited to longest.
func waitOf(in *durationpb.Duration, longest time.Duration) (time.Duration, error) {
	wait := in.AsDuration()
	if wait < 0 {
		return 0, rest.InvalidField("wait", fmt.Sprintf("is %v; omit it or specify a positive duration", wait))
	}
	return min(wait, longest), nil
}

// StreamJobs leases jobs to a worker whenever the worker has free slots. The stream ends
// when the worker disconnects or loses its lease, or the program shuts down.
func (s *Service) StreamJobs(ctx context.Context, in *fairleadv1.StreamJobsRequest, send func(*fairleadv1.Job) error) error {
	ctx, err := s.sessions.enter(ctx, in)
	if err != nil {
		return err
	}
	ask := &fairleadv1.LeaseJobsRequest{Id: in.GetId()}
	w := s.newWaiting(ctx, fairlead.NodeID(in.GetId()), forever)
	defer w.end()
	for {
		if err := s.leaseAndSend(ctx, w.crew, ask, send); err != nil {
			return err
		}
		if !w.forJobs(ctx) {
			return nil
		}
	}
}

// leaseAndSend leases jobs and sends them one by one.
func (s *Service) leaseAndSend(ctx context.Context, c *crew, ask *fairleadv1.LeaseJobsRequest, send func(*fairleadv1.Job) error) error {
	jobs, _, share, err := s.leaseWithin(ctx, c, ask)
	if err != nil {
		return err
	}
	defer share.Settle(0)
	messages := messagesOf(jobs)
	share.Settle(proto.Size(&fairleadv1.LeaseJobsResponse{Jobs: messages}))
	for i, job := range messages {
		if err := send(job); err != nil {
			return s.unsent(ctx, c, jobs[i:], true)
		}
	}
	return nil
}

// lease claims jobs for the free slots of a worker.
func (s *Service) lease(ctx context.Context, c *crew, in *fairleadv1.LeaseJobsRequest) (jobs []*fairlead.Job, drain bool, err error) {
	c.leasing.Lock()
	defer c.leasing.Unlock()
	if ctx.Err() != nil { // disconnected while another call had its turn
		return nil, false, ctx.Err()
	}
	asking, cancel := s.brief(context.WithoutCancel(ctx)) // claimed jobs must be recorded
	defer cancel()
	node, err := s.roster.find(asking, fairlead.NodeID(in.GetId()))
	if err != nil || node.Draining {
		return nil, node.Draining, err
	}
	if err := caller.Of(ctx).Identity.Covers(&node); err != nil {
		return nil, false, err
	}
	held, err := s.store.Held(asking, node.ID)
	if err != nil {
		return nil, false, err
	}
	ask := claimOf(&node, in, len(held))
	if ask.Max > 0 && in.GetSuspects() != noSuspects {
		if jobs, err = s.leaseSuspect(asking, c, ask, held, in.GetSuspects() == onlySuspects); err != nil {
			return nil, false, err
		}
		ask.Max -= len(jobs)
	}
	if ask.Max > 0 && in.GetSuspects() != onlySuspects {
		more, err := s.claimWhole(asking, c, ask)
		if err != nil && len(jobs)+len(more) == 0 {
			return nil, false, err
		}
		jobs = append(jobs, more...)
	}
	s.starts.Add(jobs)
	for _, job := range jobs {
		job.Timeout = verdict.Timeout(job, driver.EntryOf(&node, job.Kind), s.options.Timeout)
	}
	c.add(jobs)
	if len(jobs) > 0 && ctx.Err() != nil { // the worker is gone and cannot take them
		return nil, false, s.unsent(asking, c, jobs, true)
	}
	return jobs, false, nil
}

// claimWhole claims jobs with documents that fit into a response. It releases the others,
// and claims fewer jobs next time. The caller must hold c.leasing.
func (s *Service) claimWhole(ctx context.Context, c *crew, ask driver.Claim) ([]*fairlead.Job, error) {
	if ask.Bytes = overload.PageBytes; c.few > 0 {
		ask.Max = min(ask.Max, c.few)
	}
	jobs, err := s.store.Claim(ctx, ask)
	whole := make([]*fairlead.Job, 0, len(jobs))
	var bare []*fairlead.Job
	for _, job := range jobs {
		if job.Bare {
			bare = append(bare, job)
		} else {
			whole = append(whole, job)
		}
	}
	switch {
	case len(bare) > 0:
		c.few = max(1, len(whole))
		err = errors.Join(err, s.unsent(ctx, c, bare, false))
	case c.few > 0 && len(jobs) >= c.few:
		c.few *= 2
	}
	return whole, err
}

// claimOf returns the claim for a worker that holds the given number of jobs.
func claimOf(node *fairlead.Node, in *fairleadv1.LeaseJobsRequest, held int) driver.Claim {
	room := node.Slots - held
	if most := int(in.GetMax()); most > 0 {
		room = min(most, node.Slots+node.Capacity-held)
	}
	claim := driver.Claim{Node: node.ID, Scope: driver.ScopeOf(node), Max: room}
	if len(in.GetQueues()) > 0 {
		claim.Scope.Queues = among(in.GetQueues(), node.Queues)
	}
	for _, r := range in.GetRooms() {
		if claim.Rooms == nil {
			claim.Rooms = map[string]int{}
		}
		claim.Rooms[r.GetKind()] = int(r.GetMax())
	}
	return claim
}

// among returns the wanted queues that a node serves.
func among(wanted, served []string) []string {
	if len(served) == 0 {
		return wanted
	}
	queues := []string{}
	for _, queue := range wanted {
		for _, name := range served {
			if queue == name {
				queues = append(queues, queue)
			}
		}
	}
	return queues
}

// leaseSuspect claims a job that may have killed its node, unless the worker already has
// one. It does not search on every call, except if the call requests only suspects, because
// suspects are rare.
func (s *Service) leaseSuspect(ctx context.Context, c *crew, ask driver.Claim, held []driver.Held, only bool) ([]*fairlead.Job, error) {
	if !c.looksForSuspects(s.options.Poll) && !only {
		return nil, nil
	}
	running, err := s.running(ctx, c, held)
	if err != nil {
		return nil, err
	}
	for _, l := range running {
		if l.job.Crashes >= driver.SoloAfter {
			return nil, nil
		}
	}
	ask.Solo, ask.Max = true, 1
	return s.store.Claim(ctx, ask)
}

// looksForSuspects reports whether it is time for another search.
func (c *crew) looksForSuspects(every time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.suspectsAt) < every {
		return false
	}
	c.suspectsAt = time.Now()
	return true
}
