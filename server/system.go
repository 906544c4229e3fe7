package server

import (
	"context"
	"errors"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/hold"
	"github.com/fairlead-io/fairlead/httpcall"
	"github.com/fairlead-io/fairlead/internal/message"
	"github.com/fairlead-io/fairlead/server/internal/caller"
)

// System implements the SystemService.
type System struct {
	store    Store
	all      Store // unrestricted store, for Erase
	client   *fairlead.Client
	batches  *batch.Client
	holds    *hold.Client
	breakers func() []httpcall.Breaker // nil = none
	stopping <-chan struct{}
}

// NewSystem returns a SystemService backed by store. When stopping is closed, all watches
// end.
func NewSystem(store Store, stopping <-chan struct{}) *System {
	return &System{store: store, all: store, client: fairlead.NewClient(store), batches: batch.NewClient(store), holds: hold.NewClient(store), stopping: stopping}
}

// GetStats returns the combined usage of all jobs, and each tenant's usage.
func (s *System) GetStats(ctx context.Context, _ *fairleadv1.GetStatsRequest) (*fairleadv1.Stats, error) {
	report, err := s.client.Usage(ctx)
	if err != nil {
		return nil, err
	}
	out := &fairleadv1.Stats{Total: usageTo(report.All)}
	for _, usage := range report.Tenants {
		out.Tenants = append(out.Tenants, usageTo(usage))
	}
	return out, markPaused(ctx, s.client, out.GetTenants()...)
}

// historyLength is the default span of GetStatsHistory.
const historyLength = time.Hour

// GetStatsHistory returns the cluster's activity over a period.
func (s *System) GetStatsHistory(ctx context.Context, in *fairleadv1.GetStatsHistoryRequest) (*fairleadv1.GetStatsHistoryResponse, error) {
	from, to := message.TimeOf(in.GetFrom()), message.TimeOf(in.GetTo())
	if to.IsZero() {
		to = time.Now().Add(hold.SampleEvery) // clocks differ a little
	}
	if from.IsZero() {
		from = to.Add(-historyLength)
	}
	if !from.Before(to) {
		return nil, fairlead.Invalid(fairlead.FieldError{Field: "from", Message: "must be earlier than to"})
	}
	samples, err := s.holds.Samples(ctx, from, to)
	if err != nil {
		return nil, err
	}
	return &fairleadv1.GetStatsHistoryResponse{Every: durationpb.New(hold.SampleEvery), Items: items(samples, func(sample hold.Sample) *fairleadv1.Sample {
		return &fairleadv1.Sample{At: message.Time(sample.At), Started: sample.Started, Running: int32(sample.Running)}
	})}, nil
}

// watchPause is the interval between two checks in WatchEvents.
const watchPause = time.Second

// WatchEvents sends the cluster's events until the caller disconnects or the program shuts
// down.
func (s *System) WatchEvents(ctx context.Context, _ *fairleadv1.WatchEventsRequest, send func(*fairleadv1.Event) error) error {
	w := watcher{system: s, send: send}
	return repeat(ctx, s.stopping, watchPause, func() (bool, error) { return false, w.look(ctx) })
}

// watcher reports changes since its last check.
type watcher struct {
	system *System
	send   func(*fairleadv1.Event) error

	stats    *fairleadv1.Stats
	nodes    map[fairlead.NodeID]fairlead.Node // nil = first check
	failed   map[int64]struct{}                // failures found in the last check; nil = first check
	lookedAt time.Time                         // time of the last check for failures
	open     map[int64]batch.State             // newest batches that have not completed; nil = first check
}

func (w *watcher) look(ctx context.Context) error {
	for _, step := range []func(context.Context) error{w.lookAtStats, w.lookAtNodes, w.lookAtFailures, w.lookAtBatches} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (w *watcher) tell(event *fairleadv1.Event) error {
	event.At = timestamppb.Now()
	return w.send(event)
}

func (w *watcher) lookAtStats(ctx context.Context) error {
	stats, err := w.system.GetStats(ctx, &fairleadv1.GetStatsRequest{})
	if err != nil || proto.Equal(stats, w.stats) {
		return err
	}
	w.stats = stats
	return w.tell(&fairleadv1.Event{Type: "stats", Stats: stats})
}

func (w *watcher) lookAtNodes(ctx context.Context) error {
	nodes, err := w.system.client.Nodes(ctx)
	if errors.Is(err, caller.ErrForbidden) {
		return nil // not visible to this caller
	}
	if err != nil {
		return err
	}
	seen := make(map[fairlead.NodeID]fairlead.Node, len(nodes))
	for _, node := range nodes {
		seen[node.ID] = node
		before, known := w.nodes[node.ID]
		change := ""
		switch {
		case node.Died() && !before.Dead:
			change = "dead"
		case node.Dead && !before.Dead:
			change = "left"
		case node.Draining && !before.Draining && !node.Dead:
			change = "draining"
		case !known:
			change = "joined"
		}
		if w.nodes == nil || change == "" {
			continue
		}
		if err := w.tell(&fairleadv1.Event{Type: "node", Change: change, Node: nodeTo(node)}); err != nil {
			return err
		}
	}
	for id, node := range w.nodes {
		if _, there := seen[id]; there {
			continue
		}
		if err := w.tell(&fairleadv1.Event{Type: "node", Change: "forgotten", Node: nodeTo(node)}); err != nil {
			return err
		}
	}
	w.nodes = seen
	return nil
}

// failureOverlap is how far a check reaches back into the period of the previous check: a
// failure may become visible this long after its timestamp.
const failureOverlap = time.Minute

// lookAtFailures finds jobs that failed recently. If there are very many, it finds those
// enqueued last.
func (w *watcher) lookAtFailures(ctx context.Context) error {
	now, err := w.system.store.Now(ctx)
	if err != nil {
		return err
	}
	since := w.lookedAt
	if since.IsZero() {
		since = now
	}
	page, err := w.system.client.Find(ctx, fairlead.Filter{States: []fairlead.State{fairlead.Failed}, FinishedFrom: since.Add(-failureOverlap)})
	if err != nil {
		return err
	}
	w.lookedAt = now
	seen := make(map[int64]struct{}, len(page.Jobs))
	for _, job := range page.Jobs {
		seen[job.ID] = struct{}{}
		if _, known := w.failed[job.ID]; known || w.failed == nil {
			continue
		}
		if err := w.tell(&fairleadv1.Event{Type: "failure", Job: message.Job(job)}); err != nil {
			return err
		}
	}
	w.failed = seen
	return nil
}
