package mysql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/fairlead-io/fairlead"
)

// ownNode is what a process knows of a node that it acts for: nothing is done in the
// name of a node whose row is another's, or older than what was acknowledged to it.
type ownNode struct {
	token []byte
	beat  int64 // the last that was acknowledged
}

func lost(node fairlead.NodeID) error { return fmt.Errorf("node %d: %w", node, fairlead.ErrLeaseLost) }

// ownNode tells what this process knows of a node. One that joined through another
// process, as workers may, is known from when it is first heard of.
func (s *Store) ownNode(ctx context.Context, node fairlead.NodeID) (ownNode, error) {
	if _, gone := s.lostNodes.Load(node); gone {
		return ownNode{}, lost(node)
	}
	token := s.tokens.Of(node)
	if token == "" {
		row, err := s.nodeRow(ctx, node)
		if err != nil || !row.exists {
			return ownNode{}, firstError(err, lost(node))
		}
		s.tokens.Keep(node, row.token)
		token = row.token
	}
	own := ownNode{token: []byte(token)}
	if beat, known := s.beats.Load(node); known {
		own.beat = beat.(int64)
	}
	return own, nil
}

// nodeRow is what the database says of a node.
type nodeRow struct {
	exists    bool
	token     string
	beat, now int64
}

func (s *Store) nodeRow(ctx context.Context, node fairlead.NodeID) (row nodeRow, err error) {
	err = one(ctx, s.lifeline, []any{&row.token, &row.beat, &row.now}, s.sql.NodeRow, node)
	if errors.Is(err, sql.ErrNoRows) {
		return nodeRow{}, nil
	}
	row.exists = err == nil
	return row, err
}

// lose forgets a node that has lost its lease, and finds out whether that is because
// the database lost its last commits: then the row is gone, another's, or older than
// what was acknowledged.
func (s *Store) lose(ctx context.Context, node fairlead.NodeID) error {
	number, token := s.number.Load(), s.tokens.Of(node)
	beat, known := s.beats.Load(node)
	s.disown(node)
	if token == "" {
		return nil
	}
	s.lostNodes.Store(node, struct{}{})
	row, err := s.nodeRow(ctx, node)
	if err != nil {
		return err
	}
	if row.exists && row.token == token && (!known || row.beat >= beat.(int64)) {
		return nil
	}
	if !row.exists && known {
		now, err := s.now(ctx)
		if err != nil || now-beat.(int64) > nodeRetention.Microseconds() {
			return err // it was dead for so long that it was removed
		}
	}
	_, err = s.meetOnce(ctx, number)
	return err
}

// disown forgets a node that has left or lost its lease.
func (s *Store) disown(node fairlead.NodeID) {
	s.wishes.forget(node)
	s.tokens.Drop(node)
	s.beats.Delete(node)
}

// raise notes the largest number there was.
func raise(largest *atomic.Int64, number int64) {
	for before := largest.Load(); number > before; before = largest.Load() {
		if largest.CompareAndSwap(before, number) {
			return
		}
	}
}
