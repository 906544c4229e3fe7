package mysql

import (
	"context"
	"database/sql"
	"errors"
	"sync/atomic"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// ownNode is what this process knows of a node that it acts for. A statement does
// nothing in the name of a node whose row belongs to another node, or is older than
// what was acknowledged.
type ownNode struct {
	token []byte
	beat  int64 // the last beat acknowledged to this process
}

func (s *Store) ownNode(ctx context.Context, node fairlead.NodeID) (ownNode, error) {
	token, err := s.tokens.Of(ctx, node)
	return ownNode{token: []byte(token), beat: s.tokens.LastBeat(node)}, err
}

// lose finds out why a node has lost its lease. If its row is gone, another's, or
// older than what was acknowledged to it, the database has lost its last commits.
func (s *Store) lose(ctx context.Context, node fairlead.NodeID) error {
	s.wishes.forget(node)
	if _, kept := driver.NodeToken(ctx); kept {
		return nil // this process knows nothing about it
	}
	number := s.number.Load()
	own, err := s.ownNode(ctx, node)
	if err != nil {
		return nil //nolint:nilerr // nor of this one
	}
	var token string
	var beat int64
	err = one(ctx, s.lifeline, []any{&token, &beat}, s.sql.NodeLeft, node)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		now, err := s.now(ctx)
		if err != nil {
			return err
		}
		if own.beat != 0 && now-own.beat > nodeRetention.Microseconds() {
			return nil // it was dead for so long that it was removed
		}
	case err != nil:
		return err
	case token == string(own.token) && beat >= own.beat:
		return nil
	}
	_, err = s.meetOnce(ctx, number)
	return err
}

// raise records the largest number so far.
func raise(largest *atomic.Int64, number int64) {
	for before := largest.Load(); number > before; before = largest.Load() {
		if largest.CompareAndSwap(before, number) {
			return
		}
	}
}
