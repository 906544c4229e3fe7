package workers

import (
	"context"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// roster contains the workers that have joined. One query for all nodes serves every worker
// of this server for a while.
type roster struct {
	store driver.Store
	fresh time.Duration // maximum age of a query result

	mu     sync.Mutex
	looked time.Time
	nodes  map[fairlead.NodeID]fairlead.Node
}

// find returns a live worker, or ErrLeaseLost.
func (r *roster) find(ctx context.Context, id fairlead.NodeID) (fairlead.Node, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	node, known := r.nodes[id]
	if !known || time.Since(r.looked) > r.fresh {
		if err := r.look(ctx); err != nil {
			return fairlead.Node{}, err
		}
		node, known = r.nodes[id]
	}
	if !known || node.Dead || !node.Remote {
		return fairlead.Node{}, errGone(id)
	}
	return node, nil
}

// hasOlder reports whether a live node, possibly a server, runs a program that is older
// than tokens.
func (r *roster) hasOlder(ctx context.Context) (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.nodes == nil || time.Since(r.looked) > r.fresh {
		if err := r.look(ctx); err != nil {
			return false, err
		}
	}
	for _, node := range r.nodes {
		if node.NoToken && !node.Remote && !node.Dead {
			return true, nil
		}
	}
	return false, nil
}

// admit returns errSessions if a token has the maximum number of live workers. It queries
// the nodes again, because many workers may join at once; it may overlook workers that join
// through other servers at the same moment.
func (r *roster) admit(ctx context.Context, owner string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.look(ctx); err != nil {
		return err
	}
	workers := 0
	for _, node := range r.nodes {
		if node.Remote && !node.Dead && node.Owner == owner {
			workers++
		}
	}
	if workers >= maxOwnerSessions {
		return errSessions
	}
	return nil
}

func (r *roster) look(ctx context.Context) error {
	nodes, err := r.store.Nodes(ctx)
	if err != nil {
		return err
	}
	r.looked, r.nodes = time.Now(), make(map[fairlead.NodeID]fairlead.Node, len(nodes))
	for _, node := range nodes {
		r.nodes[node.ID] = node
	}
	return nil
}

// forget makes the next call query again.
func (r *roster) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.nodes = nil
}
