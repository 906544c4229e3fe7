package sqlstore

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"sync"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// mostNodeTokens bounds how many tokens are kept: a node that lost its lease never
// calls Leave.
const mostNodeTokens = 10_000

// NodeTokens holds the tokens of the nodes that joined through this store. A node's row
// has its token, and beats and claims name it. If a database lost the commit of a node
// that joined and gave its id to another, the token shows each of them whether the row
// is its own.
type NodeTokens struct {
	mu    sync.Mutex
	nodes map[fairlead.NodeID]*ownNode
	order []fairlead.NodeID // in the order in which they joined
}

type ownNode struct {
	token    string
	lastBeat int64 // the last one that the database has acknowledged
}

// NewNodeToken returns the token for a node that is about to join: the one in ctx, if
// the caller keeps it.
func NewNodeToken(ctx context.Context) string {
	if token, kept := driver.NodeToken(ctx); kept {
		return token
	}
	return rand.Text()
}

// Keep remembers the token of a node that has joined, unless the caller keeps it. It
// returns false if another node of this process has the id: then the database has given
// it out twice, and the new node has to join again.
func (t *NodeTokens) Keep(ctx context.Context, node fairlead.NodeID, token string) bool {
	if _, kept := driver.NodeToken(ctx); kept {
		return true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.nodes[node] != nil {
		return false
	}
	if t.nodes == nil {
		t.nodes = map[fairlead.NodeID]*ownNode{}
	}
	t.nodes[node] = &ownNode{token: token}
	t.order = append(t.order, node)
	if len(t.order) > mostNodeTokens {
		delete(t.nodes, t.order[0])
		t.order = t.order[1:]
	}
	return true
}

// Of returns the token of a node. It fails with ErrLeaseLost if the node has not joined
// through this store and ctx does not name its token: the store must not act in its
// name.
func (t *NodeTokens) Of(ctx context.Context, node fairlead.NodeID) (string, error) {
	if token, kept := driver.NodeToken(ctx); kept {
		return token, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if own := t.nodes[node]; own != nil {
		return own.token, nil
	}
	return "", fmt.Errorf("node %d has not joined through this store: %w", node, fairlead.ErrLeaseLost)
}

// Beaten records a beat that the database has acknowledged.
func (t *NodeTokens) Beaten(node fairlead.NodeID, at int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if own := t.nodes[node]; own != nil {
		own.lastBeat = max(own.lastBeat, at)
	}
}

// LastBeat returns when the node's last beat was acknowledged here, zero if none was. A
// row with an earlier beat, or none, has lost it.
func (t *NodeTokens) LastBeat(node fairlead.NodeID) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if own := t.nodes[node]; own != nil {
		return own.lastBeat
	}
	return 0
}

// Drop removes a node that has left.
func (t *NodeTokens) Drop(node fairlead.NodeID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.nodes[node] != nil {
		delete(t.nodes, node)
		t.order = slices.DeleteFunc(t.order, func(id fairlead.NodeID) bool { return id == node })
	}
}
