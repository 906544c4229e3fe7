package sqlstore

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/dispatch"
)

// ask returns the shared starts that the next claim of the store would see: a copy of the
// past starts of the given node that claimed last, refreshed if the claim would refresh it. If
// none of the nodes claims in this process, ask returns the empty record of a joining node.
func (f *Fair) ask(ctx context.Context, nodes []fairlead.Node) (*dispatch.PastStarts, error) {
	id, n := f.lastOf(nodes)
	if n == nil {
		return dispatch.NewPastStarts(), nil
	}
	if err := n.sharing.Acquire(ctx); err != nil {
		return nil, err
	}
	pastStarts, stale := n.pastStarts.Copy(), time.Since(n.shared) >= shareEvery
	n.sharing.Release()
	if !stale {
		return pastStarts, nil
	}
	now, others, err := f.others(ctx, id)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	config := n.config
	f.mu.Unlock()
	pastStarts.Refresh(now/startsBucket.Microseconds(), others, config.partyIn)
	return pastStarts, nil
}

// lastOf returns the given node that claimed last, or nil if none has claimed.
func (f *Fair) lastOf(nodes []fairlead.Node) (last fairlead.NodeID, found *fairNode) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, node := range nodes {
		if n := f.nodes[node.ID]; n != nil && (found == nil || n.claimed.After(found.claimed)) {
			last, found = node.ID, n
		}
	}
	return last, found
}

// openAsked opens a claim on copied past starts.
func openAsked(pastStarts *dispatch.PastStarts, config *LimitConfig) *FairClaim {
	if !config.Fair() {
		return nil
	}
	return &FairClaim{config: config, shares: pastStarts.Open()}
}
