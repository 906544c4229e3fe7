package metrics

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// Store wraps a store and measures the duration of calls by nodes and enqueuers. It does not
// measure users' queries, because their duration depends on the query.
func (m *Metrics) Store(store driver.Store) driver.Store {
	timer := func(statement string) timer { return timer{m.statements.WithLabelValues(statement)} }
	return &timedStore{
		Store: store, refused: m.refused,
		enqueue: timer("enqueue"), enqueueOnce: timer("enqueue_once"),
		join: timer("join"), beat: timer("beat"), leave: timer("leave"),
		claim: timer("claim"), settle: timer("settle"), save: timer("save"), report: timer("report"), held: timer("held"),
		promote: timer("promote"), reap: timer("reap"), expire: timer("expire"), prune: timer("prune"),
	}
}

type timedStore struct {
	driver.Store
	refused prometheus.Counter

	enqueue, enqueueOnce                                 timer
	join, beat, leave, claim, settle, save, report, held timer
	promote, reap, expire, prune                         timer
}

// timer is the histogram of one operation.
type timer struct {
	seconds prometheus.Observer
}

func (t timer) since(begin time.Time) { t.seconds.Observe(time.Since(begin).Seconds()) }

// Enqueue measures the duration of Enqueue.
func (s *timedStore) Enqueue(ctx context.Context, jobs []*fairlead.Job) error {
	defer s.enqueue.since(time.Now())
	return s.Store.Enqueue(ctx, jobs)
}

// EnqueueOnce measures the duration of EnqueueOnce.
func (s *timedStore) EnqueueOnce(ctx context.Context, once fairlead.Once, jobs []*fairlead.Job) (bool, error) {
	defer s.enqueueOnce.since(time.Now())
	return s.Store.EnqueueOnce(ctx, once, jobs)
}

// Join measures the duration of Join.
func (s *timedStore) Join(ctx context.Context, node fairlead.Node, lease time.Duration) (fairlead.NodeID, error) {
	defer s.join.since(time.Now())
	return s.Store.Join(ctx, node, lease)
}

// Beat measures the duration of Beat.
func (s *timedStore) Beat(ctx context.Context, beat driver.Beat) (driver.BeatAnswer, error) {
	defer s.beat.since(time.Now())
	return s.Store.Beat(ctx, beat)
}

// Leave measures the duration of Leave.
func (s *timedStore) Leave(ctx context.Context, node fairlead.NodeID) error {
	defer s.leave.since(time.Now())
	return s.Store.Leave(ctx, node)
}

// Claim measures the duration of Claim.
func (s *timedStore) Claim(ctx context.Context, claim driver.Claim) ([]*fairlead.Job, error) {
	defer s.claim.since(time.Now())
	return s.Store.Claim(ctx, claim)
}

// Settle measures the duration of Settle.
func (s *timedStore) Settle(ctx context.Context, settlements []fairlead.Settlement) ([]fairlead.Settled, error) {
	defer s.settle.since(time.Now())
	return s.Store.Settle(ctx, settlements)
}

// Save measures the duration of Save. It also counts refused saves, because no observer is
// notified of them.
func (s *timedStore) Save(ctx context.Context, save fairlead.Save) error {
	defer s.save.since(time.Now())
	err := s.Store.Save(ctx, save)
	if errors.Is(err, fairlead.ErrLeaseLost) {
		s.refused.Inc()
	}
	return err
}

// Report measures the duration of Report.
func (s *timedStore) Report(ctx context.Context, starts []driver.Starts) error {
	defer s.report.since(time.Now())
	return s.Store.Report(ctx, starts)
}

// Held measures the duration of Held.
func (s *timedStore) Held(ctx context.Context, node fairlead.NodeID) ([]driver.Held, error) {
	defer s.held.since(time.Now())
	return s.Store.Held(ctx, node)
}

// Promote measures the duration of Promote.
func (s *timedStore) Promote(ctx context.Context, limit int) (driver.Promotion, error) {
	defer s.promote.since(time.Now())
	return s.Store.Promote(ctx, limit)
}

// Reap measures the duration of Reap.
func (s *timedStore) Reap(ctx context.Context, reap driver.Reap) (driver.Reaped, error) {
	defer s.reap.since(time.Now())
	return s.Store.Reap(ctx, reap)
}

// Overdue measures the duration of Overdue as part of Expire, which is only called if there
// is something to expire.
func (s *timedStore) Overdue(ctx context.Context, limit int) ([]driver.Held, error) {
	defer s.expire.since(time.Now())
	return s.Store.Overdue(ctx, limit)
}

// Expire measures the duration of Expire.
func (s *timedStore) Expire(ctx context.Context, overdue []driver.Held) (int, error) {
	defer s.expire.since(time.Now())
	return s.Store.Expire(ctx, overdue)
}

// Prune measures the duration of Prune.
func (s *timedStore) Prune(ctx context.Context, keep driver.Retention, limit int) (int, error) {
	defer s.prune.since(time.Now())
	return s.Store.Prune(ctx, keep, limit)
}
