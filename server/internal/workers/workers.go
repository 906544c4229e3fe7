// Package workers serves remote workers: it relays their sessions, leases and results to a store.
package workers

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/message"
	"github.com/fairlead-io/fairlead/internal/reserved"
	"github.com/fairlead-io/fairlead/internal/starts"
	"github.com/fairlead-io/fairlead/server/internal/caller"
	"github.com/fairlead-io/fairlead/server/internal/rest"
	"github.com/fairlead-io/fairlead/sweep"
)

// Service implements the WorkerService, which connects remote workers to the store. All
// state that must not be lost is in the store, so each of a worker's calls may go to a
// different server. State in memory only saves queries.
type Service struct {
	store    driver.Store
	client   *sweep.Client
	options  Options
	stopping <-chan struct{}

	Ended func(jobs ...*fairlead.Job) // reports ended runs to the node of this process

	sessions *sessions
	roster   *roster
	starts   *starts.Counter
	releases *releases

	mu       sync.Mutex
	crews    map[fairlead.NodeID]*crew
	reported time.Time // time of the last report of starts
	swept    time.Time // time of the last sweep of crews
}

// Options configures remote workers. A zero field has the same default as for a node.
type Options struct {
	Poll    time.Duration // interval at which a waiting call looks for work without a wake; default 1s
	Beat    time.Duration // interval between heartbeats of workers; default 2s
	Lease   time.Duration // lease of workers that do not request one; default 10s
	Grace   time.Duration // time a job may continue after a stop was requested; default 5s
	Timeout time.Duration // timeout of attempts without a timeout of the job or worker; default 1h
}

func (o Options) withDefaults() Options {
	or := func(value *time.Duration, otherwise time.Duration) {
		if *value == 0 {
			*value = otherwise
		}
	}
	or(&o.Poll, time.Second)
	or(&o.Beat, 2*time.Second)
	or(&o.Lease, 10*time.Second)
	or(&o.Grace, 5*time.Second)
	or(&o.Timeout, time.Hour)
	return o
}

// New returns a WorkerService backed by store. When stopping is closed, all waiting
// calls end.
func New(store driver.Store, options Options, stopping <-chan struct{}) *Service {
	options = options.withDefaults()
	return &Service{
		store: store, client: sweep.NewClient(store), options: options, stopping: stopping, Ended: func(...*fairlead.Job) {},
		sessions: &sessions{store: store}, roster: &roster{store: store, fresh: options.Beat},
		starts: starts.New(), releases: newReleases(), crews: map[fairlead.NodeID]*crew{}, reported: time.Now(), swept: time.Now(),
	}
}

// Limits of the lease that a worker may request: short enough that other nodes soon take
// over its jobs, long enough for heartbeats.
const (
	shortestLease = 500 * time.Millisecond
	longestLease  = 5 * time.Minute
)

// leaseOf returns the lease of a worker.
func (s *Service) leaseOf(in *durationpb.Duration) (time.Duration, error) {
	if in == nil {
		return s.options.Lease, nil
	}
	lease := in.AsDuration()
	if lease < shortestLease || lease > longestLease {
		return 0, rest.InvalidField("lease", fmt.Sprintf("is %v; it must be between %v and %v", lease, shortestLease, longestLease))
	}
	return lease, nil
}

// beatOf returns the heartbeat interval of a worker with the given lease: at least three
// heartbeats per lease.
func (s *Service) beatOf(lease time.Duration) time.Duration { return min(s.options.Beat, lease/3) }

// JoinWorker registers a worker.
func (s *Service) JoinWorker(ctx context.Context, in *fairleadv1.JoinWorkerRequest) (*fairleadv1.JoinWorkerResponse, error) {
	lease, err := s.leaseOf(in.GetLease())
	if err != nil {
		return nil, err
	}
	node := fairlead.Node{
		Name: in.GetName(), Version: in.GetVersion(), Kinds: in.GetKinds(), Queues: in.GetQueues(),
		Slots: max(1, int(in.GetSlots())), Capacity: int(in.GetQueueCapacity()), Remote: true,
	}
	node.Idle = node.Slots
	for _, d := range in.GetDefaults() {
		node.Defaults = append(node.Defaults, fairlead.KindDefaults{
			Kind: d.GetKind(), Timeout: d.GetTimeout().AsDuration(), MaxAttempts: int(d.GetMaxAttempts()), Retry: message.RetryOf(d.GetRetry()),
		})
	}
	if err := driver.NormalizeNode(&node); err != nil {
		return nil, err
	}
	if err := checkWorkerKinds(node.Kinds); err != nil {
		return nil, err
	}
	if err := checkNames(&node); err != nil {
		return nil, err
	}
	if err := caller.Of(ctx).Identity.Bind(&node); err != nil {
		return nil, err
	}
	confidential, err := confidentialOf(in.GetDefaults())
	if err != nil {
		return nil, err
	}
	ctx, cancel := s.brief(ctx)
	defer cancel()
	known, err := s.store.Confidential(ctx)
	if err != nil {
		return nil, err
	}
	if err := checkConfidential(confidential, known); err != nil {
		return nil, err
	}
	if err := s.roster.admit(ctx, node.Owner); err != nil {
		return nil, err
	}
	key, err := s.sessions.readKey(ctx) // read again, because other servers would reject a key removed by a restore
	if err != nil {
		return nil, err
	}
	token, err := s.newToken(ctx, key)
	if err != nil {
		return nil, err
	}
	if err := s.store.AddConfidential(ctx, confidential); err != nil {
		return nil, err
	}
	id, err := s.store.Join(driver.AsNode(ctx, token), node, lease)
	if err != nil {
		return nil, err
	}
	return &fairleadv1.JoinWorkerResponse{
		Id: int64(id), Session: sessionOf(key, id, token), Lease: durationpb.New(lease), Beat: durationpb.New(s.beatOf(lease)),
	}, nil
}

// confidentialOf returns the confidential fields that a worker declares.
func confidentialOf(defaults []*fairleadv1.KindDefaults) (fairlead.Confidential, error) {
	all := fairlead.Confidential{}
	for _, d := range defaults {
		if len(d.GetConfidential()) == 0 {
			continue
		}
		fields, err := fairlead.NormalizeConfidential(d.GetKind(), d.GetConfidential())
		if err != nil {
			return nil, err
		}
		all[d.GetKind()] = fields
	}
	return all, nil
}

// newToken returns the token of a worker that joins. It returns an empty token while a node
// runs a program older than tokens: that node may be a server behind the same load
// balancer, which would reject sessions with a token.
func (s *Service) newToken(ctx context.Context, key []byte) (string, error) {
	older, err := s.roster.hasOlder(ctx)
	if err != nil || older {
		return "", err
	}
	return ownedToken(key, rand.Text(), caller.Of(ctx).Identity.Name), nil
}

// checkWorkerKinds rejects a worker that would run jobs that speak on behalf of Fairlead.
func checkWorkerKinds(kinds []string) error {
	for i, kind := range kinds {
		if reserved.IsNodes(kind) {
			return rest.InvalidField(fmt.Sprintf("kinds[%d]", i), fmt.Sprintf("is %q, which is reserved for nodes; remove it", kind))
		}
	}
	return nil
}

// LeaveWorker ends a worker's lease. Jobs that the worker still holds are taken back, even
// if they are half done. A worker that calls LeaveWorker is evidently alive, and therefore
// did not crash, even if it has lost its lease.
func (s *Service) LeaveWorker(ctx context.Context, in *fairleadv1.LeaveWorkerRequest) (*fairleadv1.LeaveWorkerResponse, error) {
	ctx, cancel, err := s.enter(ctx, in)
	if err != nil {
		return nil, err
	}
	defer cancel()
	id := fairlead.NodeID(in.GetId())
	s.forget(id)
	s.roster.forget()
	if err := s.store.Lived(ctx, id); err != nil {
		return nil, err
	}
	return &fairleadv1.LeaveWorkerResponse{}, s.store.Leave(ctx, id)
}

// ListLeases returns the jobs leased to a worker.
func (s *Service) ListLeases(ctx context.Context, in *fairleadv1.ListLeasesRequest) (*fairleadv1.ListLeasesResponse, error) {
	ctx, cancel, err := s.enter(ctx, in)
	if err != nil {
		return nil, err
	}
	defer cancel()
	held, err := s.store.Held(ctx, fairlead.NodeID(in.GetId()))
	if err != nil {
		return nil, err
	}
	now, err := s.store.Now(ctx)
	if err != nil {
		return nil, err
	}
	out := &fairleadv1.ListLeasesResponse{Now: message.Time(now)}
	for _, h := range held {
		out.Items = append(out.Items, &fairleadv1.Lease{Id: h.ID, Fence: h.Fence})
	}
	return out, nil
}

// enter returns an error unless the request comes from the worker that it names. It returns
// a context for calls on behalf of that worker, with a timeout.
func (s *Service) enter(ctx context.Context, in inSession) (context.Context, context.CancelFunc, error) {
	ctx, err := s.sessions.enter(ctx, in)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := s.brief(ctx)
	return ctx, cancel, nil
}

// brief limits the duration of store calls to the lease: a worker whose lease has ended has
// no use for the answer.
func (s *Service) brief(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, s.options.Lease)
}

// errGone tells a worker to join again.
func errGone(id fairlead.NodeID) error {
	return fmt.Errorf("worker %d is not alive; stop its jobs and join again: %w", id, fairlead.ErrLeaseLost)
}
