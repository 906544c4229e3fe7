package server

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
	"github.com/fairlead-io/fairlead/sweep"
)

// Workers implements the WorkerService: it stands between remote workers and the
// store. All that must not be lost is in the store, so that each call of a worker
// may go to another server; what is kept here only saves questions.
type Workers struct {
	store    Store
	client   *sweep.Client
	options  WorkerOptions
	stopping <-chan struct{}

	ended func(jobs ...*fairlead.Job) // reports runs that have ended to the node of this process

	sessions *sessions
	roster   *roster
	starts   *starts.Counter
	releases *releases

	mu       sync.Mutex
	crews    map[fairlead.NodeID]*crew
	reported time.Time // when starts were last reported
	swept    time.Time // when crews were last swept
}

// WorkerOptions are what holds for remote workers. Zero values stand for the
// defaults of a node.
type WorkerOptions struct {
	Poll    time.Duration // how often a call that waits looks for work without being woken; default 1s
	Beat    time.Duration // how often workers are to beat; default 2s
	Lease   time.Duration // how long they may be silent if they do not say; default 10s
	Grace   time.Duration // how long a job may go on after it was to stop; default 5s
	Timeout time.Duration // of an attempt whose job and worker set none; default 1h
}

func (o WorkerOptions) withDefaults() WorkerOptions {
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

// NewWorkers makes the service of remote workers. Who waits is let go when the
// program stops.
func NewWorkers(store Store, options WorkerOptions, stopping <-chan struct{}) *Workers {
	options = options.withDefaults()
	return &Workers{
		store: store, client: sweep.NewClient(store), options: options, stopping: stopping, ended: func(...*fairlead.Job) {},
		sessions: &sessions{store: store}, roster: &roster{store: store, fresh: options.Beat},
		starts: starts.New(), releases: newReleases(), crews: map[fairlead.NodeID]*crew{}, reported: time.Now(), swept: time.Now(),
	}
}

// The bounds of a lease that a worker may choose: short enough that another
// node takes up its jobs soon, long enough that it can beat.
const (
	shortestLease = 500 * time.Millisecond
	longestLease  = 5 * time.Minute
)

// leaseOf is the lease that a worker gets.
func (s *Workers) leaseOf(in *durationpb.Duration) (time.Duration, error) {
	if in == nil {
		return s.options.Lease, nil
	}
	lease := in.AsDuration()
	if lease < shortestLease || lease > longestLease {
		return 0, refuseField("lease", fmt.Sprintf("is %v; it must be between %v and %v", lease, shortestLease, longestLease))
	}
	return lease, nil
}

// beatOf is how often a worker with such a lease is to beat: at least three times
// before it ends.
func (s *Workers) beatOf(lease time.Duration) time.Duration { return min(s.options.Beat, lease/3) }

// JoinWorker registers a worker.
func (s *Workers) JoinWorker(ctx context.Context, in *fairleadv1.JoinWorkerRequest) (*fairleadv1.JoinWorkerResponse, error) {
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
	if err := callerOf(ctx).identity.bind(&node); err != nil {
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
	key, err := s.sessions.readKey(ctx) // not one that a restore took back: other servers would refuse it
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

// confidentialOf is what a worker declares to be confidential.
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

// newToken is the token of a worker that joins. It is empty while a node runs a program
// that is older than tokens: that may be a server behind the same balancer, which accepts
// no session with a token.
func (s *Workers) newToken(ctx context.Context, key []byte) (string, error) {
	older, err := s.roster.hasOlder(ctx)
	if err != nil || older {
		return "", err
	}
	return ownedToken(key, rand.Text(), callerOf(ctx).identity.Name), nil
}

// checkWorkerKinds refuses a worker that would run what speaks in the name of Fairlead.
func checkWorkerKinds(kinds []string) error {
	for i, kind := range kinds {
		if reserved.IsNodes(kind) {
			return refuseField(fmt.Sprintf("kinds[%d]", i), fmt.Sprintf("is %q, which is reserved for nodes; remove it", kind))
		}
	}
	return nil
}

// LeaveWorker ends the lease of a worker. What it still holds is taken back; it may have
// run half of it. A worker that says so lives: it did not crash, also if it lost its
// lease before.
func (s *Workers) LeaveWorker(ctx context.Context, in *fairleadv1.LeaveWorkerRequest) (*fairleadv1.LeaveWorkerResponse, error) {
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

// ListLeases lists what is leased to a worker.
func (s *Workers) ListLeases(ctx context.Context, in *fairleadv1.ListLeasesRequest) (*fairleadv1.ListLeasesResponse, error) {
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

// enter fails unless the request comes from the worker that it names. Its context is
// that of the worker, and brief.
func (s *Workers) enter(ctx context.Context, in inSession) (context.Context, context.CancelFunc, error) {
	ctx, err := s.sessions.enter(ctx, in)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := s.brief(ctx)
	return ctx, cancel, nil
}

// brief bounds questions to the store: a worker whose lease is over meanwhile has
// no use for the answer.
func (s *Workers) brief(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, s.options.Lease)
}

// errGone tells a worker to start over.
func errGone(id fairlead.NodeID) error {
	return fmt.Errorf("worker %d is not alive; stop its jobs and join again: %w", id, fairlead.ErrLeaseLost)
}
