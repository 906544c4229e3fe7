package sqlstore

import (
	"crypto/rand"
	"sync"

	"github.com/fairlead-io/fairlead"
)

// NodeTokens are the tokens of the nodes that joined through this store. A node's
// row has its token, and beats and claims name it: if a database lost the commit of
// a node that joined and gave its id to another, each of them knows its own row from
// the other's.
type NodeTokens struct {
	mu     sync.Mutex
	tokens map[fairlead.NodeID]string
}

// NewNodeToken makes the token of a node that is about to join.
func NewNodeToken() string { return rand.Text() }

// Keep remembers the token of a node that has joined. It reports false if another
// node of this process has the id: then the database has given it out twice, and the
// new one has to join again.
func (t *NodeTokens) Keep(node fairlead.NodeID, token string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.tokens[node] != "" {
		return false
	}
	if t.tokens == nil {
		t.tokens = map[fairlead.NodeID]string{}
	}
	t.tokens[node] = token
	return true
}

// Of is the token of a node. It is empty if the node has not joined through this
// store, or has lost its lease: then it has none, and nothing may be done in its name.
func (t *NodeTokens) Of(node fairlead.NodeID) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.tokens[node]
}

// Drop forgets a node that has left or lost its lease.
func (t *NodeTokens) Drop(node fairlead.NodeID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.tokens, node)
}
