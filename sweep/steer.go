package sweep

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/reserved"
)

// KindOf returns the kind of jobs that process a sweep's shards, given the kind of the
// handler for its items.
func KindOf(kind string) string { return reserved.Shards + kind }

// ShardArgs holds the arguments of a job that processes a shard.
type ShardArgs struct {
	Sweep int64 `json:"sweep_id"` // ID of the sweep
	Shard int   `json:"shard"`    // number of the shard
}

// steering is a transaction that steers a sweep.
type steering struct {
	*Record
	tx     Tx
	by     string
	shards []Shard
	states []fairlead.State // of their jobs
}

// steer runs act on a sweep and then does what follows from the sweep's new state. If the sweep
// stops, steer cancels the jobs of shards that have not started: they would only start in
// order to stop.
//
// Each cancellation is a transaction of its own, after the one that stops the sweep: no
// transaction holds the sweep's lock while it waits for a job. Between the two a node may
// start such a job. Its run then sees that the sweep is stopping, and ends. Finally, another
// transaction records the sweep as stopped if no job is left.
func steer(ctx context.Context, store Store, id int64, wait bool, by string, act func(ctx context.Context, s *steering) error) (Sweep, error) {
	after, idle, err := steerOnce(ctx, store, id, wait, by, act)
	if err != nil || len(idle) == 0 {
		return after, err
	}
	for _, job := range idle {
		_ = store.Operate(ctx, job, fairlead.Operation{Op: fairlead.OpCancel, Reason: "its sweep is stopped"}) // if it has moved, the next look sees it
	}
	then, _, err := steerOnce(ctx, store, id, wait, "", leaveIt)
	if then.ID == 0 {
		return after, err
	}
	return then, err
}

// leaveIt changes nothing, so that steer does only what follows from the sweep's state.
func leaveIt(context.Context, *steering) error { return nil }

// steerOnce is one transaction of steer. It returns the jobs that have not started although
// the sweep is stopping.
func steerOnce(ctx context.Context, store Store, id int64, wait bool, by string, act func(ctx context.Context, s *steering) error) (Sweep, []int64, error) {
	var after Sweep
	var idle []int64
	_, err := store.Steer(ctx, id, wait, func(ctx context.Context, sweep *Record, tx Tx) error {
		s := &steering{Record: sweep, tx: tx, by: by}
		var err error
		if s.shards, s.states, err = tx.Shards(ctx); err != nil {
			return err
		}
		if err := act(ctx, s); err != nil {
			return err
		}
		if err := s.follow(ctx); err != nil {
			return err
		}
		after, idle = sweep.Sweep, s.idle()
		after.Progress = ProgressOf(sweep, s.shards)
		return nil
	})
	if err != nil { // the transaction may still be under way
		return Sweep{}, nil, err
	}
	return after, idle, nil
}

// Steer checks a sweep. It ends the sweep if no items are left, and divides the sweep's rate
// and parallelism among the running shards. It does nothing if another node holds the
// sweep's lock.
func Steer(ctx context.Context, store Store, id int64) error {
	_, err := steer(ctx, store, id, false, "", leaveIt)
	return err
}

// move changes the state of a sweep, and notes who did it.
func (s *steering) move(ctx context.Context, action string, to State, note string) error {
	event := Event{By: s.by, Action: action, From: s.State, To: to, Note: note}
	s.State = to
	switch to {
	case Stopped, Finished:
		s.EndedAt, s.Silent = s.tx.Now(), nil
	case Running:
		if s.StartedAt.IsZero() {
			s.StartedAt = s.tx.Now()
		}
		s.EndedAt = time.Time{}
	}
	return s.tx.Record(ctx, event)
}

// live reports whether the job of a shard is there to go over it.
func (s *steering) live(i int) bool { return s.states[i] != "" && !s.states[i].Final() }

func (s *steering) anyLive() bool {
	for i := range s.shards {
		if s.live(i) {
			return true
		}
	}
	return false
}

// idle are the jobs that wait for a node though the sweep stops.
func (s *steering) idle() []int64 {
	var jobs []int64
	for i := range s.shards {
		if s.State == Stopping && s.live(i) && s.states[i] != fairlead.Running {
			jobs = append(jobs, s.shards[i].Job)
		}
	}
	return jobs
}

func (s *steering) allEnded() bool {
	for i := range s.shards {
		if !s.shards[i].Ended {
			return false
		}
	}
	return s.Cut
}

// follow does what the current state of the sweep requires without being asked. It first
// checks whether a running sweep must stop, because that decides what follows: a sweep that
// waits asks the business system, one without unfinished shards finishes, one that is
// stopping is stopped when no job is left, and a running one divides its rate among its shards.
func (s *steering) follow(ctx context.Context) error {
	s.by = ""
	if s.State == Running && !s.allEnded() {
		if err := s.judge(ctx); err != nil {
			return err
		}
	}
	switch {
	case s.State == Waiting:
		return s.ask(ctx)
	case s.State == Running && s.allEnded():
		return s.move(ctx, "finish", Finished, "")
	case s.State == Stopping && !s.anyLive():
		if s.allEnded() {
			return s.move(ctx, "finish", Finished, "")
		}
		return s.move(ctx, "stopped", Stopped, s.Reason)
	case s.State == Running:
		return s.share(ctx)
	}
	return nil
}

// judge stops a sweep whose budget is used up, or of which the job of a shard ended
// before the shard did. A shard whose job is missing goes on with another: a job that
// is missing says nothing of its items.
func (s *steering) judge(ctx context.Context) error {
	var done, abandoned int64
	var missing []int
	for i := range s.shards {
		sh := &s.shards[i]
		done, abandoned = done+sh.Done, abandoned+sh.failedItems()
		if sh.Ended || s.live(i) {
			continue
		}
		if s.states[i] == "" {
			missing = append(missing, i)
			continue
		}
		return s.halt(ctx, fmt.Sprintf("job %d, which went over shard %d, is %s", sh.Job, i, s.states[i]))
	}
	s.watchFailing(s.tx.Now(), abandoned)
	if s.BudgetLeft(done, abandoned) == 0 {
		return s.halt(ctx, s.overspent(abandoned))
	}
	return s.employAgain(ctx, missing)
}

// employAgain lets shards go on whose jobs are missing.
func (s *steering) employAgain(ctx context.Context, missing []int) error {
	if len(missing) == 0 {
		return nil
	}
	lost := make([]string, len(missing))
	for n, i := range missing {
		lost[n] = fmt.Sprintf("job %d, which went over shard %d", s.shards[i].Job, i)
	}
	if err := s.employ(ctx, missing); err != nil {
		return err
	}
	note := "missing and created again: " + strings.Join(lost[:min(len(lost), mostNamed)], ", ")
	if more := len(lost) - mostNamed; more > 0 {
		note += fmt.Sprintf(" and %d more", more)
	}
	return s.tx.Record(ctx, Event{Action: "employ", From: s.State, To: s.State, Note: note})
}

// halt lets nothing more begin.
func (s *steering) halt(ctx context.Context, reason string) error {
	s.Reason = reason
	return s.move(ctx, "stop", Stopping, reason)
}

// start lets a sweep run, or wait for the business.
func (s *steering) start(ctx context.Context) error {
	if s.State != Created && s.State != Stopped {
		return illegal("start", &s.Sweep)
	}
	if s.allEnded() {
		s.Reason = ""
		return s.move(ctx, "start", Finished, "nothing is left to do")
	}
	return s.begin(ctx, "start", "")
}

// begin begins another run, unless the business is to be asked before.
func (s *steering) begin(ctx context.Context, action, note string) error {
	s.Reason = ""
	s.Run++
	s.Forgiven, s.Earlier, s.Lately, s.Silent = 0, 0, nil, nil
	for i := range s.shards {
		s.Forgiven += s.shards[i].failedItems()
		s.Earlier += s.shards[i].Done
	}
	if s.Gate.BeforeRun != "" {
		s.AskedAt, s.EndedAt = time.Time{}, time.Time{}
		return s.move(ctx, action, Waiting, note)
	}
	return s.run(ctx, action, note)
}

// open lets a sweep run that waits for the business.
func (s *steering) open(ctx context.Context) error {
	if s.State != Waiting {
		return illegal("open", &s.Sweep)
	}
	return s.run(ctx, "open", "")
}

// run employs jobs for all shards that are not over.
func (s *steering) run(ctx context.Context, action, note string) error {
	arrange := s.cut
	if s.Cut {
		arrange = s.recut
	}
	if err := arrange(ctx); err != nil {
		return err
	}
	var numbers []int
	for i := range s.shards {
		if !s.shards[i].Ended && !s.live(i) {
			numbers = append(numbers, i)
		}
	}
	if err := s.employ(ctx, numbers); err != nil {
		return err
	}
	return s.move(ctx, action, Running, note)
}

// employ makes jobs that go over shards, from where these have come to.
func (s *steering) employ(ctx context.Context, numbers []int) error {
	jobs := make([]*fairlead.Job, len(numbers))
	for n, i := range numbers {
		args, err := json.Marshal(ShardArgs{Sweep: s.ID, Shard: i})
		if err != nil {
			return err
		}
		jobs[n] = &fairlead.Job{Kind: KindOf(s.Kind), Args: args, Queue: s.Queue, Tenant: s.Tenant, Priority: s.Priority}
	}
	if err := fairlead.NormalizeJobs(jobs); err != nil {
		return err
	}
	if err := s.tx.Employ(ctx, numbers, jobs); err != nil {
		return err
	}
	for n, i := range numbers {
		s.shards[i].Job, s.states[i] = jobs[n].ID, fairlead.Ready
	}
	return nil
}

// stop lets nothing more begin. One that only waits has nothing to bring to an end.
func (s *steering) stop(ctx context.Context, reason string) error {
	switch s.State {
	case Stopping:
		return nil
	case Waiting:
		s.Reason = reason
		return s.move(ctx, "stop", Stopped, reason)
	case Running:
		return s.halt(ctx, reason)
	}
	return illegal("stop", &s.Sweep)
}

// setData changes what handlers are given with every item.
func (s *steering) setData(ctx context.Context, data json.RawMessage) error {
	if (s.State == Running || s.State == Stopping) && !s.Serial {
		return illegal("change the data of", &s.Sweep)
	}
	s.Data = data
	return s.tx.Record(ctx, Event{By: s.by, Action: "data", From: s.State, To: s.State})
}

// illegal is the ErrConflict of an action that the state of a sweep forbids.
func illegal(action string, s *Sweep) error {
	return fmt.Errorf("cannot %s sweep %q: it is %s: %w", action, s.Name, s.State, fairlead.ErrConflict)
}
