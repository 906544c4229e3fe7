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

// mostNodeTokens limits the number of stored tokens, because a node that lost its lease
// never calls Leave.
const mostNodeTokens = 10_000

// NodeTokens holds the tokens of the nodes that joined through this store. A node's row
// contains its token, and beats and claims pass the token to identify the row. If a database
// loses the commit of a joining node and then assigns the same ID to another node, the token
// shows each of the two nodes whether the row is its own.
type NodeTokens struct {
	mu    sync.Mutex
	nodes map[fairlead.NodeID]*ownNode
	order []fairlead.NodeID // in the order of joining
}

type ownNode struct {
	token    string
	lastBeat int64 // the last beat that the database has acknowledged
}

// NewNodeToken returns a token for a node that is about to join. If ctx contains a token
// because the caller keeps the token itself, NewNodeToken returns that token.
func NewNodeToken(ctx context.Context) string {
	if token, kept := driver.NodeToken(ctx); kept {
		return token
	}
	return rand.Text()
}

// Keep stores the token of a node that has joined, unless the caller keeps the token itself.
// It returns false if another node of this process already has the ID. In that case, the
// database has issued the ID twice, and the new node must join again.
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

// Of returns a node's token. It returns ErrLeaseLost if the node did not join through this
// store and ctx does not contain the token, because the store must not act for such a node.
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

// Beaten records the time of a beat that the database has acknowledged.
func (t *NodeTokens) Beaten(node fairlead.NodeID, at int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if own := t.nodes[node]; own != nil {
		own.lastBeat = max(own.lastBeat, at)
	}
}

// LastBeat returns the time of the node's last acknowledged beat, or 0 if there was none. If
// the last beat in the node's row is earlier or missing, the database has lost the
// acknowledged beat.
func (t *NodeTokens) LastBeat(node fairlead.NodeID) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if own := t.nodes[node]; own != nil {
		return own.lastBeat
	}
	return 0
}

// Drop removes the token of a node that has left.
func (t *NodeTokens) Drop(node fairlead.NodeID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.nodes[node] != nil {
		delete(t.nodes, node)
		t.order = slices.DeleteFunc(t.order, func(id fairlead.NodeID) bool { return id == node })
	}
}
