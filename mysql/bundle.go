package mysql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// A bundle is a whole transaction that is sent at once. On an idle server the
// ways there and back are most of what a short transaction takes. It can be one
// if no statement needs the answer to another.
const (
	// bundleJobs bounds a bundle: what is larger takes its time anyway.
	bundleJobs = 200
	// bundleClock is the clock of a bundle, in the statements after set_clock.
	bundleClock = "@fairlead_now"
	// undoLimit is how long a connection has to undo a bundle that failed.
	undoLimit = time.Second
)

// bundled runs the statements of a transaction, once more whenever the server
// undid it, or was not reached on a connection that it had closed.
func (s *Store) bundled(ctx context.Context, verb string, statements []string) error {
	text := "start transaction; " + strings.Join(statements, "; ") + "; commit"
	again := func(err error) bool { return transient(err) || errors.Is(err, driver.ErrBadConn) }
	err := retry(ctx, again, func() error {
		conn, err := s.db.Conn(ctx)
		if err != nil {
			return err
		}
		defer conn.Close()
		if _, err = conn.ExecContext(ctx, text); err != nil {
			undo(ctx, conn)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("%s: %w", verb, err)
	}
	return nil
}

// undo ends what is left of a bundle that failed. If it cannot, it gives up the
// connection, which makes the server do it.
func undo(ctx context.Context, conn *sql.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoLimit)
	defer cancel()
	if _, err := conn.ExecContext(ctx, "rollback"); err != nil {
		_ = conn.Raw(func(any) error { return driver.ErrBadConn })
	}
}

// canBundle tells whether jobs can be stored without asking the server anything:
// they are due, whatever its clock says, and nobody can be in their way.
func canBundle(jobs []*fairlead.Job) bool {
	if len(jobs) > bundleJobs {
		return false
	}
	size := 0
	for _, job := range jobs {
		if job.Key != "" || !job.NotBefore.IsZero() || sqlstore.GateOf(job) != 0 {
			return false
		}
		size += len(job.Args)
	}
	return size < chunkBytes/4 // half of it after it was written as text
}

// enqueueBundle stores jobs that can be bundled.
func (s *Store) enqueueBundle(ctx context.Context, jobs []*fairlead.Job, ids []int64) error {
	var fresh newJobs
	var news news
	for i, job := range jobs {
		lane, _ := s.lanes.ID(sqlstore.KeyOf(job))
		fresh.add(job, ids[i], lane)
		news.addWork(lane)
	}
	statements := []string{fill(s.sql.SetClock, "clock", bundleClock)}
	for list := range fresh.plain.chunks() {
		statements = append(statements, fill(s.sql.InsertPlainJobs, "rows", list))
	}
	for list := range fresh.special.chunks() {
		statements = append(statements, fill(s.sql.InsertJobs, "rows", list))
	}
	statements = append(statements, naming(s.sql.PlaceDue, ids))
	if err := s.bundled(ctx, "enqueue", statements); err != nil {
		return err
	}
	s.wake(&news)
	return nil
}
