package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Join registers a node and grants it a lease.
func (s *Store) Join(ctx context.Context, node fairlead.Node, lease time.Duration) (fairlead.NodeID, error) {
	info, err := sqlstore.NodeInfo(&node)
	if err != nil {
		return 0, fmt.Errorf("join: %w", err)
	}
	args := []any{sqlstore.CleanText(node.Name), string(info), node.Idle, node.Queued, lease.Microseconds(), node.Draining}
	for {
		id, err := s.join(ctx, args)
		if err != nil {
			return 0, fmt.Errorf("join: %w", err)
		}
		if id != 0 {
			return id, nil
		}
	}
}

// join registers a node under a new token. It raises fences above all that were ever
// given out, without knowing them. It returns zero if the database returned the id of
// another node of this process: that node is left to expire, and the caller asks for
// the next id.
func (s *Store) join(ctx context.Context, args []any) (id fairlead.NodeID, err error) {
	if err := s.agree(ctx); err != nil {
		return 0, err
	}
	token, joined := sqlstore.NewNodeToken(ctx), int64(0)
	err = s.run(ctx,
		call{sql: s.sql.ExcludeClaims, args: []any{s.limitsLock}},
		call{sql: s.sql.AnchorFences, args: []any{s.lastFence.Load()}},
		call{
			sql: s.sql.Join, args: append(args[:len(args):len(args)], token),
			each: func(row sqlstore.Scanner) error { return row.Scan(&id, &joined) },
		})
	switch {
	case err != nil:
		return 0, err
	case !s.nodes.Keep(ctx, id, token):
		return 0, s.run(ctx, call{sql: s.sql.Leave, args: []any{int64(id), token}})
	}
	s.nodes.Beaten(id, joined)
	return id, nil
}

// Beat extends a live node's lease. It returns ErrLeaseLost if the node is dead or unknown.
func (s *Store) Beat(ctx context.Context, beat driver.Beat) (driver.BeatAnswer, error) {
	answer, err := s.beat(ctx, beat)
	if err != nil {
		return driver.BeatAnswer{}, fmt.Errorf("beat: %w", err)
	}
	return answer, nil
}

func (s *Store) beat(ctx context.Context, beat driver.Beat) (answer driver.BeatAnswer, err error) {
	token, err := s.nodes.Of(ctx, beat.Node)
	if err != nil {
		return answer, err
	}
	var last, now int64
	known := s.server.Load()
	err = s.runOn(ctx, s.beats, []call{
		{
			sql: s.sql.Beat, args: []any{int64(beat.Node), beat.Lease.Microseconds(), beat.Idle, beat.Queued, token, s.nodes.LastBeat(beat.Node)},
			restart: func() { now = 0 },
			each:    func(row sqlstore.Scanner) error { return row.Scan(&last, &now, &answer.Drain) },
		},
		{sql: s.sql.Wishes, args: []any{int64(beat.Node)}, restart: func() { answer.Cancel = nil }, each: heldReader(&answer.Cancel)},
		s.numberCall(),
	})
	switch {
	case err != nil:
		return answer, err
	case now == 0:
		return answer, errors.Join(driver.NodeLost(beat.Node), s.explainBeat(ctx, known, beat.Node, token))
	}
	s.nodes.Beaten(beat.Node, last)
	answer.Now = sqlstore.Time(now)
	return answer, nil
}

// explainBeat finds out whether a node lost its lease because the database lost
// commits: a beat that it had acknowledged, or the node itself. If so, nothing that
// this process has cached can be trusted.
func (s *Store) explainBeat(ctx context.Context, known *knownServer, node fairlead.NodeID, token string) error {
	last := s.nodes.LastBeat(node)
	if last == 0 {
		return nil // another process sent its beats
	}
	var own, found bool
	var beaten, now int64
	err := s.runOn(ctx, s.beats, []call{
		{sql: s.sql.Now, each: func(row sqlstore.Scanner) error { return row.Scan(&now) }},
		{sql: s.sql.NodeLeft, args: []any{int64(node), token}, restart: func() { found = false }, each: func(row sqlstore.Scanner) error {
			found = true
			return row.Scan(&own, &beaten)
		}},
	})
	pruned := !found && sqlstore.Time(now).Sub(sqlstore.Time(last)) > forgetNodesAfter
	if err != nil || pruned || found && own && beaten >= last {
		return err
	}
	_, err = s.succeedServer(ctx, known)
	return err
}

// Drain asks a node to stop starting jobs, or to resume. It wakes the node, which learns of
// the request with its next heartbeat. Drain returns ErrNotFound if the node is dead or
// unknown.
func (s *Store) Drain(ctx context.Context, node fairlead.NodeID, drain bool) error {
	ctx = sqlstore.MayWait(ctx)
	alive := false
	err := s.run(ctx, call{sql: s.sql.Drain, args: []any{int64(node), drain}, each: hits(&alive)})
	if err == nil && !alive {
		err = sqlstore.NoLiveNode(node)
	}
	if err != nil {
		return fmt.Errorf("drain: %w", err)
	}
	s.notifier.cancel()
	return nil
}

// Leave ends a node's lease immediately.
func (s *Store) Leave(ctx context.Context, node fairlead.NodeID) error {
	token, err := s.nodes.Of(ctx, node)
	if err != nil {
		return nil //nolint:nilerr // it has left already
	}
	if err := s.run(ctx, call{sql: s.sql.Leave, args: []any{int64(node), token}}); err != nil {
		return fmt.Errorf("leave: %w", err)
	}
	s.nodes.Drop(node)
	return nil
}

// Held returns the jobs leased to a node. The node may have joined through another process.
func (s *Store) Held(ctx context.Context, node fairlead.NodeID) ([]driver.Held, error) {
	var held []driver.Held
	var own *string
	if token, err := s.nodes.Of(ctx, node); err == nil {
		own = &token
	}
	if err := s.runPlain(ctx, call{sql: s.sql.Held, args: []any{int64(node), own}, restart: func() { held = nil }, each: heldReader(&held)}); err != nil {
		return nil, fmt.Errorf("held: %w", err)
	}
	return held, nil
}

func heldReader(into *[]driver.Held) func(sqlstore.Scanner) error {
	return func(row sqlstore.Scanner) error {
		var held driver.Held
		err := row.Scan(&held.ID, &held.Fence)
		*into = append(*into, held)
		return err
	}
}

// Save stores a running job's progress and memo under its fence. It returns ErrLeaseLost if
// the fence is not the job's current fence.
//
// Save commits in a separate round trip, because an abandoned try may reach the server later
// than a newer try and must not overwrite it. Without its commit, the old try changes
// nothing. If its commit is already on the way, it holds the job's row lock and the newer
// try waits.
func (s *Store) Save(ctx context.Context, save fairlead.Save) error {
	kept := 0
	err := s.inTx(ctx, func(ctx context.Context, r runner) error {
		return boundRunner{r}.run(ctx, s.boundLocks(), call{
			sql: s.sql.Save, args: []any{save.ID, save.Fence, jsonText(save.Memo), jsonText(save.Progress)},
			each: func(row sqlstore.Scanner) error { return row.Scan(&kept) },
		})
	})
	switch {
	case err != nil:
		return fmt.Errorf("save: %w", err)
	case kept == 0:
		return fmt.Errorf("save: %w", driver.LeaseLost(save.ID))
	}
	return nil
}
