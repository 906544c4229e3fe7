package server

import (
	"context"

	"github.com/fairlead-io/fairlead"
)

// knowing is a store as far as the caller of a request may touch it, for those who
// create batches and sweeps: which kinds are handled may be known to all of them, as a
// batch that no node handles is refused, and a sweep says so.
type knowing struct {
	scoped
}

// Nodes lists what nodes handle and whether they live, and nothing else of them.
func (s knowing) Nodes(ctx context.Context) ([]fairlead.Node, error) {
	nodes, err := s.store.Nodes(ctx)
	known := make([]fairlead.Node, len(nodes))
	for i := range nodes {
		known[i] = fairlead.Node{Kinds: nodes[i].Kinds, Queues: nodes[i].Queues, Until: nodes[i].Until, Dead: nodes[i].Dead}
	}
	return known, err
}
