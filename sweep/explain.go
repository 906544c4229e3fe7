package sweep

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead"
)

// Explain reports a sweep's status, the reasons why the sweep is stopped or slow, and why
// its shards' jobs are not running. It returns ErrNotFound if the sweep does not exist.
func (c *Client) Explain(ctx context.Context, id int64) (fairlead.Situation, error) {
	found, err := c.store.Sweeps(ctx, Filter{IDs: []int64{id}})
	if err != nil {
		return fairlead.Situation{}, err
	}
	if len(found) == 0 {
		return fairlead.Situation{}, fmt.Errorf("sweep %d: %w", id, fairlead.ErrNotFound)
	}
	s, err := c.look(ctx, &found[0])
	if err != nil {
		return fairlead.Situation{}, err
	}
	nodes, err := c.store.Nodes(ctx)
	if err != nil {
		return fairlead.Situation{}, err
	}
	situation := fairlead.Situation{ID: s.ID, Name: s.Name, State: string(s.State), At: s.tx.Now(), Reasons: s.reasons(nodes)}
	situation.Jobs, err = s.explainJobs(ctx, c.store)
	return situation, err
}

// asOf is a Tx of a process that only looks.
type asOf struct {
	Tx
	now time.Time
}

// Now is when it looks.
func (a asOf) Now() time.Time { return a.now }

// look is how a process that steers a sweep would see it, without its lock.
func (c *Client) look(ctx context.Context, record *Record) (*steering, error) {
	s := &steering{Record: record}
	now, err := c.store.Now(ctx)
	if err != nil {
		return nil, err
	}
	s.tx = asOf{now: now}
	if s.shards, err = c.store.Shards(ctx, record.ID); err != nil {
		return nil, err
	}
	var ids []int64
	for i := range s.shards {
		if s.shards[i].Job != 0 {
			ids = append(ids, s.shards[i].Job)
		}
	}
	s.states = make([]fairlead.State, len(s.shards))
	if len(ids) == 0 {
		return s, nil
	}
	jobs, err := c.store.Find(ctx, fairlead.Filter{IDs: ids, Limit: len(ids)})
	if err != nil {
		return nil, err
	}
	for _, job := range jobs {
		for i := range s.shards {
			if s.shards[i].Job == job.ID {
				s.states[i] = job.State
			}
		}
	}
	return s, nil
}

// reasons are what keeps the sweep from going on, or from going faster.
func (s *steering) reasons(nodes []fairlead.Node) []fairlead.Obstacle {
	var found []fairlead.Obstacle
	add := func(code fairlead.ObstacleCode, format string, args ...any) {
		found = append(found, fairlead.Obstacle{Code: code, Text: fmt.Sprintf(format, args...)})
	}
	switch s.State {
	case Created:
		add(fairlead.NotStarted, "it has not been started")
	case Waiting:
		text := "it is waiting for the business system to open its gate"
		if !s.AskedAt.IsZero() {
			text += ", which was notified at " + stamp(s.AskedAt)
		}
		add(fairlead.AtBusiness, "%s", text)
	case Stopping:
		add(fairlead.IsStopped, "it is stopping%s; items in flight will finish", because(s.Reason))
	case Stopped:
		add(fairlead.IsStopped, "it is stopped%s", because(s.Reason))
	case Finished:
		add(fairlead.HasEnded, "all items are done or abandoned")
		return found
	case Running:
		for _, silent := range s.Silent {
			sh := &s.shards[silent.Shard]
			add(fairlead.IsSilent, "shard %d has not reported since %s and is not starting items", sh.Number, stamp(sh.SavedAt))
		}
		if rate := ProgressOf(s.Record, s.shards).Rate; s.Rate > 0 && rate >= nearly*s.Rate {
			add(fairlead.OverRate, "it is at its rate of %v items per second", s.Rate)
		}
	}
	if o := s.Unhandled(nodes, s.tx.Now()); o != nil {
		found = append(found, *o)
	}
	return found
}

// nearly is the part of its rate from which on a sweep goes as fast as it may.
const nearly = 0.9

// Unhandled returns an obstacle if no live node handles the sweep's items in the sweep's
// queue, and nil otherwise.
func (s *Sweep) Unhandled(nodes []fairlead.Node, now time.Time) *fairlead.Obstacle {
	o := &fairlead.Obstacle{Code: fairlead.NoNode}
	var handled []string
	for i := range nodes {
		n := &nodes[i]
		if n.Dead || !n.Until.After(now) {
			continue
		}
		if n.ServesTenant(s.Queue, s.Tenant, KindOf(s.Kind)) {
			return nil
		}
		for _, kind := range n.Kinds {
			if IsShardKind(kind) {
				handled = append(handled, strings.TrimPrefix(kind, KindOf("")))
			}
		}
	}
	slices.Sort(handled)
	handled = slices.Compact(handled)
	o.Text = fmt.Sprintf("no live node handles items of kind %q in queue %q", s.Kind, s.Queue)
	for _, kind := range handled[:min(len(handled), fairlead.MaxKinds)] {
		o.Kinds = append(o.Kinds, fairlead.KindCount{Kind: kind})
	}
	return o
}

// explainJobs explains some of the jobs that go over shards, at first those that do not
// run.
func (s *steering) explainJobs(ctx context.Context, store Store) ([]fairlead.Explanation, error) {
	var idle, running []int64
	for i := range s.shards {
		switch {
		case !s.live(i):
		case s.states[i] == fairlead.Running:
			running = append(running, s.shards[i].Job)
		default:
			idle = append(idle, s.shards[i].Job)
		}
	}
	return fairlead.ExplainSome(ctx, store.Explain, append(idle, running...))
}

// because is a reason behind what it is the reason of.
func because(reason string) string {
	if reason == "" {
		return ""
	}
	return " (" + reason + ")"
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
