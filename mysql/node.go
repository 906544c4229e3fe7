package mysql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Join registers a node and grants it a lease. Fences issued from then on are larger than
// all earlier fences, even if the database has lost commits.
func (s *Store) Join(ctx context.Context, node fairlead.Node, lease time.Duration) (fairlead.NodeID, error) {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	id, err := s.join(ctx, node, lease)
	if err == nil {
		_, err = s.execQuickly(ctx, s.sql.AnchorFences, s.lastFence.Load()+1)
	}
	if err != nil {
		return 0, fmt.Errorf("join: %w", err)
	}
	return id, nil
}

// join gives a node its id. If the database gives out an id that this process knows, it
// has lost commits. A process that joins again may have lost its lease because the
// database lost its last commits.
func (s *Store) join(ctx context.Context, node fairlead.Node, lease time.Duration) (fairlead.NodeID, error) {
	info, err := sqlstore.NodeInfo(&node)
	if err != nil {
		return 0, err
	}
	if last := s.lastNode.Load(); last != 0 {
		if err := s.lose(ctx, fairlead.NodeID(last)); err != nil {
			return 0, err
		}
	}
	for {
		token, number, before := sqlstore.NewNodeToken(ctx), s.number.Load(), s.highestNode.Load()
		result, err := s.execQuickly(ctx, s.sql.Join, []byte(sqlstore.CleanText(node.Name)), info, node.Idle, node.Queued, lease.Microseconds(), node.Draining, []byte(token))
		if err != nil {
			return 0, err
		}
		id, err := result.LastInsertId()
		if err != nil {
			return 0, err
		}
		raise(&s.highestNode, id)
		if id > before && s.tokens.Keep(ctx, fairlead.NodeID(id), token) {
			s.lastNode.Store(id)
			return fairlead.NodeID(id), nil
		}
		if _, err := s.execQuickly(ctx, s.sql.Leave, id, []byte(token)); err != nil {
			return 0, err
		}
		if _, err := s.meetOnce(ctx, number); err != nil {
			return 0, err
		}
	}
}

// Beat extends a live node's lease. It returns ErrLeaseLost if the node is dead or unknown.
func (s *Store) Beat(ctx context.Context, beat driver.Beat) (driver.BeatAnswer, error) {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	answer, err := s.beat(ctx, beat)
	if errors.Is(err, fairlead.ErrLeaseLost) {
		err = firstError(s.lose(ctx, beat.Node), err)
	}
	if err != nil {
		return driver.BeatAnswer{}, fmt.Errorf("beat: %w", err)
	}
	return answer, nil
}

func (s *Store) beat(ctx context.Context, beat driver.Beat) (answer driver.BeatAnswer, err error) {
	own, err := s.ownNode(ctx, beat.Node)
	if err != nil {
		return answer, err
	}
	result, err := s.execQuickly(ctx, s.sql.Beat, beat.Idle, beat.Queued, beat.Lease.Microseconds(), beat.Lease.Microseconds(), beat.Node, own.token, own.beat)
	if err != nil {
		return answer, err
	}
	alive, err := result.RowsAffected()
	if err != nil {
		return answer, err
	}
	if alive == 0 {
		return answer, driver.NodeLost(beat.Node)
	}
	var last, at, version, number int64
	err = one(ctx, s.lifeline, []any{&last, &at, &version, &answer.Drain, &number}, s.sql.BeatAnswer, beat.Lease.Microseconds(), beat.Node)
	if errors.Is(err, sql.ErrNoRows) {
		return answer, driver.NodeLost(beat.Node)
	}
	if err != nil {
		return answer, err
	}
	s.tokens.Beaten(beat.Node, last)
	if number != s.number.Load() {
		if _, err := s.meetOnce(ctx, noLoss); err != nil {
			return answer, err
		}
	}
	answer.Now = sqlstore.Time(at)
	answer.Cancel, err = s.wishesFor(ctx, beat.Node, version)
	return answer, err
}

// wishCache remembers which wishes were seen, so that a beat searches the running jobs
// only if there is a new one: a beat must stay short, however many jobs run.
type wishCache struct {
	mu    sync.Mutex
	nodes map[fairlead.NodeID]seenWishes
}

type seenWishes struct {
	version int64 // of the counter
	held    []driver.Held
}

func (c *wishCache) get(node fairlead.NodeID) (seenWishes, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	seen, known := c.nodes[node]
	return seen, known
}

func (c *wishCache) set(node fairlead.NodeID, seen seenWishes) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.nodes == nil {
		c.nodes = map[fairlead.NodeID]seenWishes{}
	}
	c.nodes[node] = seen
}

func (c *wishCache) forgetAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.nodes = nil
}

func (c *wishCache) forget(node fairlead.NodeID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.nodes, node)
}

// wishesFor returns the running jobs of a node that were asked to stop.
func (s *Store) wishesFor(ctx context.Context, node fairlead.NodeID, version int64) ([]driver.Held, error) {
	seen, known := s.wishes.get(node)
	if known && seen.version == version && len(seen.held) == 0 {
		return nil, nil
	}
	var held []driver.Held
	var err error
	if known && seen.version == version {
		held, err = s.stillWished(ctx, seen.held)
	} else {
		held, err = s.readHeld(ctx, s.sql.Wishes, node)
	}
	if err != nil {
		return nil, err
	}
	s.wishes.set(node, seenWishes{version: version, held: held})
	return slices.Clone(held), nil
}

// stillWished removes jobs that have moved since.
func (s *Store) stillWished(ctx context.Context, seen []driver.Held) ([]driver.Held, error) {
	ids := make([]int64, len(seen))
	for i, h := range seen {
		ids[i] = h.ID
	}
	var still []driver.Held
	for list := range idChunks(ids) {
		now, err := s.readHeld(ctx, fill(s.sql.WishesOf, "ids", list))
		if err != nil {
			return nil, err
		}
		for _, h := range now {
			if slices.Contains(seen, h) {
				still = append(still, h)
			}
		}
	}
	return still, nil
}

// Held lists the jobs that are leased to a node. The node may have joined through a
// different process.
func (s *Store) Held(ctx context.Context, node fairlead.NodeID) ([]driver.Held, error) {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	statement, args := s.sql.Held, []any{node}
	if own, err := s.ownNode(ctx, node); err == nil {
		statement, args = s.sql.HeldAs, []any{node, node, own.token}
	}
	held, err := s.readHeld(ctx, statement, args...)
	if err != nil {
		return nil, fmt.Errorf("held: %w", err)
	}
	return held, nil
}

func (s *Store) readHeld(ctx context.Context, statement string, args ...any) (held []driver.Held, err error) {
	err = each(ctx, s.lifeline, func(row *sql.Rows) error {
		var h driver.Held
		if err := row.Scan(&h.ID, &h.Fence); err != nil {
			return err
		}
		held = append(held, h)
		return nil
	}, statement, args...)
	return held, err
}

// Drain asks a node to stop starting jobs if drain is true, and to resume starting them if
// drain is false. It wakes the node, which learns of the request with its next beat. Drain
// returns ErrNotFound if the node is dead or unknown.
func (s *Store) Drain(ctx context.Context, node fairlead.NodeID, drain bool) error {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	result, err := s.execQuickly(ctx, s.sql.Drain, drain, node)
	if err != nil {
		return fmt.Errorf("drain: %w", err)
	}
	alive, err := result.RowsAffected()
	if err == nil && alive == 0 {
		err = sqlstore.NoLiveNode(node)
	}
	if err != nil {
		return fmt.Errorf("drain: %w", err)
	}
	s.wake(&wakes{cancel: true})
	return nil
}

// Leave ends a node's lease immediately.
func (s *Store) Leave(ctx context.Context, node fairlead.NodeID) error {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	s.wishes.forget(node)
	own, err := s.ownNode(ctx, node)
	if err != nil {
		return nil // it has left, or never joined here
	}
	held, err := s.heldFences(ctx, node)
	if err != nil {
		return fmt.Errorf("leave: %w", err)
	}
	if _, err = s.execQuickly(ctx, s.sql.Leave, held, node, own.token); err != nil {
		return fmt.Errorf("leave: %w", err)
	}
	s.tokens.Drop(node)
	return nil
}

// Save stores a running job's progress and memo. It returns ErrLeaseLost if the fence in
// save is not the job's current fence.
func (s *Store) Save(ctx context.Context, save fairlead.Save) error {
	return saveBriefly(ctx, func() error { return s.saveOnce(ctx, save) })
}

func (s *Store) saveOnce(ctx context.Context, save fairlead.Save) error {
	return s.inTx(ctx, "save", func(ctx context.Context, t *txn) error {
		locked, err := t.running(ctx, t.sql.FreeRunning, []int64{save.ID})
		if err != nil {
			return err
		}
		p := locked[save.ID]
		if p == nil {
			return t.heldOrLost(ctx, save)
		}
		if p.fence != save.Fence {
			return driver.LeaseLost(save.ID)
		}
		if p.crashes > 0 {
			if _, err := t.exec(ctx, t.sql.ForgetCrashes, p.id); err != nil {
				return err
			}
		}
		var m moves
		m.remember(p.id, save.Memo, save.Progress)
		return t.write(ctx, &m)
	})
}

// heldOrLost returns the error of a save that found no free row of its job: another
// transaction holds it, or the lease is lost.
func (t *txn) heldOrLost(ctx context.Context, save fairlead.Save) error {
	running, err := t.runningUnder(ctx, []int64{save.ID})
	if err != nil {
		return err
	}
	if running[driver.Held{ID: save.ID, Fence: save.Fence}] {
		return fmt.Errorf("%w: %w: job %d", fairlead.ErrUnavailable, errHeld, save.ID)
	}
	return driver.LeaseLost(save.ID)
}
