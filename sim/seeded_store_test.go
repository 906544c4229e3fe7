package sim

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/alert"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/driver"
	holds "github.com/fairlead-io/fairlead/hold"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/sweep"
)

// passing is the store of one process: all its calls pass through the gate. What happens in
// the database is observed when it happens, whether the process gets an answer or not.
type passing struct {
	driver.Store
	w *world
	p *peer
}

func pass[A, R any](ctx context.Context, s *passing, name string, args A, do func(context.Context, A) (R, error)) (R, error) {
	return through(ctx, s.w.gate, &call{by: s.p, name: name}, args, do)
}

func passed[A any](ctx context.Context, s *passing, name string, args A, do func(context.Context, A) error) error {
	_, err := pass(ctx, s, name, args, func(ctx context.Context, args A) (nothing, error) { return nothing{}, do(ctx, args) })
	return err
}

// Listen does not pass through the gate: it only wakes the node. A wake takes some time, a
// different one for each process and kind, so that it never races with an answer.
func (s *passing) Listen(ctx context.Context, scope *driver.Scope, wake func(driver.Wake)) error {
	return s.Store.Listen(ctx, scope, func(kind driver.Wake) {
		late := 211*time.Microsecond + time.Duration(s.p.order)*17*time.Microsecond + time.Duration(kind)*1009*time.Nanosecond
		time.AfterFunc(late, func() {
			if ctx.Err() == nil && s.w.gate.alive(s.p) {
				wake(kind)
			}
		})
	})
}

// Confidential does not pass through the gate: nodes call it under a mutex, and no field is
// confidential here.
func (s *passing) Confidential(context.Context) (fairlead.Confidential, error) {
	return fairlead.Confidential{}, nil
}

// Join observes the lease.
func (s *passing) Join(ctx context.Context, node fairlead.Node, lease time.Duration) (fairlead.NodeID, error) {
	sent := InstantOf(time.Now())
	return pass(ctx, s, "join", two[fairlead.Node, time.Duration]{node, lease}, func(ctx context.Context, a two[fairlead.Node, time.Duration]) (fairlead.NodeID, error) {
		now, err := s.Store.Now(ctx)
		if err != nil {
			return 0, err
		}
		id, err := s.Store.Join(ctx, a.One, a.Two)
		if err == nil {
			s.w.note(Event{What: Granted, Process: s.p.name, Node: id, DB: InstantOf(now), Sent: sent})
		}
		return id, err
	})
}

// Beat observes the lease.
func (s *passing) Beat(ctx context.Context, beat driver.Beat) (driver.BeatAnswer, error) {
	sent := InstantOf(time.Now())
	return pass(ctx, s, "beat", beat, func(ctx context.Context, beat driver.Beat) (driver.BeatAnswer, error) {
		answer, err := s.Store.Beat(ctx, beat)
		if err == nil {
			s.w.note(Event{What: Granted, Process: s.p.name, Node: beat.Node, DB: InstantOf(answer.Now), Sent: sent})
		}
		slices.SortFunc(answer.Cancel, func(a, b driver.Held) int { return cmp.Compare(a.ID, b.ID) })
		return answer, err
	})
}

// Leave observes the end of the lease.
func (s *passing) Leave(ctx context.Context, node fairlead.NodeID) error {
	return passed(ctx, s, "leave", node, func(ctx context.Context, node fairlead.NodeID) error {
		s.w.note(Event{What: Leaving, Process: s.p.name, Node: node})
		return s.Store.Leave(ctx, node)
	})
}

// Claim observes each lease, and whether it was permitted.
func (s *passing) Claim(ctx context.Context, claim driver.Claim) ([]*fairlead.Job, error) {
	sent := InstantOf(time.Now())
	return pass(ctx, s, "claim", claim, func(ctx context.Context, claim driver.Claim) ([]*fairlead.Job, error) {
		jobs, err := s.Store.Claim(ctx, claim)
		for _, job := range jobs {
			s.w.note(Event{What: Claimed, Process: s.p.name, Node: job.Node, Job: job.ID, Fence: job.Fence, Attempt: job.Attempt, Solo: job.Solo, DB: InstantOf(job.StartedAt), Sent: sent})
			if s.p.skew != 0 {
				s.w.counts.add(skewed)
			}
		}
		if len(jobs) > 0 {
			s.w.judgeClaim(ctx, jobs)
		}
		return jobs, err
	})
}

// Settle observes the answers. The order in which runs ended at the same time is not part
// of the seed, so the settlements are sorted.
func (s *passing) Settle(ctx context.Context, settlements []fairlead.Settlement) ([]fairlead.Settled, error) {
	sorted := slices.Clone(settlements)
	slices.SortFunc(sorted, func(a, b fairlead.Settlement) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Fence, b.Fence))
	})
	answers, err := pass(ctx, s, "settle", sorted, func(ctx context.Context, settlements []fairlead.Settlement) ([]fairlead.Settled, error) {
		for _, x := range settlements {
			s.w.note(Event{What: Asked, Process: s.p.name, Job: x.ID, Fence: x.Fence, Move: x.Move})
		}
		settled, err := s.Store.Settle(ctx, settlements)
		for i, answer := range settled {
			s.w.settled(s.p, settlements[i], answer)
		}
		return settled, err
	})
	if err != nil {
		return nil, err
	}
	settled := make([]fairlead.Settled, len(settlements))
	for i, x := range settlements {
		at := slices.IndexFunc(sorted, func(other fairlead.Settlement) bool { return other.ID == x.ID && other.Fence == x.Fence })
		settled[i] = answers[at]
	}
	return settled, nil
}

// Save observes whether the progress counted.
func (s *passing) Save(ctx context.Context, save fairlead.Save) error {
	return passed(ctx, s, "save", save, func(ctx context.Context, save fairlead.Save) error {
		e := Event{What: Saved, Process: s.p.name, Job: save.ID, Fence: save.Fence, Sent: s.w.clock(), Result: OK}
		err := s.Store.Save(ctx, save)
		if errors.Is(err, fairlead.ErrLeaseLost) {
			e.Result = Lost
		}
		if err == nil || e.Result == Lost {
			s.w.note(e)
		}
		return err
	})
}

// Resolve observes answers to waiting jobs.
func (s *passing) Resolve(ctx context.Context, answer fairlead.Settlement) error {
	return passed(ctx, s, "resolve", answer, func(ctx context.Context, answer fairlead.Settlement) error {
		err := s.Store.Resolve(ctx, answer)
		if err == nil {
			s.w.answered(answer.ID, answer.Fence)
		}
		return err
	})
}

// SetLimit observes the cap.
func (s *passing) SetLimit(ctx context.Context, limit fairlead.Limit) error {
	return passed(ctx, s, "setLimit", limit, func(ctx context.Context, limit fairlead.Limit) error {
		err := s.Store.SetLimit(ctx, limit)
		if err == nil {
			s.w.enter(func(b *book) { b.cap = limit.MaxRunning })
		}
		return err
	})
}

// Enqueue keeps the jobs of the caller, whose IDs it sets.
func (s *passing) Enqueue(ctx context.Context, jobs []*fairlead.Job) error {
	return passed(ctx, s, "enqueue", args(jobs), func(ctx context.Context, _ []fairlead.Job) error { return s.Store.Enqueue(ctx, jobs) })
}

// EnqueueOnce keeps the jobs of the caller, whose IDs it sets.
func (s *passing) EnqueueOnce(ctx context.Context, once fairlead.Once, jobs []*fairlead.Job) (bool, error) {
	return pass(ctx, s, "enqueueOnce", two[string, []fairlead.Job]{once.Key, args(jobs)}, func(ctx context.Context, _ two[string, []fairlead.Job]) (bool, error) {
		return s.Store.EnqueueOnce(ctx, once, jobs)
	})
}

// args copies jobs for a trace: the store changes them.
func args(jobs []*fairlead.Job) []fairlead.Job {
	copied := make([]fairlead.Job, len(jobs))
	for i, job := range jobs {
		copied[i] = *job
	}
	return copied
}

// Pause observes from when on nothing of a queue, kind or tenant may start.
func (s *passing) Pause(ctx context.Context, pause fairlead.Pause) error {
	return passed(ctx, s, "pause", pause, func(ctx context.Context, pause fairlead.Pause) error {
		err := s.Store.Pause(ctx, pause)
		if err == nil {
			s.w.paused[fairlead.Pause{Scope: pause.Scope, Name: pause.Name}] = true
		}
		return err
	})
}

// Resume observes the end of a pause.
func (s *passing) Resume(ctx context.Context, pause fairlead.Pause) error {
	return passed(ctx, s, "resume", pause, func(ctx context.Context, pause fairlead.Pause) error {
		delete(s.w.paused, fairlead.Pause{Scope: pause.Scope, Name: pause.Name})
		return s.Store.Resume(ctx, pause)
	})
}

// Prune passes through the gate.
func (s *passing) Prune(ctx context.Context, keep driver.Retention, limit int) (int, error) {
	return pass(ctx, s, "prune", keep, func(ctx context.Context, keep driver.Retention) (int, error) { return s.Store.Prune(ctx, keep, limit) })
}

// Report passes through the gate. The order of the counts is that of a map, so they are
// sorted.
func (s *passing) Report(ctx context.Context, starts []driver.Starts) error {
	starts = slices.SortedFunc(slices.Values(starts), func(a, b driver.Starts) int {
		return cmp.Or(cmp.Compare(a.Queue, b.Queue), cmp.Compare(a.Tenant, b.Tenant), cmp.Compare(a.Kind, b.Kind))
	})
	return passed(ctx, s, "report", starts, func(ctx context.Context, starts []driver.Starts) error { return s.Store.Report(ctx, starts) })
}

// KeepHolds passes through the gate. The order of ended holds is that of a map, so they are
// sorted.
func (s *passing) KeepHolds(ctx context.Context, found holds.Found) (bool, error) {
	slices.SortFunc(found.Ended, func(a, b holds.Hold) int { return cmp.Compare(a.ID, b.ID) })
	return pass(ctx, s, "keepHolds", found, func(ctx context.Context, found holds.Found) (bool, error) { return s.Store.KeepHolds(ctx, found) })
}

// Tick passes through the gate.
func (s *passing) Tick(ctx context.Context, limit int, decide func(schedule.Schedule, schedule.View) schedule.Plan) (schedule.Ticked, error) {
	return pass(ctx, s, "tick", limit, func(ctx context.Context, limit int) (schedule.Ticked, error) { return s.Store.Tick(ctx, limit, decide) })
}

// Act passes through the gate.
func (s *passing) Act(ctx context.Context, id int64, decide func(schedule.Schedule, schedule.View) (schedule.Plan, error)) ([]schedule.Fire, error) {
	return pass(ctx, s, "act", id, func(ctx context.Context, id int64) ([]schedule.Fire, error) { return s.Store.Act(ctx, id, decide) })
}

// Conduct passes through the gate.
func (s *passing) Conduct(ctx context.Context, id int64, wait bool, act func(context.Context, *batch.Record, batch.Tx) error) (bool, error) {
	return pass(ctx, s, "conduct", id, func(ctx context.Context, id int64) (bool, error) { return s.Store.Conduct(ctx, id, wait, act) })
}

// Steer passes through the gate.
func (s *passing) Steer(ctx context.Context, id int64, wait bool, act func(context.Context, *sweep.Record, sweep.Tx) error) (bool, error) {
	return pass(ctx, s, "steer", id, func(ctx context.Context, id int64) (bool, error) { return s.Store.Steer(ctx, id, wait, act) })
}

// TakeLook passes through the gate.
func (s *passing) TakeLook(ctx context.Context, every time.Duration) (turn alert.Turn, taken bool, err error) {
	turn, err = pass(ctx, s, "takeLook", every, func(ctx context.Context, every time.Duration) (turn alert.Turn, err error) {
		turn, taken, err = s.Store.TakeLook(ctx, every)
		return turn, err
	})
	return turn, taken && err == nil, err
}

// Verify does not pass through the gate: nodes do not call it.
func (s *passing) Verify(ctx context.Context) ([]driver.Drift, error) { return s.Store.Verify(ctx) }
