package workers

import (
	"context"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// unsent releases jobs that were leased to a worker but not sent to it. If sent is set, the
// worker may have received the first one. A failed release is repeated until it succeeds:
// otherwise the jobs would stay leased to a live worker that does not know them.
func (s *Service) unsent(ctx context.Context, c *crew, jobs []*fairlead.Job, sent bool) error {
	ctx, cancel := s.brief(context.WithoutCancel(ctx))
	defer cancel()
	r := release{}
	r.token, r.hasToken = driver.NodeToken(ctx)
	held := make([]driver.Held, len(jobs))
	for i, job := range jobs {
		held[i] = heldOf(job)
		r.jobs = append(r.jobs, fairlead.Settlement{ID: job.ID, Fence: job.Fence, Move: fairlead.MoveRelease, Unstarted: i > 0 || !sent})
	}
	defer c.settled(held)
	left, err := r.settle(ctx, s.store)
	if len(left.jobs) > 0 {
		s.releases.add(left)
	}
	return err
}

// release contains jobs of one worker to release.
type release struct {
	jobs     []fairlead.Settlement
	token    string // token of the worker
	hasToken bool
}

// settle releases the jobs. It returns those that could not be released yet, because the
// store failed or an open transaction holds them.
func (r release) settle(ctx context.Context, store driver.Store) (left release, err error) {
	if r.hasToken {
		ctx = driver.AsNode(ctx, r.token)
	}
	settled, err := store.Settle(ctx, r.jobs)
	if err != nil {
		return r, err
	}
	left = release{token: r.token, hasToken: r.hasToken}
	for i, job := range r.jobs {
		if settled[i] == fairlead.SettledHeld {
			left.jobs = append(left.jobs, job)
		}
	}
	return left, nil
}

// releases contains the failed releases to repeat.
type releases struct {
	mu      sync.Mutex
	waiting []release
	added   chan struct{} // contains a value if releases are waiting
}

func newReleases() *releases { return &releases{added: make(chan struct{}, 1)} }

func (r *releases) add(some ...release) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waiting = append(r.waiting, some...); len(r.waiting) == 0 {
		return
	}
	select {
	case r.added <- struct{}{}:
	default:
	}
}

// take removes and returns the waiting releases.
func (r *releases) take() []release {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := r.waiting
	r.waiting = nil
	return taken
}

// RepeatReleases repeats failed releases until ctx ends, and then one last time.
func (s *Service) RepeatReleases(ctx context.Context) {
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-s.releases.added:
			pause(ctx, s.options.Poll)
		}
		s.repeatReleasesOnce(ctx)
	}
}

func (s *Service) repeatReleasesOnce(ctx context.Context) {
	var failed []release
	for _, r := range s.releases.take() {
		brief, cancel := s.brief(context.WithoutCancel(ctx))
		if left, _ := r.settle(brief, s.store); len(left.jobs) > 0 {
			failed = append(failed, left)
		}
		cancel()
	}
	s.releases.add(failed...)
}

// pause waits for the given duration, or until ctx ends.
func pause(ctx context.Context, length time.Duration) {
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
