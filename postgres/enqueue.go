package postgres

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Enqueue stores either all jobs or none. It returns ErrConflict if a key is taken, and
// ErrLimit if a tenant would exceed its MaxPending.
func (s *Store) Enqueue(ctx context.Context, jobs []*fairlead.Job) error {
	if len(jobs) == 0 {
		return nil
	}
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	if err := s.pending.Check(ctx, jobs); err != nil {
		return fmt.Errorf("enqueue: %w", err)
	}
	var fresh *newJobs
	var begun time.Time
	err := s.renewing(ctx, func(ctx context.Context) (err error) {
		if fresh, err = s.number(ctx, jobs); err != nil {
			return err
		}
		begun = time.Now()
		switch {
		case fresh.keyed():
			return s.enqueueKeyed(ctx, fresh)
		case len(jobs) < gatherBelow:
			return s.enqueueInGroup(ctx, fresh)
		}
		return s.runPlain(ctx, fresh.plainCall(s))
	})
	if err != nil {
		return fmt.Errorf("enqueue: %w", err)
	}
	fresh.setIDs()
	s.announce(fresh, time.Since(begun))
	s.admit(ctx, append(fresh.gates(), fresh.left...))
	return nil
}

// announce wakes the nodes that may run or promote the new jobs. Only the database
// knows whether a due time had come when it stored a job, so announce wakes both.
func (s *Store) announce(fresh *newJobs, took time.Duration) {
	if fresh.scheduled() {
		s.notifier.later()
	}
	if fresh.timed() || s.laneCursors.slow(took) {
		s.notifier.work(fresh.distinctLanes()...)
	} else {
		s.notifier.atEnd(fresh.distinctLanes()...)
	}
}

// newJobs holds jobs about to be stored, with what the store adds to them. All slices
// have the same order.
type newJobs struct {
	jobs  []*fairlead.Job
	ids   []int64 // for KeepDuplicate, in the end, those of the keys' holders
	lanes []int32
	left  []int64 // gates of the jobs that these replace
	flags int16   // flags of all of them, beside their own

	server    *knownServer   // the server that the ids come from; nil: the one that stores them
	callers   bool           // they are stored in a caller's transaction, which must not fail
	confirmed map[int32]bool // lanes looked up after the caller's transaction began: it may not see them

	invalid error         // why they can never be stored; all other fields are then empty
	refused map[int]error // position → why it was not stored; nil: a refused job fails the whole call
}

// mayBeRefusedInPart reports whether some jobs may be stored before another finds its
// key taken.
func (n *newJobs) mayBeRefusedInPart() bool {
	return len(n.jobs) > 1 && slices.ContainsFunc(n.jobs, func(job *fairlead.Job) bool { return job.Key != "" })
}

// number gives jobs their ids and lanes. Both are committed first, on a connection of
// the store's own, so that a rollback of the caller's transaction cannot remove them.
func (s *Store) number(ctx context.Context, jobs []*fairlead.Job) (*newJobs, error) {
	fresh := &newJobs{jobs: jobs, ids: make([]int64, len(jobs)), server: s.server.Load()}
	var err error
	if fresh.lanes, err = s.laneIDs(ctx, jobs); err != nil {
		return nil, err
	}
	if err := s.ids.Fill(ctx, fresh.ids); err != nil {
		return nil, fmt.Errorf("reserve ids: %w", err)
	}
	return fresh, nil
}

func (s *Store) takeIDs(ctx context.Context, blocks int) ([]int64, error) {
	ctx = beside(ctx)
	if err := s.agree(ctx); err != nil {
		return nil, err
	}
	firsts := make([]int64, 0, blocks)
	err := s.runPlain(ctx, call{sql: s.sql.TakeIDs, args: []any{blocks}, each: func(row sqlstore.Scanner) error {
		var first int64
		err := row.Scan(&first)
		firsts = append(firsts, first)
		return err
	}})
	return firsts, err
}

func (n *newJobs) setIDs() {
	for i, job := range n.jobs {
		job.ID = n.ids[i]
	}
}

func (n *newJobs) keyed() bool {
	return slices.ContainsFunc(n.jobs, func(job *fairlead.Job) bool { return job.Key != "" })
}

func (n *newJobs) scheduled() bool {
	return slices.ContainsFunc(n.jobs, func(job *fairlead.Job) bool { return !job.NotBefore.IsZero() })
}

// timed reports whether any job sets its own times.
func (n *newJobs) timed() bool {
	return slices.ContainsFunc(n.jobs, func(job *fairlead.Job) bool { return !job.NotBefore.IsZero() || !job.StartBy.IsZero() })
}

// part returns the jobs at some positions.
func (n *newJobs) part(positions []int) *newJobs {
	p := &newJobs{flags: n.flags, server: n.server, callers: n.callers, confirmed: n.confirmed}
	for _, i := range positions {
		p.jobs, p.ids, p.lanes = append(p.jobs, n.jobs[i]), append(p.ids, n.ids[i]), append(p.lanes, n.lanes[i])
	}
	return p
}

func (n *newJobs) distinctLanes() []int32 {
	lanes := n.lanes[:1:1]
	for i := 1; i < len(n.lanes); i++ {
		if n.lanes[i] != n.lanes[i-1] && !slices.Contains(lanes, n.lanes[i]) {
			lanes = append(lanes, n.lanes[i])
		}
	}
	return lanes
}

// plainCall stores jobs without keys. Most calls store similar jobs, for which most
// columns need not be sent per job.
func (n *newJobs) plainCall(s *Store) call {
	if !n.alike() {
		return n.guardedCall(s.sql.EnqueueMixed, n.laneGuards(s), n.columns()...)
	}
	sql := s.sql.Enqueue
	if n.callers {
		sql = s.sql.EnqueueWithin
	}
	first, args := n.jobs[0], make([]*string, len(n.jobs))
	for i, job := range n.jobs {
		args[i] = jsonText(job.Args)
	}
	return n.guardedCall(sql, n.laneGuard(s),
		n.ids, args, sqlstore.Micros(first.StartBy), n.lanes[0], int16(-first.Priority), sqlstore.Flags(first)|n.flags,
		jsonText(sqlstore.Policy(first)), textOrNull(first.Trace))
}

// alike reports whether the jobs are due now, have no gate and differ only in
// id and args.
func (n *newJobs) alike() bool {
	first := n.jobs[0]
	for i, job := range n.jobs {
		if n.lanes[i] != n.lanes[0] || !job.NotBefore.IsZero() || !job.StartBy.Equal(first.StartBy) || job.Priority != first.Priority ||
			job.Timeout != first.Timeout || job.MaxAttempts != first.MaxAttempts || job.Retry != first.Retry ||
			job.OnCrash != first.OnCrash || job.OnFail != first.OnFail || job.Trace != first.Trace || job.ConcurrencyKey != "" || job.Batch != first.Batch {
			return false
		}
	}
	return true
}

// columns returns the arguments of enqueue_mixed.
func (n *newJobs) columns() []any {
	count := len(n.jobs)
	args, policies, traces := make([]*string, count), make([]*string, count), make([]*string, count)
	startBy, notBefore := make([]int64, count), make([]int64, count)
	turns, flags, gates := make([]int16, count), make([]int16, count), make([]int64, count)
	for i, job := range n.jobs {
		args[i], policies[i], traces[i] = jsonText(job.Args), jsonText(sqlstore.Policy(job)), textOrNull(job.Trace)
		startBy[i], notBefore[i] = sqlstore.Micros(job.StartBy), sqlstore.Micros(job.NotBefore)
		turns[i], flags[i], gates[i] = int16(-job.Priority), sqlstore.Flags(job)|n.flags, sqlstore.GateOf(job)
	}
	return []any{n.ids, args, startBy, notBefore, n.lanes, turns, flags, policies, traces, gates}
}

// jsonText passes JSON as text, which every protocol mode accepts as json unchanged;
// nil stays null.
func jsonText(raw []byte) *string {
	if len(raw) == 0 {
		return nil
	}
	text := string(raw)
	return &text
}

func textOrNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
