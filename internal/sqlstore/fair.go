package sqlstore

import (
	"context"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/dispatch"
)

const (
	// shareEvery is the interval at which a node writes its shared starts and reads those
	// of other nodes.
	shareEvery = time.Second
	// startsUnused is the time without claims after which a node is forgotten.
	startsUnused = 5 * time.Minute
)

// Fair counts the jobs that the store's nodes start where tenants share starts by weight, and
// exchanges the counts with nodes of other processes. No two nodes write the same row, so no
// claim waits for another claim.
type Fair struct {
	db    Database
	sql   *FairStatements
	clock *ClockStatements
	mu    sync.Mutex
	nodes map[fairlead.NodeID]*fairNode
}

// fairNode is a node that claims jobs where tenants share starts.
type fairNode struct {
	pastStarts *dispatch.PastStarts
	sharing    Lock
	config     *LimitConfig // as of the last claim
	claimed    time.Time
	begun      bool // has shared at least once
	shared     time.Time
	bucket     int64 // bucket of the last share
}

// FairStatements holds the SQL statements of Fair.
type FairStatements struct {
	PutFairStarts    string `sql:"put_fair_starts"`
	OtherFairStarts  string `sql:"other_fair_starts"`
	RecentFairStarts string `sql:"recent_fair_starts"`
	ForgetFairStarts string `sql:"forget_fair_starts"`
}

// NewFair returns the Fair for a store that has not claimed anything yet.
func NewFair(db Database, statements *FeatureStatements) *Fair {
	return &Fair{db: db, sql: &statements.FairStatements, clock: &statements.ClockStatements, nodes: map[fairlead.NodeID]*fairNode{}}
}

// FairClaim is a claim in which tenants share starts. A nil FairClaim has no shares.
type FairClaim struct {
	config *LimitConfig
	shares *dispatch.Shares
}

// Open begins a claim. It returns nil unless tenants share the starts of at least one queue.
func (f *Fair) Open(node fairlead.NodeID, config *LimitConfig) *FairClaim {
	if !config.Fair() {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	n := f.nodes[node]
	if n == nil {
		for id, other := range f.nodes {
			if now.Sub(other.claimed) > startsUnused {
				delete(f.nodes, id)
			}
		}
		n = &fairNode{pastStarts: dispatch.NewPastStarts()}
		f.nodes[node] = n
	}
	n.claimed, n.config = now, config
	return &FairClaim{config: config, shares: n.pastStarts.Open()}
}

// Share returns the share of the lane's tenant, or nil if jobs in the lane start by deadline.
func (c *FairClaim) Share(lane LaneKey) *dispatch.Share {
	if c == nil {
		return nil
	}
	party, fair := c.config.Party(lane)
	if !fair {
		return nil
	}
	return c.shares.Of(party)
}

// Close records the jobs that the claim started and the lanes it chose from. If solo is true,
// the claim took only suspect jobs and considered only a few lanes. Close then keeps the lanes
// that the claim did not consider.
func (c *FairClaim) Close(solo bool, lanes []*dispatch.Lane, jobs []*fairlead.Job) {
	switch {
	case c == nil:
	case solo:
		c.shares.Charge(c.started(jobs))
	default:
		c.shares.Close(lanes, c.started(jobs))
	}
}

// started counts the claimed jobs of each tenant that shares starts.
func (c *FairClaim) started(jobs []*fairlead.Job) map[dispatch.Party]int {
	started := map[dispatch.Party]int{}
	for _, job := range jobs {
		if party, fair := c.config.Party(KeyOf(job)); fair {
			started[party]++
		}
	}
	return started
}

// Share publishes a node's recent starts and reads those of other nodes, at most once a
// second. It does nothing if tenants do not share starts in any lane from which the node
// claims.
func (f *Fair) Share(ctx context.Context, node fairlead.NodeID) error {
	f.mu.Lock()
	n := f.nodes[node]
	f.mu.Unlock()
	if n == nil || !n.sharing.TryAcquire() {
		return nil
	}
	defer n.sharing.Release()
	if time.Since(n.shared) < shareEvery {
		return nil
	}
	return f.share(ctx, node, n)
}

// ShareFirst calls Share after a node's first claim. That claim could not date its starts,
// because the node had not read the clock yet. ShareFirst ignores errors: the node has its
// jobs in any case, and its next claim shares again.
func (f *Fair) ShareFirst(ctx context.Context, node fairlead.NodeID) {
	f.mu.Lock()
	n := f.nodes[node]
	first := n != nil && !n.begun
	f.mu.Unlock()
	if first {
		_ = f.Share(ctx, node)
	}
}

// shareAll shares the starts of all nodes of the store immediately, even if they have
// shared recently.
func (f *Fair) shareAll(ctx context.Context) error {
	f.mu.Lock()
	nodes := make(map[fairlead.NodeID]*fairNode, len(f.nodes))
	for id, n := range f.nodes {
		nodes[id] = n
	}
	f.mu.Unlock()
	for id, n := range nodes {
		if err := n.sharing.Acquire(ctx); err != nil {
			return err
		}
		err := f.share(ctx, id, n)
		n.sharing.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// share reads the starts of other nodes and then writes those of this node, in separate
// transactions. Reading comes first because it returns the clock, which tells in which bucket
// the node's starts belong. A claim of this node may run at any point between the two: its
// starts are written now or by the next share. Other nodes may miss each other's starts of the
// last second, so each of them compensates only for a part of a lead, see dispatch.PastStarts.
func (f *Fair) share(ctx context.Context, node fairlead.NodeID, n *fairNode) error {
	f.mu.Lock()
	config := n.config
	f.mu.Unlock()
	now, others, err := f.others(ctx, node)
	if err != nil {
		return err
	}
	bucket := now / startsBucket.Microseconds()
	n.pastStarts.Refresh(bucket, others, config.partyIn)
	if err := f.write(ctx, node, n.pastStarts); err != nil {
		return err
	}
	if bucket != n.bucket {
		if _, err := exec(ctx, f.db, "forget shared starts", f.sql.ForgetFairStarts, OldestBucket(now)); err != nil {
			return err
		}
	}
	n.bucket, n.shared = bucket, time.Now()
	f.mu.Lock()
	defer f.mu.Unlock()
	n.begun = true
	return nil
}

// others reads the clock and the recent starts of other nodes.
func (f *Fair) others(ctx context.Context, node fairlead.NodeID) (int64, []dispatch.Count, error) {
	var clock *[]int64
	var counts *[]dispatch.Count
	err := f.db.Read(ctx, "read shared starts", func(_ context.Context, db DB) error {
		clock = queueList(db, scanNumber, f.clock.Now)
		counts = queueList(db, func(row Scanner) (c dispatch.Count, err error) {
			err = row.Scan(&c.Scope, &c.Tenant, &c.Bucket, &c.Started, &c.Nodes)
			return c, err
		}, f.sql.OtherFairStarts, int64(node))
		return nil
	})
	if err != nil {
		return 0, nil, err
	}
	return (*clock)[0], *counts, nil
}

// write publishes the starts of a node.
func (f *Fair) write(ctx context.Context, node fairlead.NodeID, pastStarts *dispatch.PastStarts) error {
	counts := pastStarts.Unread()
	if len(counts) == 0 {
		return nil
	}
	var rows Rows
	for _, c := range counts {
		rows.Add(c.Bucket, int64(node), c.Scope, c.Tenant, c.Started)
	}
	if _, err := exec(ctx, f.db, "share starts", f.sql.PutFairStarts, &rows); err != nil {
		return err
	}
	pastStarts.Written(counts)
	return nil
}

// recent returns the number of jobs that each tenant started in a scope within the window
// before now.
func (f *Fair) recent(ctx context.Context, scope string, now int64) (map[string]int, error) {
	if err := f.shareAll(ctx); err != nil {
		return nil, err
	}
	counts, err := readList(ctx, f.db.Read, "read shared starts", func(row Scanner) (c dispatch.Count, err error) {
		err = row.Scan(&c.Tenant, &c.Started)
		return c, err
	}, f.sql.RecentFairStarts, OldestBucket(now), scope)
	starts := make(map[string]int, len(counts))
	for _, c := range counts {
		starts[c.Tenant] = int(c.Started)
	}
	return starts, err
}
