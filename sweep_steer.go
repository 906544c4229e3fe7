package fairlead

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"time"
)

// GateKind is the kind of jobs that tell the business that a sweep waits for it.
const GateKind = "sweep.gate"

// GateCall is what GateKind tells.
type GateCall struct {
	URL   string          `json:"url"`
	Sweep int64           `json:"sweep_id"`
	Name  string          `json:"name"`
	Run   int             `json:"run"`
	Data  json.RawMessage `json:"data,omitempty"`
	Again bool            `json:"again,omitempty"` // a node took up what another had begun
}

// SweepKind is the kind of the jobs that go over the shards of sweeps whose items a
// kind of handler is for.
func SweepKind(kind string) string { return "sweep." + kind }

// ShardArgs are the args of such a job.
type ShardArgs struct {
	Sweep int64 `json:"sweep_id"`
	Shard int   `json:"shard"`
}

// steering is a transaction that steers a sweep.
type steering struct {
	*Sweep
	tx     SweepTx
	by     string
	shards []Shard
	states []State // of their jobs
}

// steer acts upon a sweep and does what follows from it.
func steer(ctx context.Context, store Sweeper, id int64, wait bool, by string, act func(s *steering) error) (Sweep, error) {
	var after Sweep
	_, err := store.Steer(ctx, id, wait, func(ctx context.Context, sweep *Sweep, tx SweepTx) error {
		s := &steering{Sweep: sweep, tx: tx, by: by}
		var err error
		if s.shards, s.states, err = tx.Shards(ctx); err != nil {
			return err
		}
		if err := act(s); err != nil {
			return err
		}
		if err := s.follow(ctx); err != nil {
			return err
		}
		after = *sweep
		return nil
	})
	return after, err
}

// SteerSweep looks at a sweep: it ends it if there is nothing left to do, and shares
// what it may do at once among the shards that run. Nothing happens if others are at
// it.
func SteerSweep(ctx context.Context, store Sweeper, id int64) error {
	_, err := steer(ctx, store, id, false, "", func(*steering) error { return nil })
	return err
}

// move changes the state of a sweep, and notes who did it.
func (s *steering) move(ctx context.Context, action string, to SweepState, note string) error {
	event := SweepEvent{By: s.by, Action: action, From: s.State, To: to, Note: note}
	s.State = to
	switch to {
	case SweepStopped, SweepFinished:
		s.EndedAt = s.tx.Now()
	case SweepRunning:
		if s.StartedAt.IsZero() {
			s.StartedAt = s.tx.Now()
		}
		s.EndedAt = time.Time{}
	}
	return s.tx.Record(ctx, event)
}

// live tells whether the job of a shard is there to go over it.
func (s *steering) live(i int) bool { return s.states[i] != "" && !s.states[i].Final() }

func (s *steering) anyLive() bool {
	for i := range s.shards {
		if s.live(i) {
			return true
		}
	}
	return false
}

func (s *steering) allEnded() bool {
	for i := range s.shards {
		if !s.shards[i].Ended {
			return false
		}
	}
	return s.Cut
}

// follow does what follows from how the sweep stands by now.
func (s *steering) follow(ctx context.Context) error {
	if s.State == SweepRunning {
		if err := s.judge(ctx); err != nil {
			return err
		}
	}
	switch {
	case s.State == SweepWaiting:
		return s.ask(ctx)
	case s.State == SweepRunning && s.allEnded():
		return s.move(ctx, "finish", SweepFinished, "")
	case s.State == SweepStopping && !s.anyLive():
		if s.allEnded() {
			return s.move(ctx, "finish", SweepFinished, "")
		}
		return s.move(ctx, "stopped", SweepStopped, s.Reason)
	case s.State == SweepRunning:
		return s.share(ctx)
	}
	return nil
}

// judge stops a sweep whose budget is used up, or of which a shard has nobody to go
// over it.
func (s *steering) judge(ctx context.Context) error {
	var done, abandoned int64
	for i := range s.shards {
		done += s.shards[i].Done
		abandoned += s.shards[i].Abandoned
		if !s.shards[i].Ended && !s.live(i) && s.shards[i].Job != 0 {
			s.Reason = fmt.Sprintf("job %d, which went over shard %d, is %s", s.shards[i].Job, i, s.states[i])
			return s.move(ctx, "stop", SweepStopping, s.Reason)
		}
	}
	if s.Budget.left(done, abandoned) == 0 {
		s.Reason = fmt.Sprintf("%d items came to nothing", abandoned)
		return s.move(ctx, "stop", SweepStopping, s.Reason)
	}
	return nil
}

// percentFrom is from how many items on a percentage counts.
const percentFrom = 1000

// left is what is left of a budget; negative: there is no bound.
func (b Budget) left(done, abandoned int64) int64 {
	left := int64(-1)
	if b.Items > 0 {
		left = max(0, b.Items-abandoned)
	}
	if seen := done + abandoned; b.Percent > 0 && seen >= percentFrom {
		allowed := int64(math.Ceil(b.Percent / 100 * float64(seen)))
		if l := max(0, allowed-abandoned); left < 0 || l < left {
			left = l
		}
	}
	return left
}

// ask tells the business that the sweep waits for it, unless it was told lately.
func (s *steering) ask(ctx context.Context) error {
	if !s.AskedAt.IsZero() && s.tx.Now().Sub(s.AskedAt) < s.Gate.Timeout {
		return nil
	}
	s.AskedAt = s.tx.Now()
	return s.callGate(ctx, false)
}

func (s *steering) callGate(ctx context.Context, again bool) error {
	args, err := json.Marshal(GateCall{URL: s.Gate.BeforeRun, Sweep: s.ID, Name: s.Name, Run: s.Run, Data: s.Data, Again: again})
	if err != nil {
		return err
	}
	jobs := []*Job{{Kind: GateKind, Args: args, Queue: s.Queue, Tenant: s.Tenant, Priority: s.Priority}}
	if err := NormalizeJobs(jobs); err != nil {
		return err
	}
	return s.tx.Enqueue(ctx, jobs)
}

// start lets a sweep run, or wait for the business.
func (s *steering) start(ctx context.Context) error {
	if s.State != SweepCreated && s.State != SweepStopped {
		return illegalSweep("start", s.Sweep)
	}
	s.Reason = ""
	if s.allEnded() {
		return s.move(ctx, "start", SweepFinished, "nothing is left to do")
	}
	s.Run++
	if s.Gate.BeforeRun != "" {
		s.AskedAt = time.Time{}
		return s.move(ctx, "start", SweepWaiting, "")
	}
	return s.run(ctx, "start")
}

// run employs jobs for all shards that are not over.
func (s *steering) run(ctx context.Context, action string) error {
	if !s.Cut || s.recut() {
		if err := s.cut(ctx); err != nil {
			return err
		}
	}
	var numbers []int
	var jobs []*Job
	for i := range s.shards {
		if s.shards[i].Ended || s.live(i) {
			continue
		}
		args, err := json.Marshal(ShardArgs{Sweep: s.ID, Shard: i})
		if err != nil {
			return err
		}
		numbers = append(numbers, i)
		jobs = append(jobs, &Job{Kind: SweepKind(s.Kind), Args: args, Queue: s.Queue, Tenant: s.Tenant, Priority: s.Priority})
	}
	if err := NormalizeJobs(jobs); err != nil {
		return err
	}
	if err := s.tx.Employ(ctx, numbers, jobs); err != nil {
		return err
	}
	for n, i := range numbers {
		s.shards[i].Job, s.states[i] = jobs[n].ID, Ready
	}
	return s.move(ctx, action, SweepRunning, "")
}

// stop lets nothing more begin.
func (s *steering) stop(ctx context.Context, reason string) error {
	switch s.State {
	case SweepStopping:
		return nil
	case SweepWaiting:
		s.Reason = reason
		return s.move(ctx, "stop", SweepStopped, reason)
	case SweepRunning:
		s.Reason = reason
		return s.move(ctx, "stop", SweepStopping, reason)
	}
	return illegalSweep("stop", s.Sweep)
}

// illegalSweep is the ErrConflict of an action that the state of a sweep forbids.
func illegalSweep(action string, s *Sweep) error {
	return fmt.Errorf("cannot %s sweep %q: it is %s: %w", action, s.Name, s.State, ErrConflict)
}
