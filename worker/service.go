package worker

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/api/fairlead/v1/fairleadv1connect"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/internal/message"
)

// service is where the node gets its jobs: the WorkerService.
type service struct {
	client fairleadv1connect.WorkerServiceClient
	lease  time.Duration
	mux    *fairlead.Mux
	giveUp context.CancelCauseFunc

	// session proves that it is the worker that joined last. What an earlier life
	// still says is then refused by the fence, as it should be.
	session atomic.Pointer[fairleadv1.JoinWorkerResponse]
}

var _ engine.Source = (*service)(nil)

func (s *service) worker() (id int64, session string) {
	joined := s.session.Load()
	return joined.GetId(), joined.GetSession()
}

// brief bounds a call: a connection whose other end has vanished must not hold up
// the node.
func (s *service) brief(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, s.lease)
}

// Join registers the worker. If the service will never have it, the node ends.
func (s *service) Join(ctx context.Context, node fairlead.Node, lease time.Duration) (fairlead.NodeID, error) {
	bounded, cancel := s.brief(ctx)
	defer cancel()
	request := &fairleadv1.JoinWorkerRequest{
		Name: node.Name, Version: node.Version, Kinds: node.Kinds, Queues: node.Queues,
		Slots: int32(node.Slots), QueueCapacity: int32(node.Capacity), Lease: durationpb.New(lease),
	}
	for _, kind := range s.mux.Kinds() {
		options := s.mux.Entry(kind).Options
		request.Defaults = append(request.Defaults, &fairleadv1.KindDefaults{
			Kind: kind, Timeout: message.Duration(options.Timeout), MaxAttempts: int32(options.MaxAttempts), Retry: message.Retry(options.Retry),
			Confidential: options.Confidential,
		})
	}
	joined, err := s.client.JoinWorker(bounded, request)
	if err != nil {
		switch code := connect.CodeOf(err); {
		case code == connect.CodeInvalidArgument && connect.IsWireError(err):
			err = fmt.Errorf("the service rejected this worker: %w: %w", fairlead.ErrInvalid, err)
			s.giveUp(&refusedError{err})
		case code == connect.CodeUnauthenticated, code == connect.CodePermissionDenied:
			err = fmt.Errorf("the service rejected this worker; use a token with the role worker: %w", err)
			s.giveUp(&refusedError{err})
		default:
			err = failure(ctx, err)
		}
		return 0, err
	}
	s.session.Store(joined)
	return fairlead.NodeID(joined.GetId()), nil
}

// Beat confirms the lease.
func (s *service) Beat(ctx context.Context, beat driver.Beat) (driver.BeatAnswer, error) {
	id, session := s.worker()
	out, err := s.client.BeatWorker(ctx, &fairleadv1.BeatWorkerRequest{Id: id, Session: session, Lease: durationpb.New(beat.Lease)})
	if err != nil {
		return driver.BeatAnswer{}, failure(ctx, err)
	}
	answer := driver.BeatAnswer{Drain: out.GetDrain()}
	for _, stop := range out.GetCancel() {
		if stop.GetReason() == "cancelled" { // the node notices timeouts without the service
			answer.Cancel = append(answer.Cancel, driver.Held{ID: stop.GetId(), Fence: stop.GetFence()})
		}
	}
	return answer, nil
}

// Leave gives up the lease.
func (s *service) Leave(ctx context.Context, _ fairlead.NodeID) error {
	id, session := s.worker()
	_, err := s.client.LeaveWorker(ctx, &fairleadv1.LeaveWorkerRequest{Id: id, Session: session})
	return failure(ctx, err)
}

// Claim leases jobs.
func (s *service) Claim(ctx context.Context, claim driver.Claim) ([]*fairlead.Job, error) {
	id, session := s.worker()
	request := &fairleadv1.LeaseJobsRequest{Id: id, Session: session, Max: int32(claim.Max), Queues: claim.Scope.Queues, Suspects: "none"}
	if claim.Solo {
		request.Suspects = "only"
	}
	for kind, room := range claim.Rooms {
		request.Rooms = append(request.Rooms, &fairleadv1.KindRoom{Kind: kind, Max: int32(room)})
	}
	out, err := s.client.LeaseJobs(ctx, request)
	if err != nil {
		return nil, failure(ctx, err)
	}
	jobs := make([]*fairlead.Job, len(out.GetJobs()))
	for i, job := range out.GetJobs() {
		jobs[i] = message.JobOf(job)
		jobs[i].Node, jobs[i].Solo = claim.Node, claim.Solo
	}
	return jobs, nil
}

// Settle reports the ends of runs, as many at once as one call takes.
func (s *service) Settle(ctx context.Context, settlements []fairlead.Settlement) ([]fairlead.Settled, error) {
	settled := make([]fairlead.Settled, 0, len(settlements))
	for len(settlements) > 0 {
		ends, rest := callful(settlements)
		some, err := s.settle(ctx, ends)
		if err != nil {
			return nil, err
		}
		settled, settlements = append(settled, some...), rest
	}
	return settled, nil
}

func (s *service) settle(ctx context.Context, ends []*fairleadv1.RunEnd) ([]fairlead.Settled, error) {
	bounded, cancel := s.brief(ctx)
	defer cancel()
	id, session := s.worker()
	out, err := s.client.SettleJobs(bounded, &fairleadv1.SettleJobsRequest{Id: id, Session: session, Settlements: ends, TakesHeld: true})
	if err != nil {
		return nil, failure(ctx, err)
	}
	if len(out.GetResults()) != len(ends) {
		return nil, fmt.Errorf("sent %d settlements, but the service returned %d results", len(ends), len(out.GetResults()))
	}
	settled := make([]fairlead.Settled, len(ends))
	for i, result := range out.GetResults() {
		switch result.GetResult() {
		case "as_asked":
			settled[i] = fairlead.SettledAsAsked
		case "cancelled":
			settled[i] = fairlead.SettledCancelled
		case "held":
			settled[i] = fairlead.SettledHeld
		default:
			settled[i] = fairlead.SettledLost
		}
	}
	return settled, nil
}

// Save stores progress and memo of a running job.
func (s *service) Save(ctx context.Context, save fairlead.Save) error {
	bounded, cancel := s.brief(ctx)
	defer cancel()
	id, session := s.worker()
	_, err := s.client.SaveProgress(bounded, &fairleadv1.SaveProgressRequest{
		Id: id, Session: session, Job: save.ID, Fence: save.Fence, Progress: save.Progress, Memo: save.Memo,
	})
	return failure(ctx, err)
}

// Report has nothing to do: the service counts what it leases.
func (s *service) Report(context.Context, []driver.Starts) error { return nil }

// Held lists what is leased to the worker.
func (s *service) Held(ctx context.Context, _ fairlead.NodeID) ([]driver.Held, error) {
	out, err := s.leases(ctx)
	if err != nil {
		return nil, err
	}
	held := make([]driver.Held, len(out.GetItems()))
	for i, lease := range out.GetItems() {
		held[i] = driver.Held{ID: lease.GetId(), Fence: lease.GetFence()}
	}
	return held, nil
}

// Now is the clock by which leases are judged.
func (s *service) Now(ctx context.Context) (time.Time, error) {
	out, err := s.leases(ctx)
	if err != nil {
		return time.Time{}, err
	}
	return out.GetNow().AsTime(), nil
}

func (s *service) leases(ctx context.Context) (*fairleadv1.ListLeasesResponse, error) {
	bounded, cancel := s.brief(ctx)
	defer cancel()
	id, session := s.worker()
	out, err := s.client.ListLeases(bounded, &fairleadv1.ListLeasesRequest{Id: id, Session: session})
	return out, failure(ctx, err)
}

// silence is how long a stream of news may say nothing: three times as long as
// the service lets it.
const silence = 45 * time.Second

// Listen passes on the service's hints.
func (s *service) Listen(ctx context.Context, _ *driver.Scope, wake func(driver.Wake)) error {
	listening, cancel := context.WithCancel(ctx)
	defer cancel()
	watchdog := time.AfterFunc(silence, cancel)
	defer watchdog.Stop()
	id, session := s.worker()
	stream, err := s.client.WatchWorker(listening, &fairleadv1.WatchWorkerRequest{Id: id, Session: session})
	if err != nil {
		return endOf(ctx, err)
	}
	defer stream.Close()
	listens := false
	for stream.Receive() {
		watchdog.Reset(silence)
		if !listens { // the service listens when it says the first thing
			listens = true
			wake(driver.WakeListening)
		}
		switch stream.Msg().GetWhat() {
		case "work":
			wake(driver.WakeWork)
		case "room":
			wake(driver.WakeRoom)
		case "cancel":
			wake(driver.WakeCancel)
		}
	}
	return endOf(ctx, stream.Err())
}

// endOf is why a stream ended. Servers end theirs when they stop; the next one is
// a moment away.
func endOf(ctx context.Context, err error) error {
	if ctx.Err() == nil && err != nil {
		return fmt.Errorf("the event stream was interrupted: %w", err)
	}
	return nil
}
