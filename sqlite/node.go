package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Join registers a node, grants it a lease and returns its ID.
func (s *Store) Join(ctx context.Context, node fairlead.Node, lease time.Duration) (fairlead.NodeID, error) {
	info, err := sqlstore.NodeInfo(&node)
	if err != nil {
		return 0, fmt.Errorf("join: %w", err)
	}
	token := sqlstore.NewNodeToken(ctx)
	for {
		id, err := inTxFirst(ctx, s, "join", func(t *txn) (int64, error) {
			if _, err := t.raise(fenceCounter, t.now); err != nil {
				return 0, err
			}
			id, err := t.next(nodeCounter, 1)
			if err != nil {
				return 0, err
			}
			return id, t.must(1, t.sql.Join, id, node.Name, string(info), node.Idle, node.Queued, t.now, t.now, t.now+lease.Microseconds(), node.Draining, token)
		})
		if err != nil || s.nodes.Keep(ctx, fairlead.NodeID(id), token) {
			return fairlead.NodeID(id), err
		}
		// The file was restored, and another node of this process has the id.
		if _, err := inTxFirst(ctx, s, "join", func(t *txn) (int64, error) { return t.exec(t.sql.Leave, t.now, t.now, id, token) }); err != nil {
			return 0, err
		}
		token = sqlstore.NewNodeToken(ctx)
	}
}

// Beat extends a live node's lease. It returns ErrLeaseLost if the node is dead or unknown.
func (s *Store) Beat(ctx context.Context, beat driver.Beat) (driver.BeatAnswer, error) {
	token, err := s.nodes.Of(ctx, beat.Node)
	if err != nil {
		return driver.BeatAnswer{}, fmt.Errorf("beat: %w", err)
	}
	return inTxFirst(ctx, s, "beat", func(t *txn) (driver.BeatAnswer, error) {
		answer := driver.BeatAnswer{Now: sqlstore.Time(t.now)}
		alive, err := t.one(t.sql.Beat, []any{beat.Idle, beat.Queued, t.now, t.now + beat.Lease.Microseconds(), int64(beat.Node), token, t.now}, &answer.Drain)
		if err != nil {
			return answer, err
		}
		if t.wrote = alive; !alive {
			return answer, driver.NodeLost(beat.Node)
		}
		answer.Cancel, err = t.heldBy(t.sql.Wishes, beat.Node)
		return answer, err
	})
}

// Drain asks a node to stop starting jobs or, if drain is false, to start jobs again. It wakes
// the node, whose next beat returns the request. Drain returns ErrNotFound if the node is dead
// or unknown.
func (s *Store) Drain(ctx context.Context, node fairlead.NodeID, drain bool) error {
	_, err := inTx(ctx, s, "drain", func(t *txn) (none, error) {
		hit, err := t.exec(t.sql.Drain, drain, int64(node), t.now)
		if err != nil {
			return none{}, err
		}
		if hit == 0 {
			t.wrote = false
			return none{}, sqlstore.NoLiveNode(node)
		}
		t.wakes.cancel = true
		return none{}, nil
	})
	return err
}

// Leave ends a node's lease immediately.
func (s *Store) Leave(ctx context.Context, node fairlead.NodeID) error {
	token, err := s.nodes.Of(ctx, node)
	if err != nil {
		return nil //nolint:nilerr // it has left already
	}
	if _, err := inTxFirst(ctx, s, "leave", func(t *txn) (int64, error) { return t.exec(t.sql.Leave, t.now, t.now, int64(node), token) }); err != nil {
		return err
	}
	s.nodes.Drop(node)
	return nil
}

// Held lists the jobs leased to a node. The node may have joined through another process.
func (s *Store) Held(ctx context.Context, node fairlead.NodeID) ([]driver.Held, error) {
	var own any
	if token, err := s.nodes.Of(ctx, node); err == nil {
		own = token
	}
	return read(ctx, s, "list held jobs", func(t *txn) ([]driver.Held, error) { return t.heldBy(t.sql.Held, node, own) })
}

func (t *txn) heldBy(query string, node fairlead.NodeID, more ...any) ([]driver.Held, error) {
	var held []driver.Held
	err := t.each(query, append([]any{int64(node)}, more...), func(row sqlstore.Scanner) error {
		var h driver.Held
		if err := row.Scan(&h.ID, &h.Fence); err != nil {
			return err
		}
		held = append(held, h)
		return nil
	})
	return held, err
}

// Nodes lists the live nodes, and the dead nodes that have not been pruned yet.
func (s *Store) Nodes(ctx context.Context) ([]fairlead.Node, error) {
	return read(ctx, s, "list nodes", (*txn).allNodes)
}

func (t *txn) allNodes() ([]fairlead.Node, error) {
	var nodes []fairlead.Node
	err := t.each(t.sql.Nodes, []any{t.now}, func(row sqlstore.Scanner) error {
		node, err := sqlstore.ScanNode(row)
		nodes = append(nodes, node)
		return err
	})
	return nodes, err
}

// Save stores the progress and memo of a running job. It returns ErrLeaseLost if the fence in
// save is not the job's current fence.
func (s *Store) Save(ctx context.Context, save fairlead.Save) error {
	memo, progress := string(save.Memo), string(save.Progress)
	_, err := inTx(ctx, s, "save", func(t *txn) (none, error) {
		hit, err := t.exec(t.sql.Save, save.ID, save.Fence)
		if err != nil {
			return none{}, err
		}
		if hit == 0 {
			t.wrote = false
			return none{}, driver.LeaseLost(save.ID)
		}
		if memo == "" && progress == "" {
			return none{}, nil
		}
		return none{}, t.must(1, t.sql.Keep, save.ID, text(memo), text(progress))
	})
	return err
}
