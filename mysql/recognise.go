package mysql

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// The number of a server counts how many servers there were, and ends with random bits,
// so that a number lost with the last commits does not appear again.
const (
	numberBits = 20
	oneServer  = 1 << numberBits
)

func serversOf(number int64) int64 { return number >> numberBits }

func nextNumber(number int64) int64 { return (serversOf(number)+1)*oneServer + rand.Int64N(oneServer) }

// The server number under which commits are known to be lost.
const (
	noLoss  int64 = -1            // no commits are known to be lost
	anyLoss int64 = math.MaxInt64 // an operator reports a restore
)

const (
	// jobLeap is by how much job ids jump if some may have been given out that the
	// database does not know of.
	jobLeap = 100_000_000
	// nodeLeap is the same for nodes.
	nodeLeap = 1000
)

// agreement is what all processes agree on about a server.
type agreement struct {
	number int64
	fence  int64 // all fences given out from now on are larger; zero: not read
	job    int64 // the same for job ids
	node   int64 // the same for node ids; zero: not read
}

// beginner begins transactions: a database handle or one connection.
type beginner interface {
	BeginTx(ctx context.Context, options *sql.TxOptions) (*sql.Tx, error)
}

// recognise agrees with the other processes on the server that a connection leads to.
// The first process that finds another server, or that commits are lost which it saw
// under a number, changes the number and raises fences and ids above all that were ever
// given out. Every process that finds the number changed drops what it has cached.
func (s *Store) recognise(ctx context.Context, db beginner, found knownServer, lostUnder int64) (agreement, error) {
	if err := s.meeting.Acquire(ctx); err != nil {
		return agreement{}, err
	}
	defer s.meeting.Release()
	var agreed agreement
	err := retry(ctx, transient, func() error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		if agreed, err = s.agree(ctx, &txn{Store: s, tx: tx}, found, lostUnder); err != nil {
			_ = tx.Rollback() // it failed already
			return err
		}
		return tx.Commit()
	})
	if err != nil {
		return agreement{}, fmt.Errorf("recognise the server: %w", err)
	}
	s.known.Store(&found)
	if s.number.Swap(agreed.number) != agreed.number {
		s.forgetAll()
	}
	return agreed, nil
}

// agree updates the row about the server, if it no longer holds.
func (s *Store) agree(ctx context.Context, t *txn, found knownServer, lostUnder int64) (agreed agreement, err error) {
	var text string
	exists, err := t.one(ctx, []any{&agreed.number, &text}, s.sql.LockServer)
	if err == nil && !exists {
		err = fmt.Errorf("table server has no rows: the schema is corrupt")
	}
	if err != nil {
		return agreed, err
	}
	before := parseServer(text)
	lost := serversOf(agreed.number) <= serversOf(lostUnder)
	another := text != "" && before.name != found.name
	if lost || !before.same(found) {
		agreed.number = nextNumber(max(agreed.number, s.number.Load()))
		if err := t.must(ctx, 1, s.sql.SetServer, agreed.number, found.String()); err != nil {
			return agreed, err
		}
	}
	if lost || !before.same(found) || lostUnder != noLoss { // another process that counted the server may know only smaller fences
		if agreed.fence, err = t.anchorFences(ctx); err != nil {
			return agreed, err
		}
	}
	if err := t.jumpIDs(ctx, &agreed, lost || another); err != nil || agreed.node == 0 {
		return agreed, err
	}
	return agreed, t.recordLoss(ctx, &agreed)
}

// recordLoss notes that commits may be lost: ids have jumped.
func (t *txn) recordLoss(ctx context.Context, agreed *agreement) (err error) {
	if agreed.fence == 0 {
		if agreed.fence, err = t.anchorFences(ctx); err != nil {
			return err
		}
	}
	var losses []byte
	if _, err := t.one(ctx, []any{&losses}, t.sql.Losses); err != nil {
		return err
	}
	if losses, err = sqlstore.AddLoss(losses, batch.Loss{Fence: agreed.fence, Job: agreed.job}); err != nil {
		return err
	}
	return t.must(ctx, 1, t.sql.AddLoss, losses)
}

// anchorFences raises the counter of fences to the clock, and above all that this
// process has received.
func (t *txn) anchorFences(ctx context.Context) (fence int64, err error) {
	if _, err := t.exec(ctx, t.sql.AnchorFences, t.lastFence.Load()+1); err != nil {
		return 0, err
	}
	_, err = t.one(ctx, []any{&fence}, t.sql.LastFence)
	return fence, err
}

// jumpIDs makes ids jump if some may have been given out that the database does not
// know of: because its last commits are lost, or may be, or because this process has
// such ids.
func (t *txn) jumpIDs(ctx context.Context, agreed *agreement, lost bool) error {
	if _, err := t.one(ctx, []any{&agreed.job}, t.sql.LockLastJob); err != nil {
		return err
	}
	highest := t.ids.Highest()
	if !lost && highest <= agreed.job {
		return nil
	}
	agreed.job = max(agreed.job, highest) + jobLeap
	if err := t.must(ctx, 1, t.sql.SetLastJob, agreed.job); err != nil {
		return err
	}
	result, err := t.tx.ExecContext(ctx, t.sql.AddDeadNode, nil)
	if err != nil {
		return err
	}
	next, err := result.LastInsertId()
	if err != nil {
		return err
	}
	agreed.node = max(next, t.highestNode.Load()) + nodeLeap
	if _, err := t.exec(ctx, t.sql.AddDeadNode, agreed.node); err != nil {
		return err
	}
	for _, id := range []int64{next, agreed.node} {
		if err := t.must(ctx, 1, t.sql.DropDeadNode, id); err != nil {
			return err
		}
	}
	return nil
}

var _ driver.Restorer = (*Store)(nil)

// Restored records that the database was restored from a backup, and raises the counters for
// fences and IDs above all earlier values. Call it after a restore into a server that was
// not restarted. The store cannot detect this case itself.
func (s *Store) Restored(ctx context.Context) (driver.Restored, error) {
	agreed, err := s.meetOnce(ctx, anyLoss)
	if err != nil {
		return driver.Restored{}, fmt.Errorf("restored: %w", err)
	}
	return driver.Restored{
		Server: serversOf(agreed.number), Fence: agreed.fence, Job: agreed.job, Node: fairlead.NodeID(agreed.node),
	}, nil
}
