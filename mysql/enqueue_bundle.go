package mysql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// A bundle is a whole transaction that is sent at once. On an idle server the round
// trips are most of the time that a short transaction takes. Statements can be bundled
// if none needs the answer to another.
const (
	// bundleJobs bounds a bundle: a larger call takes its time anyway.
	bundleJobs = 200
	// fewJobs is up to how many jobs are placed by their values: for so few, looking
	// them up costs more than sending them twice.
	fewJobs = 8
	// bundleClock is the clock of a bundle, in the statements after clock_at_lanes.
	bundleClock = "@fairlead_now"
	// undoLimit bounds how long a connection takes to roll back a bundle that failed.
	undoLimit = time.Second
)

// bundled runs the statements of a transaction.
func (s *Store) bundled(ctx context.Context, statements []string) error {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err = conn.ExecContext(ctx, "start transaction; "+strings.Join(statements, "; ")+"; commit"); err != nil {
		undo(ctx, conn)
	}
	return err
}

// undo rolls back what is left of a bundle that failed. If it cannot, it closes the
// connection, which makes the server do it.
func undo(ctx context.Context, conn *sql.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoLimit)
	defer cancel()
	if _, err := conn.ExecContext(ctx, "rollback"); err != nil {
		_ = conn.Raw(func(any) error { return driver.ErrBadConn })
	}
}

// canBundle reports whether jobs can be stored without asking the server anything: they
// are due whatever the server's clock is, and no key or gate can be in their way.
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

// enqueueBundle stores jobs that can be bundled. It repeats this if the server rolled
// the bundle back, if the server had closed the connection, or if this process had
// wrong lanes or ids and has read them again.
func (s *Store) enqueueBundle(ctx context.Context, jobs []*fairlead.Job, reserved *reservation) error {
	var n wakes
	again := func(err error) bool { return transient(err) || isRetry(err) || errors.Is(err, driver.ErrBadConn) }
	err := retry(ctx, again, func() error {
		n = wakes{}
		err := s.storeBundle(ctx, jobs, reserved, &n)
		if err != nil {
			err = s.relearn(ctx, err)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("enqueue: %w", err)
	}
	s.wake(&n)
	return nil
}

// storeBundle sends a bundle. Its clock is null unless the lanes are as this process
// knows them. The first insert then fails, because every job has a creation time.
func (s *Store) storeBundle(ctx context.Context, jobs []*fairlead.Job, reserved *reservation, n *wakes) error {
	if err := reserved.renew(ctx); err != nil {
		return err
	}
	lanes, err := s.guardLanes(jobs)
	if err != nil {
		return err
	}
	var fresh newJobs
	for i, job := range jobs {
		lane := lanes.of(job)
		fresh.add(job, reserved.ids[i], lane)
		n.addWork(lane)
	}
	statements := []string{s.clockAtLanes(lanes.number, lanes.lanes, "into "+bundleClock)}
	for list := range fresh.plain.chunks() {
		statements = append(statements, fill(s.sql.InsertPlainJobs, "rows", list))
	}
	for list := range fresh.special.chunks() {
		statements = append(statements, fill(s.sql.InsertJobs, "rows", list))
	}
	err = s.bundled(ctx, append(statements, s.placeBundle(jobs, reserved.ids, lanes)))
	var answer *mysql.MySQLError
	if errors.As(err, &answer) && answer.Number == errNull {
		return lanes.changed()
	}
	return s.idsTaken(err)
}

// placeBundle returns the statement that makes the jobs of a bundle ready.
func (s *Store) placeBundle(jobs []*fairlead.Job, ids []int64, lanes *laneGuard) string {
	if len(jobs) > fewJobs {
		return naming(s.sql.PlaceDue, ids)
	}
	var ready tuples
	for i, job := range jobs {
		ready.add().ints(int64(lanes.of(job)), 0, int64(-job.Priority)).instant(startBy(job, 0)).ints(ids[i], 0, 0, 0).end()
	}
	return fill(s.sql.ToReady, "rows", string(ready.text))
}

// errNull is the server's answer to a column that must not be null.
const errNull = 1048
