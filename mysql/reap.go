package mysql

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/internal/verdict"
)

// Reap declares nodes whose leases have expired dead, and takes back the jobs of dead and
// unknown nodes.
func (s *Store) Reap(ctx context.Context, reap driver.Reap) (driver.Reaped, error) {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	var reaped driver.Reaped
	expired, err := s.expiredNodes(ctx)
	if err != nil {
		return reaped, fmt.Errorf("reap: %w", err)
	}
	for _, node := range expired {
		dead, err := s.markDead(ctx, node)
		if err != nil {
			return reaped, fmt.Errorf("reap: %w", err)
		}
		reaped.Nodes += dead
	}
	err = s.takeBack(ctx, reap, &reaped)
	return reaped, err
}

// expiredNodes lists nodes whose lease has run out and that are not marked dead.
func (s *Store) expiredNodes(ctx context.Context) (nodes []fairlead.NodeID, err error) {
	err = each(ctx, s.lifeline, func(row *sql.Rows) error {
		var node fairlead.NodeID
		err := row.Scan(&node)
		nodes = append(nodes, node)
		return err
	}, s.sql.ExpiredNodes)
	return nodes, err
}

// markDead declares an expired node dead and returns how many it found: none if another
// process did it before. From then on the node can neither beat nor begin a claim.
func (s *Store) markDead(ctx context.Context, node fairlead.NodeID) (int, error) {
	held, err := s.heldFences(ctx, node) // after its lease had ended: see mark_dead
	if err != nil {
		return 0, err
	}
	result, err := s.execQuickly(ctx, s.sql.MarkDead, held, node)
	if err != nil {
		return 0, err
	}
	dead, err := result.RowsAffected()
	return int(dead), err
}

// heldFences lists the fences of the jobs that are leased to a node, as held_fences
// stores them.
func (s *Store) heldFences(ctx context.Context, node fairlead.NodeID) (string, error) {
	var fences []int64
	err := each(ctx, s.lifeline, func(row *sql.Rows) error {
		var id, fence int64
		err := row.Scan(&id, &fence)
		fences = append(fences, fence)
		return err
	}, s.sql.Held, node)
	slices.Sort(fences)
	var list strings.Builder
	for i, fence := range slices.Compact(fences) {
		if i > 0 {
			list.WriteByte(',')
		}
		list.WriteString(decimal(fence))
	}
	return list.String(), err
}

// takeBack goes through the orphans in order of id. Those that another reaper
// has locked are its own.
func (s *Store) takeBack(ctx context.Context, reap driver.Reap, reaped *driver.Reaped) error {
	after, left := int64(0), reap.Limit
	for left > 0 {
		chunk := min(keepChunk, left)
		orphans, last, err := s.orphans(ctx, after, reap, chunk)
		if err != nil {
			return fmt.Errorf("reap: %w", err)
		}
		if len(orphans) == 0 {
			return nil
		}
		var part driver.Reaped
		err = s.inTx(ctx, "reap", func(ctx context.Context, t *txn) (err error) {
			part, err = t.reap(ctx, orphans, reap.MaxCrashes)
			return err
		})
		if err != nil {
			return err
		}
		reaped.Jobs += part.Jobs
		reaped.Poisoned += part.Poisoned
		reaped.Cancelled += part.Cancelled
		left -= part.Jobs + part.Poisoned + part.Cancelled
		after = last
	}
	return nil
}

// orphans lists running jobs of dead or unknown nodes with these nodes, and
// the last of the jobs.
func (s *Store) orphans(ctx context.Context, after int64, reap driver.Reap, limit int) (orphans map[int64]int64, last int64, err error) {
	orphans = map[int64]int64{}
	err = each(ctx, s.db, func(row *sql.Rows) error {
		var id, node int64
		if err := row.Scan(&id, &node); err != nil {
			return err
		}
		orphans[id], last = node, id
		return nil
	}, s.sql.Orphans, after, reap.MaxCrashes, reap.Patience.Microseconds(), limit)
	return orphans, last, err
}

// reap takes back those of the jobs that are still leased to these nodes.
func (t *txn) reap(ctx context.Context, orphans map[int64]int64, maxCrashes int) (driver.Reaped, error) {
	locked, err := t.running(ctx, t.sql.FreeRunning, slices.Sorted(maps.Keys(orphans)))
	if err != nil {
		return driver.Reaped{}, err
	}
	for id, p := range locked {
		if p.node != orphans[id] { // leased anew since
			delete(locked, id)
		}
	}
	if err := t.readOrder(ctx, locked); err != nil {
		return driver.Reaped{}, err
	}
	mayEnd := func(p *placed) bool {
		return p.wish.Valid || p.flags&sqlstore.FlagCancelOnCrash != 0 || p.crashes+1 >= int64(maxCrashes)
	}
	if err := t.passOverHeldKeys(ctx, locked, mayEnd); err != nil {
		return driver.Reaped{}, err
	}
	dead, err := t.deadNodesOf(ctx, locked)
	if err != nil {
		return driver.Reaped{}, err
	}
	now, err := t.clock(ctx)
	if err != nil {
		return driver.Reaped{}, err
	}
	var reaped driver.Reaped
	m, counted := moves{now: now}, tuples{}
	for _, p := range locked {
		loss := m.takeBack(p, dead[p.node].orphan(p.fence), maxCrashes)
		loss.Count(&reaped)
		if loss.Revocable {
			counted.add().ints(p.node, p.id, p.attempt, now).end()
		}
	}
	if err := t.insert(ctx, t.sql.AddReaped, &counted); err != nil {
		return driver.Reaped{}, err
	}
	return reaped, t.write(ctx, &m)
}

// takeBack takes a job from a node that died, or lost its lease but stayed alive. Of the orphan
// what its node is known by is given.
func (m *moves) takeBack(p *placed, orphan verdict.Orphan, maxCrashes int) verdict.Loss {
	orphan.Wish, orphan.CancelOnCrash, orphan.Crashes = p.wished(), p.flags&sqlstore.FlagCancelOnCrash != 0, int(p.crashes)
	loss := verdict.TakeBack(orphan, maxCrashes)
	m.record(p, loss.RunReason, loss.RunError)
	p.crashes = int64(loss.Crashes)
	m.become(p, &loss.Next)
	return loss
}

// deadNode is the node of orphans.
type deadNode struct {
	verdict.Orphan
	held *string // fences of the jobs that it held when it was marked dead; nil if that is not known
}

// orphan returns what is known of a job of the node that was claimed under a fence.
func (n *deadNode) orphan(fence int64) verdict.Orphan {
	orphan := n.Orphan
	orphan.Late = n.held != nil && !slices.Contains(strings.Split(*n.held, ","), decimal(fence))
	return orphan
}

// deadNodesOf reads the nodes of some jobs.
func (t *txn) deadNodesOf(ctx context.Context, jobs map[int64]*placed) (map[int64]*deadNode, error) {
	dead := map[int64]*deadNode{}
	var nodes []int64
	for _, p := range jobs {
		if dead[p.node] == nil {
			dead[p.node] = &deadNode{Orphan: verdict.Orphan{Node: p.node}}
			nodes = append(nodes, p.node)
		}
	}
	err := t.eachOf(ctx, func(row *sql.Rows) error {
		var n deadNode
		var heard int64
		err := row.Scan(&n.Node, &n.Lived, &heard, &n.held)
		n.Heard = sqlstore.Time(heard)
		dead[n.Node] = &n
		return err
	}, t.sql.ShareLived, nodes)
	return dead, err
}
