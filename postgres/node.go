package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Join registers a node and grants it a lease.
func (s *Store) Join(ctx context.Context, node fairlead.Node, lease time.Duration) (fairlead.NodeID, error) {
	info, err := sqlstore.NodeInfo(&node)
	if err != nil {
		return 0, fmt.Errorf("join: %w", err)
	}
	var id fairlead.NodeID
	err = s.run(ctx, call{
		sql: s.sql.Join, args: []any{sqlstore.CleanText(node.Name), string(info), node.Idle, node.Queued, lease.Microseconds(), node.Draining},
		each: func(row sqlstore.Scanner) error { return row.Scan(&id) },
	})
	if err != nil {
		return 0, fmt.Errorf("join: %w", err)
	}
	return id, nil
}

// Beat extends the lease of a live node.
func (s *Store) Beat(ctx context.Context, beat fairlead.Beat) (fairlead.BeatAnswer, error) {
	var answer fairlead.BeatAnswer
	var now int64
	err := s.runOn(ctx, s.beats, s.sql.Pin, []call{
		{
			sql: s.sql.Beat, args: []any{int64(beat.Node), beat.Lease.Microseconds(), beat.Idle, beat.Queued},
			each: func(row sqlstore.Scanner) error { return row.Scan(&now, &answer.Drain) },
		},
		{sql: s.sql.Wishes, args: []any{int64(beat.Node)}, each: heldReader(&answer.Cancel)},
	})
	switch {
	case err != nil:
		return fairlead.BeatAnswer{}, fmt.Errorf("beat: %w", err)
	case now == 0:
		return fairlead.BeatAnswer{}, fmt.Errorf("beat: node %d: %w", beat.Node, fairlead.ErrLeaseLost)
	}
	answer.Now = sqlstore.Time(now)
	return answer, nil
}

// Drain asks a node to start nothing more, or to go on. It hears of it with its
// next beat, and is woken for that.
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
	s.waker.cancel()
	return nil
}

// Leave ends the node's lease at once.
func (s *Store) Leave(ctx context.Context, node fairlead.NodeID) error {
	if err := s.run(ctx, call{sql: s.sql.Leave, args: []any{int64(node)}}); err != nil {
		return fmt.Errorf("leave: %w", err)
	}
	return nil
}

// Held lists the jobs that are leased to the node.
func (s *Store) Held(ctx context.Context, node fairlead.NodeID) ([]fairlead.Held, error) {
	var held []fairlead.Held
	if err := s.runPlain(ctx, call{sql: s.sql.Held, args: []any{int64(node)}, each: heldReader(&held)}); err != nil {
		return nil, fmt.Errorf("held: %w", err)
	}
	return held, nil
}

func heldReader(into *[]fairlead.Held) func(sqlstore.Scanner) error {
	return func(row sqlstore.Scanner) error {
		var held fairlead.Held
		err := row.Scan(&held.ID, &held.Fence)
		*into = append(*into, held)
		return err
	}
}

// Save keeps progress and memo of a running job under its fence.
func (s *Store) Save(ctx context.Context, save fairlead.Save) error {
	kept := 0
	err := s.run(ctx, call{
		sql: s.sql.Save, args: []any{save.ID, save.Fence, jsonText(save.Memo), jsonText(save.Progress)},
		each: func(row sqlstore.Scanner) error { return row.Scan(&kept) },
	})
	switch {
	case err != nil:
		return fmt.Errorf("save: %w", err)
	case kept == 0:
		return fmt.Errorf("save: job %d: %w", save.ID, fairlead.ErrLeaseLost)
	}
	return nil
}
