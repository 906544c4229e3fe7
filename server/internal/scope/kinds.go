package scope

import (
	"context"

	"github.com/fairlead-io/fairlead"
)

// knowing is a Restricted for callers who create batches and sweeps. It also tells them which
// kinds are handled: a batch that no node handles is rejected, and a sweep contains a
// warning.
type knowing struct {
	Restricted
}

// WithKinds returns the store of all callers who create batches and sweeps.
func WithKinds(own Restricted) Store { return knowing{own} }

// Nodes returns the handled kinds of all nodes and whether the nodes are alive, and no
// other details.
func (s knowing) Nodes(ctx context.Context) ([]fairlead.Node, error) {
	nodes, err := s.store.Nodes(ctx)
	known := make([]fairlead.Node, len(nodes))
	for i := range nodes {
		known[i] = fairlead.Node{Kinds: nodes[i].Kinds, Queues: nodes[i].Queues, Until: nodes[i].Until, Dead: nodes[i].Dead}
	}
	return known, err
}
