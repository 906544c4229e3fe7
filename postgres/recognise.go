package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// serverRow is the row of server, with what the server reports about itself.
type serverRow struct {
	number   int64
	name     string
	started  time.Time // or when it crashed, whichever is later
	careless bool      // it may lose commits when it crashes
	history  string    // empty: not readable
	fence    int64     // the last one given out
}

// sinceWord separates the parts of a server's name.
const sinceWord = " since "

// ownName returns what the row should contain.
func (r *serverRow) ownName() string {
	return r.history + sinceWord + r.started.UTC().Format(time.RFC3339Nano)
}

// isOwn reports whether the row names this server. Servers differ by their start.
// Histories are compared only if both are known: users of one database may have
// different rights, and only some may read the history.
func (r *serverRow) isOwn() bool {
	before, since, _ := strings.Cut(r.name, sinceWord)
	_, own, _ := strings.Cut(r.ownName(), sinceWord)
	return since == own && (before == r.history || before == "" || r.history == "")
}

// mayHaveLost reports whether commits that processes have seen may be gone: a standby
// was promoted, the database was restored, or a server crashed that may lose commits.
// After an ordinary restart all commits are there.
func (r *serverRow) mayHaveLost() bool {
	before, _, named := strings.Cut(r.name, sinceWord)
	return named && (r.careless || r.history == "" || before != r.history)
}

// recognise finds out which server this is, unless another goroutine has done so since
// known was read, and drops what is cached of a former server. The first process that
// finds a server other than the one in the row counts it.
func (s *Store) recognise(ctx context.Context, known *knownServer) error {
	if err := s.recognising.Acquire(ctx); err != nil {
		return err
	}
	defer s.recognising.Release()
	ctx = beside(ctx)
	if s.server.Load() != known {
		return nil
	}
	row, lost, err := s.readServer(ctx)
	if err != nil {
		return fmt.Errorf("recognise the database: %w", err)
	}
	var refused error
	switch {
	case lost || !row.isOwn():
		_, refused = s.countServer(ctx, &row, lost)
	case s.lastFence.Load() > row.fence:
		refused = s.anchorFences(ctx)
	}
	if refused != nil && !readOnly(refused) { // a process that only reads need not agree on the server
		return fmt.Errorf("recognise the database: %w", refused)
	}
	s.adopt(&row, refused)
	return nil
}

// agree counts the server before this process takes ids or lets a node join, if the
// process could only read when it found the server: a standby may have been promoted
// since.
func (s *Store) agree(ctx context.Context) error {
	known := s.server.Load()
	if known.refused == nil {
		return nil
	}
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	if err := s.recognise(ctx, known); err != nil {
		return unavailable(ctx, err)
	}
	if refused := s.server.Load().refused; refused != nil {
		return fmt.Errorf("recognise the database: %w", unavailable(ctx, refused))
	}
	return nil
}

// anchorFences raises fences above those that this process has received. Another
// process has counted the server, and may know only smaller ones.
func (s *Store) anchorFences(ctx context.Context) error {
	return s.sendPlain(ctx,
		call{sql: s.sql.ExcludeClaims, args: []any{s.limitsLock}},
		call{sql: s.sql.AnchorFences, args: []any{s.lastFence.Load()}})
}

// raise records the largest number so far.
func raise(largest *atomic.Int64, number int64) {
	for before := largest.Load(); number > before; before = largest.Load() {
		if largest.CompareAndSwap(before, number) {
			return
		}
	}
}

// readServer reads the row of server and what the server reports about itself. It
// returns lost if the server has forgotten ids that this process received.
func (s *Store) readServer(ctx context.Context) (row serverRow, lost bool, err error) {
	lastBlock, highest := int64(0), s.ids.Highest() // before the sequence: other goroutines take ids meanwhile
	err = s.sendPlain(ctx,
		call{sql: s.sql.KnownServer, each: func(r sqlstore.Scanner) error {
			return r.Scan(&row.number, &row.name, &row.started, &row.careless)
		}},
		call{sql: s.sql.LastIDs, each: func(r sqlstore.Scanner) error { return r.Scan(&lastBlock, &row.fence) }})
	if err == nil && row.started.IsZero() {
		err = errors.New("the table server is empty: restore its row (1, 0, '')")
	}
	if err == nil {
		err = s.sendPlain(ctx, call{sql: s.sql.History, each: func(r sqlstore.Scanner) error { return r.Scan(&row.history) }})
		if refusal := (*pgconn.PgError)(nil); errors.As(err, &refusal) && !passes(err) {
			err = nil // this user may not read it
		}
	}
	return row, highest >= lastBlock+idBlock, err
}

// sendPlain runs calls as one transaction, without comparing the server.
func (s *Store) sendPlain(ctx context.Context, calls ...call) error {
	return send(ctx, s.conns(ctx), &pgx.Batch{}, calls)
}

// countServer records that this is another server than before, unless another process
// was faster. It raises fences above all that were ever given out. If commits may be
// lost it raises ids too, and records the loss.
func (s *Store) countServer(ctx context.Context, row *serverRow, lost bool) (done driver.Restored, err error) {
	err = pgx.BeginTxFunc(ctx, s.conns(ctx), pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		r, seen := pgxRunner{tx}, *row
		var losses []byte
		err := r.run(ctx, call{sql: s.sql.LockServer, each: func(r sqlstore.Scanner) error { return r.Scan(&row.number, &row.name, &losses) }})
		if err != nil || seen.number != row.number { // then row holds what another process has found
			return err
		}
		lost = lost || row.mayHaveLost()
		calls := []call{
			{sql: s.sql.ExcludeClaims, args: []any{s.limitsLock}},
			{sql: s.sql.ChangeLimits, args: []any{sqlstore.VersionStep()}}, // so claims look at the server again
			{sql: s.sql.AnchorFences, args: []any{s.lastFence.Load()}, each: func(r sqlstore.Scanner) error { return r.Scan(&done.Fence) }},
		}
		if lost {
			calls = append(calls, call{sql: s.sql.JumpIDs, args: []any{s.ids.Highest()}, each: func(r sqlstore.Scanner) error { return r.Scan(&done.Job, &done.Node) }})
		}
		if err := r.run(ctx, calls...); err != nil {
			return err
		}
		if lost {
			if losses, err = sqlstore.AddLoss(losses, batch.Loss{Fence: done.Fence, Job: done.Job}); err != nil {
				return err
			}
		}
		row.number, row.name = row.number+sqlstore.VersionStep(), row.ownName()
		done.Server = row.number
		return r.run(ctx, call{sql: s.sql.CountServer, args: []any{row.number, row.name, string(losses)}})
	})
	return done, err
}

// adopt makes a server the known one. It drops the caches first, so that nothing begun
// at the new server finds them. refused is why this process could not count the server,
// or nil.
func (s *Store) adopt(row *serverRow, refused error) {
	if known := s.server.Load(); !known.started.IsZero() {
		s.forgetAll()
	}
	known := s.newServer(row.number, row.started)
	known.refused = refused
	s.server.Store(known)
}

// forgetAll drops everything that was read from, or set aside by, a server that is
// gone.
func (s *Store) forgetAll() {
	s.lanes.Reset()
	s.lanes.anew.Store(true)
	s.ids.Drop()
	s.limitCache.current.Store(nil)
	s.pending.Forget()
	s.tasks.Forget()
	s.laneCursors.reset()
	s.laneHeads.forget()
	s.rounds.reset()
	s.notifier.hub.Work(nil)
}

// Restored records that the database was restored from a backup, and raises the counters for
// fences and IDs above all earlier values. Call it after a restore into a server that was
// not restarted, because the store cannot detect such a restore itself.
func (s *Store) Restored(ctx context.Context) (driver.Restored, error) {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	var done driver.Restored
	var err error
	for err == nil && done.Server == 0 { // unless another process counted one at the same moment
		done, err = s.succeedServer(ctx, s.server.Load())
	}
	if err != nil {
		return driver.Restored{}, fmt.Errorf("restored: %w", unavailable(ctx, err))
	}
	return done, nil
}

// succeedServer counts another server because the known one has lost commits, unless
// another process has done so.
func (s *Store) succeedServer(ctx context.Context, known *knownServer) (done driver.Restored, err error) {
	if err := s.recognising.Acquire(ctx); err != nil {
		return done, err
	}
	defer s.recognising.Release()
	row, _, err := s.readServer(ctx)
	if err == nil && row.number == known.number {
		done, err = s.countServer(ctx, &row, true)
	}
	if err == nil {
		s.adopt(&row, nil)
	}
	return done, err
}
